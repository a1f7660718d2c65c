"""Decide what happens to each resource: pure functions over plain data; and ask the update policies about it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import orjson

from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Decision
from stoker.engine.planning.reasons import Reason, ReasonCode, Requirement
from stoker.engine.planning.retention import removal_policy
from stoker.engine.records.actions import NOT_CREATED
from stoker.engine.records.differences import PropertyChange
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.plugins.resource import ResourceType, finalized
from stoker.plugins.update_policy import ResourceChange, UpdatePolicy
from stoker.schema.property import Change, Property
from stoker.schema.unknown import find_unknowns, has_unknown
from stoker.store.records import COMPLETE, FAILED, Resource, Stack
from stoker.template.registry import is_template_name

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies, in the order in which they are asked, and the operation that they are asked about."""

    named: Sequence[tuple[str, UpdatePolicy]]
    operation: str
    stack: Stack

    @classmethod
    def of(cls, services: EngineServices, stack: Stack, operation: str) -> Policies:
        """The policies for an operation on a stack; `operation` is its action."""
        return cls(services.types.registry.update_policies, operation, stack)

    def checked(self, decision: Decision, target: Target, state: ResourceState | None) -> Decision:
        """The decision, or the refusal to carry it out, with the violations of policies as reasons."""
        if state is None or decision.kind not in (StepKind.UPDATE, StepKind.REPLACE):
            return decision
        reasons = self._violations(decision.kind, state, target.type_name, decision.changes)
        return replace(decision, kind=StepKind.REFUSE, reasons=reasons) if reasons else decision

    def removal_violations(self, state: ResourceState) -> tuple[Reason, ...]:
        """The policies that the deletion of a resource violates which is no longer in the template."""
        return self._violations(StepKind.DELETE, state, state.row.type, ())

    def _violations(
        self, kind: StepKind, state: ResourceState, type_name: str, changes: Iterable[PropertyChange]
    ) -> tuple[Reason, ...]:
        if not self.named:
            return ()
        change = ResourceChange(
            operation=self.operation,
            stack_id=self.stack.id,
            stack_name=self.stack.name,
            project_id=self.stack.project_id,
            name=state.row.name,
            type=type_name,
            physical_id=state.row.physical_id,
            kind=kind.value,  # type: ignore[arg-type]  # one of the three
            before={change.name: change.before for change in changes},
            after={change.name: change.after for change in changes},
        )
        return tuple(
            Reason(ReasonCode.POLICY, name, violation)
            for name, policy in self.named
            if (violation := _policy_violation(name, policy.violation, change)) is not None
        )


def _policy_violation(
    name: str, violation: Callable[[ResourceChange], str | None], change: ResourceChange
) -> str | None:
    """How a change violates a policy; one that fails is violated, since it has not agreed."""
    try:
        return violation(change)
    except Exception as error:
        LOG.exception("update policy %s failed on resource %s of stack %s", name, change.name, change.stack_name)
        return f"the policy failed with {type(error).__name__}; ask the operator of the service"


def forbidden(decision: Decision) -> bool:
    """Whether a policy is why a change is refused."""
    return decision.kind is StepKind.REFUSE and any(reason.code is ReasonCode.POLICY for reason in decision.reasons)


BEGINNING = ("CREATE", "ADOPT", "UPDATE")
"""Actions of a resource that are resumed after an interruption, before anything else is decided."""
_PARTS = ("metadata", "deletion_policy", "update_policy", "update_replace_policy", "ignore_drift")

Fate = Callable[[str], Requirement]
"""Maps the name of a resource that a value depends on to the plan's decision about it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A desired resource with its known values.

    `properties` are resolved property values without the absent ones. `fingerprint` is None if some values are unknown,
    and `size` is about how many bytes they take. `implementation` is the resolved type name; `since` is the start of
    the operation (seconds since the epoch); `skipped` are the uuids of the recorded resources that it does not touch.
    For `restored` and `renewed` see `retention.Restored`. `fresh` is the target of a new object, if that is another
    one: with the template's values where the present object has those of a restored snapshot.
    """

    name: str
    type_name: str
    implementation: str
    type: ResourceType
    properties: Mapping[str, Any]
    metadata: Mapping[str, object]
    update_policy: Mapping[str, object]
    deletion_policy: str
    external_id: str | None
    requires: frozenset[str]
    restricted: frozenset[str] = frozenset()
    creation_policy: Mapping[str, object] = field(default_factory=dict)
    update_replace_policy: str | None = None
    ignore_drift: tuple[str, ...] = ()
    restored: Mapping[str, Any] = field(default_factory=dict)
    renewed: frozenset[str] | None = None
    since: float = inf
    skipped: frozenset[str] = frozenset()
    fresh: Target | None = None
    fingerprint: str | None = None
    size: int = 0

    def definition(self) -> dict[str, Any]:
        """Return the recorded part of the definition besides the properties.

        Parts that only some templates can have are omitted if they are not given, so that recorded definitions keep
        their fingerprints.
        """
        definition: dict[str, Any] = {
            "implementation": self.implementation,
            "deletion_policy": self.deletion_policy,
            "update_policy": dict(self.update_policy),
            "external_id": self.external_id,
            "metadata": dict(self.metadata),
        }
        if self.creation_policy:
            definition["creation_policy"] = dict(self.creation_policy)
        if self.update_replace_policy is not None:
            definition["update_replace_policy"] = self.update_replace_policy
        if self.ignore_drift:
            definition["ignore_drift"] = list(self.ignore_drift)
        return definition


