"""What should become of one resource: a pure comparison of what is wanted with what is recorded.

The order of the rules is that of facts: engine.yaml, update.decision_order. The same function serves the plan
(some values unknown) and the step right before it acts (all known).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Decision
from stoker.engine.planning.reasons import Awaited, Reason, ReasonCode
from stoker.engine.records.differences import PropertyChange
from stoker.engine.records.state import ResourceState
from stoker.engine.records.values import finalized
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Change, Property
from stoker.schema.unknown import find_unknowns, has_unknown
from stoker.store.records import COMPLETE, FAILED, Resource
from stoker.template.registry import is_template_name

BEGINNING = ("CREATE", "ADOPT", "UPDATE")
"""Actions of a resource that are gone on with where they were interrupted, before anything else is decided."""
UNMADE = "INIT"
"""What stands for an action as long as a resource is held before its creation."""
_PARTS = ("metadata", "deletion_policy", "update_policy", "update_replace_policy")

Fate = Callable[[str], Awaited]
"""From the name of a resource that a value waits for to what the plan does with it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A desired resource with its values as far as they are known.

    `given` are resolved property values without the absent ones; `fingerprint` is None while something in it is
    unknown. `implementation` is the resolved type name; `since` when the operation began (seconds since the epoch).
    For `restored` and `renewed` see `restoring.Restored`.
    """

    name: str
    type_name: str
    implementation: str
    type: ResourceType
    given: Mapping[str, Any]
    metadata: Mapping[str, Any]
    update_policy: Mapping[str, Any]
    deletion_policy: str
    external_id: str | None
    requires: frozenset[str]
    fingerprint: str | None
    restricted: frozenset[str] = frozenset()
    creation_policy: Mapping[str, Any] = field(default_factory=dict)
    update_replace_policy: str | None = None
    restored: Mapping[str, Any] = field(default_factory=dict)
    renewed: frozenset[str] | None = None
    since: float = inf

    def definition(self) -> dict[str, Any]:
        """What is recorded of the definition besides the properties.

        What only some templates can say is left out where it is not said, so that definitions which are recorded
        already keep their fingerprints.
        """
        said = {
            "creation_policy": dict(self.creation_policy) or None,
            "update_replace_policy": self.update_replace_policy,
        }
        return {
            "implementation": self.implementation,
            "deletion_policy": self.deletion_policy,
            "update_policy": dict(self.update_policy),
            "external_id": self.external_id,
            "metadata": dict(self.metadata),
            **{name: value for name, value in said.items() if value is not None},
        }


def property_changes(type_: ResourceType, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[PropertyChange]:
    """Top-level properties whose finalized values differ, in the type's order."""
    if type_.any_properties:
        return []
    old, new = finalized(type_, before), finalized(type_, after)
    return [
        PropertyChange(name, old.get(name), new.get(name), _effect(prop))
        for name, prop in type_.properties.items()
        if old.get(name) != new.get(name) or has_unknown(new.get(name))
    ]


def definition_changes(target: Target, state: ResourceState) -> tuple[PropertyChange, ...]:
    """What differs of a resource's definition besides its properties."""
    recorded, wanted = state.stored.definition, target.definition()
    return tuple(
        PropertyChange(name, recorded.get(name) or None, wanted.get(name) or None, "update")
        for name in _PARTS
        if recorded.get(name) != wanted.get(name)
    )


def _effect(prop: Property) -> str:
    return {Change.UPDATE: "update", Change.REPLACE: "replace", Change.REFUSE: "refuse"}[prop.change]


def decide(target: Target, state: ResourceState | None, *, repairable: bool = False, fate: Fate = Awaited) -> Decision:
    """Create, update, replace or keep, with the reasons.

    `repairable` says that the object of a failed resource has been looked at and can go on being used. `fate` says
    what the plan does with the resources that unknown values wait for.
    """
    if state is None:
        return Decision(Kind.CREATE, (Reason(ReasonCode.NEW),), _all_new(target))
    row = state.row
    if row.action == UNMADE:
        return Decision(Kind.CREATE, (Reason(ReasonCode.NEVER_CREATED),), _all_new(target))
    if not _same_kind(state.implementation, target.implementation, state.type.support.substitutes):
        return Decision(Kind.REPLACE, (Reason(ReasonCode.TYPE_CHANGES, state.implementation, target.implementation),))
    recorded = state.stored.definition
    if (recorded.get("external_id") or target.external_id) and recorded.get("external_id") != target.external_id:
        return Decision(Kind.REFUSE, (Reason(ReasonCode.IMMUTABLE, "external_id"),))
    if row.status == FAILED and row.action == "CHECK" and _replaced_when_ill(target, state):
        return Decision(Kind.REPLACE, (Reason(ReasonCode.CHECK_FAILED, detail=row.reason),))
    if is_broken(row) and not (target.type.nested or repairable):
        return Decision(Kind.REPLACE, (Reason(ReasonCode.ACTION_FAILED, row.action.lower(), row.reason),))
    if target.external_id:
        return Decision(Kind.KEEP)
    if target.type.replaced_with_parent and row.created_at < target.since:
        return Decision(Kind.REPLACE, (Reason(ReasonCode.REPLACED_WITH_STACK),))
    unbroken = not (is_broken(row) or state.in_change)
    same = target.fingerprint is not None and target.fingerprint == row.fingerprint and unbroken
    if same and target.renewed is None:
        if target.type.updates_with_parent:
            return Decision(Kind.UPDATE, (Reason(ReasonCode.UPDATED_WITH_STACK),))
        return Decision(Kind.KEEP)
    return _compare(target, state, fate)


