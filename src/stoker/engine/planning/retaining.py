"""Which policy of a resource says what becomes of its object when the resource is removed."""

from __future__ import annotations

from typing import NamedTuple

from stoker.engine.records.state import ResourceState

ON_REPLACEMENT = "on_replacement"
"""The key of the recorded definition for the update replace policy under which the resource is replaced.

It is that of the template that replaces the resource, which need not be the one that the resource was made by. It is
recorded together with the replacement, and goes when the resource serves again and its definition is recorded again.
"""


class RemovalPolicy(NamedTuple):
    """Delete, Retain or Snapshot, and the name of the policy that says it, for people."""

    policy: str
    name: str


def removal_policy(state: ResourceState, on_replacement: str | None = None) -> RemovalPolicy:
    """The policy that rules the removal of a recorded resource. `on_replacement` is the update replace policy of the
    template that is about to replace it.

    An update replace policy rules the object that another one has replaced, and that one only: a replacement which is
    itself removed, as when the update is rolled back, and every other removal follow the deletion policy. So does a
    replacement where the template gives no update replace policy, in both dialects, as in Heat.

    A former resource of another type, of which no snapshot can be made, is retained rather than deleted.
    """
    definition = state.stored.definition
    policy = on_replacement or definition.get(ON_REPLACEMENT)
    if policy is None:
        return RemovalPolicy(str(definition.get("deletion_policy", "Delete")), "deletion policy")
    if policy == "Snapshot" and not state.type.snapshot_on_delete:
        policy = "Retain"
    return RemovalPolicy(str(policy), "update replace policy")