_KEPT_BYTES = 4_000_000
_BYTES_OF_TARGET = 800


class KeptTargets:
    """Final targets that a plan has found, until the steps take them, so that they are not evaluated once more.

    They take about four megabytes at most; a step evaluates what is not kept.
    """

    def __init__(self) -> None:
        self._targets: dict[str, Target] = {}
        self._free = _KEPT_BYTES

    def keep(self, target: Target) -> None:
        """Keep a target if there is room for it."""
        taken = target.size + _BYTES_OF_TARGET
        if taken <= self._free and target.name not in self._targets:
            self._targets[target.name] = target
            self._free -= taken

    def take(self, name: str) -> Target | None:
        """Return the target of a resource if it is kept, and keep it no longer."""
        target = self._targets.pop(name, None)
        if target is not None:
            self._free += target.size + _BYTES_OF_TARGET
        return target


def describe(state: ResourceState, target: Target) -> None:
    """Set the recorded definition of a resource to the desired one."""
    state.row.type = target.type_name
    state.row.substituted = target.implementation != target.type_name
    state.row.fingerprint = target.fingerprint or ""
    state.row.requires = orjson.dumps(sorted(target.requires)).decode()
    state.stored.definition = target.definition()
    state.stored.restored = dict(target.restored)
    state.type = target.type


def property_changes(
    type_: ResourceType, before: Mapping[str, object], after: Mapping[str, object]
) -> list[PropertyChange]:
    """Return the top-level properties whose finalized values differ, in the type's order."""
    if type_.any_properties:
        return []
    old, new = finalized(type_, before), finalized(type_, after)
    return [
        PropertyChange(name, old.get(name), new.get(name), _effect(prop))
        for name, prop in type_.properties.items()
        if old.get(name) != new.get(name) or has_unknown(new.get(name))
    ]


def definition_changes(target: Target, state: ResourceState) -> tuple[PropertyChange, ...]:
    """Return the differences of a resource's definition besides its properties."""
    recorded, target_definition = state.stored.definition, target.definition()
    return tuple(
        PropertyChange(name, recorded.get(name) or None, target_definition.get(name) or None, "update")
        for name in _PARTS
        if recorded.get(name) != target_definition.get(name)
    )


def _effect(prop: Property) -> str:
    return {Change.UPDATE: "update", Change.REPLACE: "replace", Change.REFUSE: "refuse"}[prop.change]


def decide(target: Target, state: ResourceState | None, *, fate: Fate = Requirement) -> Decision:
    """Decide to create, use, update, replace or keep a resource, with the reasons.

    `fate` returns the plan's decision about the resources that unknown values depend on.
    """
    if state is not None and state.row.uuid in target.skipped:
        return Decision(StepKind.KEEP, (Reason(ReasonCode.SKIPPED),))
    decision = _decide(target, state, fate)
    if (
        state is not None
        and target.fresh is not None
        and decision.kind in (StepKind.KEEP, StepKind.UPDATE, StepKind.REPLACE)
    ):
        decision = _with_restored(decision, target.fresh, state, target.restored)
    if state is None or decision.kind is not StepKind.REPLACE or not _excludes(state, target):
        return decision
    return replace(decision, reasons=(*decision.reasons, Reason(ReasonCode.DELETED_FIRST)))


def _with_restored(decision: Decision, fresh: Target, state: ResourceState, note: Mapping[str, Any]) -> Decision:
    """Say which values of a restored snapshot the object keeps; a new object gets those of the template."""
    if decision.kind is StepKind.REPLACE:
        return replace(decision, changes=_with_new(fresh, state))
    reason = Reason(ReasonCode.RESTORED, ", ".join(sorted(note["instead"])))
    return replace(decision, reasons=(*decision.reasons, reason))