def is_broken(row: Resource) -> bool:
    """Whether the last action says that something is wrong with the object; that no copy could be made does not."""
    return row.status == FAILED and row.action != "SNAPSHOT"


def is_asleep(row: Resource) -> bool:
    """Whether the object may be suspended: what brings a definition about resumes it first."""
    return row.action == "SUSPEND" or (row.action == "RESUME" and row.status != COMPLETE)


def is_stillborn(state: ResourceState) -> bool:
    """Whether the object was never of use to anybody. It goes before another one is made: what it left may have a name
    or a place of which there is only one. It stays so when its removal has begun and not ended, and when somebody
    marks it as unhealthy.
    """
    return state.stored.stillborn or (state.row.action == "CREATE" and state.row.status == FAILED)


def came_to_nothing(state: ResourceState) -> bool:
    """Whether a check would make a resource look well that its creation has not brought about, or that may be
    gone.
    """
    row = state.row
    unknown = row.physical_id is None or not state.type.checkable
    begun = row.action in ("CREATE", "ADOPT", "DELETE") or state.stored.stillborn
    return unknown and begun and row.status != COMPLETE


def _replaced_when_ill(target: Target, state: ResourceState) -> bool:
    """A nested stack whose inside is ill is updated, and what is ill there is replaced. One that somebody has marked
    as ill himself is replaced whole (facts: engine.yaml, nested_stacks.check_failed).
    """
    return target.type.always_replace_on_check_failed or (target.type.nested and state.stored.marked)


def _same_kind(recorded: str, wanted: str, substitutes: tuple[str, ...]) -> bool:
    """Whether an object made as `recorded` can become `wanted`: templates may move or give way to one another."""
    return recorded == wanted or wanted in substitutes or (is_template_name(recorded) and is_template_name(wanted))


def _all_new(target: Target) -> tuple[PropertyChange, ...]:
    return tuple(PropertyChange(name, None, value, "create") for name, value in sorted(target.given.items()))


def _compare(target: Target, state: ResourceState, fate: Fate) -> Decision:
    before = {name: value for name, value in state.given.items() if name not in (target.renewed or ())}
    changes = tuple(property_changes(target.type, before, target.given))
    refused = [change.name for change in changes if change.effect == "refuse" and change.known]
    if refused:
        return Decision(Kind.REFUSE, tuple(Reason(ReasonCode.IMMUTABLE, name) for name in refused), changes)
    reasons = [_why_replaced(change, fate) for change in changes if change.effect == "replace"]
    if not reasons and changes and all(change.known for change in changes):
        demand = target.type.replacement_reason(
            finalized(target.type, before),
            finalized(target.type, target.given),
            {change.name: change.after for change in changes},
        )
        reasons = [Reason(ReasonCode.TYPE_REQUIRES_REPLACEMENT, detail=demand)] if demand else []
    if reasons:
        return Decision(Kind.REPLACE, tuple(reasons), changes)
    reasons = [_why_changed(change, fate) for change in changes] or _other_differences(target, state)
    if not reasons:
        return Decision(Kind.KEEP)
    return Decision(Kind.UPDATE, tuple(reasons), changes)


def _why_replaced(change: PropertyChange, fate: Fate) -> Reason:
    if change.known:
        return Reason(ReasonCode.CHANGES_REQUIRE_REPLACEMENT, change.name)
    return _why_changed(change, fate)


def _why_changed(change: PropertyChange, fate: Fate) -> Reason:
    if change.known:
        return Reason(ReasonCode.CHANGES, change.name)
    origins = sorted({name for found in find_unknowns(change.after) for name in found.resources()})
    return Reason(ReasonCode.MAY_CHANGE, change.name, awaited=tuple(map(fate, origins)))


def _other_differences(target: Target, state: ResourceState) -> list[Reason]:
    reasons = [Reason(ReasonCode.CHANGES, change.name) for change in definition_changes(target, state)]
    if target.type.any_properties:
        return []
    if not reasons and state.row.status == FAILED:
        return [Reason(ReasonCode.ACTION_FAILED, state.row.action.lower())]
    if not reasons and state.in_change:
        return [Reason(ReasonCode.UPDATE_UNFINISHED)]
    if not reasons and target.type.nested:
        return [Reason(ReasonCode.NESTED_MAY_CHANGE)]
    return reasons
