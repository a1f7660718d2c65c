"""The rules of rehearsals: what they find in templates. The manual has a section for each."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.template.rules import Rule

CREATION_FAILS = "creation-fails"
UPDATE_FAILS = "update-fails"
SCALING_FAILS = "scaling-fails"
DELETION_REFUSED = "deletion-refused"
ROLLBACK_FAILS = "rollback-fails"
MISSING_DEPENDENCY = "missing-dependency"
UNREACHABLE_WAIT = "unreachable-wait-condition"
BATCHES_OUTLAST = "batches-outlast-timeout"
DATA_REPLACED = "data-replaced"
LEFT_BEHIND = "left-behind"
REMOVED_TOO_LATE = "removed-too-late"
QUOTA_EXCEEDED = "quota-exceeded"
SINGLE_HOST = "single-host"

_RULES = (
    Rule(CREATION_FAILS, "A resource cannot be created, although nothing goes wrong.", "a fixed IP outside the subnet"),
    Rule(UPDATE_FAILS, "The update to the new template fails, although nothing goes wrong.", "a name that is taken"),
    Rule(
        SCALING_FAILS,
        "A scaling policy is signalled, and its group cannot change its size, although nothing goes wrong.",
        "members with a fixed IP",
    ),
    Rule(
        DELETION_REFUSED,
        "The stack cannot be deleted: a service refuses the deletion of an object, although nothing goes wrong.",
        "a network whose port has deletion_policy: Retain",
    ),
    Rule(
        ROLLBACK_FAILS,
        "A single disruption that passes makes an operation fail, and the rollback after it fails, too.",
        "an update that undoes what the former definition needs",
    ),
    Rule(
        MISSING_DEPENDENCY,
        "A resource needs another one, and does not depend on it: it depends on the order by chance.",
        "a port of a network whose subnet is created at the same time",
    ),
    Rule(
        UNREACHABLE_WAIT,
        "A wait condition cannot get its signals: nothing that exists by then knows its handle.",
        "the server that signals depends on the wait condition",
    ),
    Rule(
        BATCHES_OUTLAST,
        "The pauses between the batches of a group take longer than the time limit of the stack.",
        "rolling_update: {max_batch_size: 1, pause_time: 1200} for five members",
    ),
    Rule(
        DATA_REPLACED,
        "The update to the new template replaces or removes an object with data of users, which are lost.",
        "another availability zone of a volume",
    ),
    Rule(
        LEFT_BEHIND,
        "Objects stay in the cloud after the deletion of the stack, and belong to no stack.",
        "delete_on_termination: false",
    ),
    Rule(
        REMOVED_TOO_LATE,
        "A new resource needs a name, an address or an object that is free only when the update has removed another "
        "one: updates create before they remove.",
        "a key pair with a fixed name whose resource has been renamed",
    ),
    Rule(
        QUOTA_EXCEEDED,
        "The stack, or its former and new objects side by side during an update, exceed a quota.",
        "three servers that are replaced at once, and a quota of four",
    ),
    Rule(
        SINGLE_HOST,
        "All servers behind a load balancer are on one host, whose failure stops all of them.",
        "a server group with the policy affinity",
    ),
)

RULES: Mapping[str, Rule] = {rule.name: rule for rule in _RULES}
"""All rules by name."""