def _excludes(state: ResourceState, target: Target) -> bool:
    """Return whether the object must be deleted before its replacement is created, as far as the values are known."""
    exclusion = state.type.exclusion
    if exclusion is None or state.implementation != target.implementation:
        return False
    if (
        state.is_missing
        or state.row.physical_id is None
        or removal_policy(state, target.update_replace_policy).policy == "Retain"
    ):
        return False
    return exclusion.rule(finalized(state.type, state.properties), finalized(target.type, target.properties))


def _decide(target: Target, state: ResourceState | None, fate: Fate) -> Decision:
    if target.external_id and (state is None or state.row.action == NOT_CREATED):
        return Decision(StepKind.USE, (Reason(ReasonCode.EXTERNAL, str(target.external_id)),))
    if state is None:
        return Decision(StepKind.CREATE, (Reason(ReasonCode.NEW),), _all_new(target))
    row = state.row
    if row.action == NOT_CREATED:
        return Decision(StepKind.CREATE, (Reason(ReasonCode.NEVER_CREATED),), _all_new(target))
    if not can_become(state, target.implementation, target.type):
        return Decision(
            StepKind.REPLACE, (Reason(ReasonCode.TYPE_CHANGES, state.implementation, target.implementation),)
        )
    recorded = state.stored.definition
    if (recorded.get("external_id") or target.external_id) and recorded.get("external_id") != target.external_id:
        return Decision(StepKind.REFUSE, (Reason(ReasonCode.IMMUTABLE, "external_id"),))
    if state.is_missing and target.external_id:
        return Decision(StepKind.KEEP, (Reason(ReasonCode.DELETED_OUTSIDE), Reason(ReasonCode.EXTERNAL_GONE)))
    if state.is_missing:
        return Decision(StepKind.REPLACE, (Reason(ReasonCode.DELETED_OUTSIDE),), _all_new(target))
    if row.status == FAILED and row.action == "CHECK" and _replaced_when_unhealthy(target, state):
        return Decision(
            StepKind.REPLACE, (Reason(ReasonCode.CHECK_FAILED, detail=row.reason),), _with_new(target, state)
        )
    if is_broken(row) and not (target.type.nested or state.usable):
        reason = Reason(ReasonCode.ACTION_FAILED, row.action.lower(), row.reason)
        return Decision(StepKind.REPLACE, (reason,), _with_new(target, state))
    if target.external_id:
        return Decision(StepKind.KEEP)
    if target.type.replaced_with_parent and row.created_at < target.since:
        return Decision(StepKind.REPLACE, (Reason(ReasonCode.REPLACED_WITH_STACK),))
    unbroken = not (is_broken(row) or state.in_change)
    same = target.fingerprint is not None and target.fingerprint == row.fingerprint and unbroken
    if same and target.renewed is None:
        if _updates_with_parent(target):
            return Decision(StepKind.UPDATE, (Reason(ReasonCode.UPDATED_WITH_STACK),))
        return Decision(StepKind.KEEP)
    return _compare(target, state, fate)


def _updates_with_parent(target: Target) -> bool:
    """Return whether the resource is updated although nothing of it changes."""
    declared = target.type.updates_with_parent
    if not isinstance(declared, str):
        return declared
    value = target.properties.get(declared)
    return value is not None and target.type.properties[declared].convert(value) is True


def is_broken(row: Resource) -> bool:
    """Return whether the last action failed in a way that affects the object; a failed copy does not."""
    return row.status == FAILED and row.action != "SNAPSHOT"


def is_examined(row: Resource) -> bool:
    """Return whether the object of a resource whose action failed is examined, since it may still be usable."""
    return is_broken(row) and row.action not in ("CHECK", "CREATE", "ADOPT", "DELETE")


def can_have_obstacle(state: ResourceState) -> bool:
    """Return whether something may prevent that content is restored to the object."""
    return state.type.copy is not None and state.row.physical_id is not None and state.row.action != "DELETE"


def may_be_suspended(row: Resource) -> bool:
    """Return whether the object may be suspended: an update resumes it first."""
    return row.action == "SUSPEND" or (row.action == "RESUME" and row.status != COMPLETE)


def was_never_usable(state: ResourceState) -> bool:
    """Return whether the object was never usable.

    It is removed before a new one is created, since it may occupy a name or a place that exists only once. This also
    applies if its removal was interrupted, or if it is marked unhealthy.
    """
    return state.stored.creation.never_usable or (state.row.action == "CREATE" and state.row.status == FAILED)


def may_have_unknown_object(state: ResourceState) -> bool:
    """Return whether a creation whose end is not recorded may have created an object."""
    unknown = state.row.physical_id is None and not state.type.local
    return unknown and (state.row.action == "CREATE" or state.stored.uncertain)


def note_remains(state: ResourceState) -> None:
    """Record what the last action says about the resource's object, before another action replaces it."""
    stored, never_usable = state.stored, was_never_usable(state)
    if stored.creation.never_usable != never_usable:
        stored.creation = replace(stored.creation, never_usable=never_usable)
    stored.uncertain = may_have_unknown_object(state)


