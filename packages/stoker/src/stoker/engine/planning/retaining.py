"""The policies for the object of a resource that is removed."""

from __future__ import annotations

from typing import NamedTuple

from stoker.engine.planning.reasons import RETENTION, Reason, ReasonCode
from stoker.engine.records.state import ResourceState
from stoker.store.ownership import is_double

ON_REPLACEMENT = "on_replacement"
"""The key of the recorded definition for the update replace policy under which the resource is replaced.

The policy is that of the template that replaces the resource, which can differ from the one that created it. It is
recorded together with the replacement, and removed when the resource is used again and its definition is recorded
again.
"""


class RemovalPolicy(NamedTuple):
    """Delete, Retain or Snapshot, and the name of the policy for messages."""

    policy: str
    name: str


def removal_policy(state: ResourceState, on_replacement: str | None = None) -> RemovalPolicy:
    """Return the policy for the removal of a recorded resource. `on_replacement` is the update replace policy of the
    template that is about to replace it.

    An update replace policy applies only to the object that was replaced: the deletion policy applies to a replacement
    that is itself removed, for example by a rollback, and to all other removals. It also applies to replacements if the
    template has no update replace policy, for HOT and CloudFormation templates, as in Heat.

    A replaced resource of another type that does not support snapshots is retained instead of deleted.
    """
    definition = state.stored.definition
    policy = on_replacement or definition.get(ON_REPLACEMENT)
    if policy is None:
        return RemovalPolicy(str(definition.get("deletion_policy", "Delete")), "deletion policy")
    if policy == "Snapshot" and not state.type.snapshot_on_delete:
        policy = "Retain"
    return RemovalPolicy(str(policy), "update replace policy")


_RETAINED = {"Retain": ReasonCode.OBJECT_RETAINED, "Snapshot": ReasonCode.SNAPSHOT_RETAINED}


def removal_reasons(state: ResourceState, on_replacement: str | None = None) -> tuple[Reason, ...]:
    """Return the reasons about the object of a removed resource: that it is retained, or what is lost.

    `on_replacement` is that of `removal_policy`.
    """
    if state.stored.definition.get("external_id"):
        return (Reason(ReasonCode.OBJECT_EXTERNAL),)
    if is_double(state.row.ownership):
        return (Reason(ReasonCode.OBJECT_OF_ANOTHER),)
    rule = removal_policy(state, on_replacement)
    if rule.policy in _RETAINED:
        return (Reason(_RETAINED[rule.policy], rule.policy, rule.name),)
    if state.row.physical_id is None or not state.type.content:
        return ()
    return losses(state.type.loses(state.given))


def losses(content: str) -> tuple[Reason, ...]:
    """Return the reason that marks a step which loses this content; none for no content."""
    return (Reason(ReasonCode.DATA_LOST, content),) if content else ()


def replacement_losses(state: ResourceState, on_replacement: str | None) -> tuple[Reason, ...]:
    """Return the reason that marks a replacement which loses the content of the former object."""
    return tuple(reason for reason in removal_reasons(state, on_replacement) if reason.code not in RETENTION)
