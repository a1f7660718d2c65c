"""The policies for the object of a resource that is removed."""

from __future__ import annotations

from typing import NamedTuple

from stoker.engine.records.state import ResourceState

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