def mark_unhealthy(state: ResourceState, reason: str) -> None:
    """Record that a resource is unhealthy, with what its last action says about its object."""
    note_remains(state)
    state.row.action, state.row.status, state.stored.marked = "CHECK", FAILED, True
    state.row.reason, state.row.fingerprint = reason, ""


def is_incomplete(state: ResourceState) -> bool:
    """Return whether a check would make a resource look healthy although its creation failed, or it may not exist."""
    row = state.row
    unknown = row.physical_id is None or not state.type.checkable
    begun = row.action in ("CREATE", "ADOPT", "DELETE") or state.stored.creation.never_usable
    return unknown and begun and row.status != COMPLETE


def _replaced_when_unhealthy(target: Target, state: ResourceState) -> bool:
    """Return whether an unhealthy resource is replaced.

    A nested stack with unhealthy resources is updated, which replaces these; one that is itself explicitly marked
    unhealthy is replaced as a whole.
    """
    return target.type.always_replace_on_check_failed or (target.type.nested and state.stored.marked)


def can_become(state: ResourceState, new_type: str, type_: ResourceType) -> bool:
    """Return whether the object can become one of the type `new_type`, which `type_` implements: equal types that are
    names of the same kind of object can, and templates can replace each other.
    """
    recorded = state.implementation
    return (
        recorded == new_type
        or new_type in state.type.support.all_substitutes
        or recorded in type_.support.all_substitutes
        or (is_template_name(recorded) and is_template_name(new_type))
    )


def _all_new(target: Target) -> tuple[PropertyChange, ...]:
    return tuple(PropertyChange(name, None, value, "create") for name, value in sorted(target.properties.items()))


def _before(target: Target, state: ResourceState) -> dict[str, object]:
    """Return the recorded properties without those that are applied again."""
    return {name: value for name, value in state.properties.items() if name not in (target.renewed or ())}


def _changes(target: Target, state: ResourceState) -> tuple[PropertyChange, ...]:
    return tuple(property_changes(target.type, _before(target, state), target.properties))


def _with_new(target: Target, state: ResourceState) -> tuple[PropertyChange, ...]:
    """Return the changes of a resource that is replaced whether or not it has any; none of them is refused then."""
    return tuple(
        replace(change, effect="update") if change.effect == "refuse" else change for change in _changes(target, state)
    )


def _compare(target: Target, state: ResourceState, fate: Fate) -> Decision:
    before, changes = _before(target, state), _changes(target, state)
    refused = [change.name for change in changes if change.effect == "refuse" and change.known]
    if refused:
        return Decision(StepKind.REFUSE, tuple(Reason(ReasonCode.IMMUTABLE, name) for name in refused), changes)
    outside = {*state.stored.deployed, *(state.drifted or ())} if changes else set()
    drifted = tuple(Reason(ReasonCode.CHANGED_OUTSIDE, change.name) for change in changes if change.name in outside)
    reasons = [_replacement_reason(change, fate) for change in changes if change.effect == "replace"]
    known = {change.name: change.after for change in changes if change.known}
    if not reasons and known:
        demand = _required_replacement_reason(target, before, known) or (state.obstacle if target.renewed else "")
        reasons = [Reason(ReasonCode.TYPE_REQUIRES_REPLACEMENT, detail=demand)] if demand else []
    if reasons:
        replacing = {change.name for change in changes if change.effect == "replace"}
        causes = [reason for reason in drifted if reason.subject in replacing]
        beside = [reason for reason in drifted if reason.subject not in replacing]
        return Decision(StepKind.REPLACE, (*causes, *reasons, *beside), changes)  # dependents report the first one
    change_reasons = [_change_reason(change, fate) for change in changes if change.name not in outside]
    reasons = [*drifted, *change_reasons] or _other_differences(target, state)
    if not reasons:
        return Decision(StepKind.KEEP)
    return Decision(StepKind.UPDATE, tuple(reasons), changes)


def _required_replacement_reason(
    target: Target, before: Mapping[str, object], known: Mapping[str, object]
) -> str | None:
    """Return why the type of a resource demands a replacement although its changed properties do not."""
    kind = target.type
    if not isinstance(kind, capabilities.ConditionallyReplaced):
        return None
    return kind.replacement_reason(finalized(kind, before), finalized(kind, target.properties), known)


def _replacement_reason(change: PropertyChange, fate: Fate) -> Reason:
    if change.known:
        return Reason(ReasonCode.CHANGES_REQUIRE_REPLACEMENT, change.name)
    return _change_reason(change, fate)


def _change_reason(change: PropertyChange, fate: Fate) -> Reason:
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
