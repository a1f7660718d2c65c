"""Make a plan from a definition and the recorded resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import inf
from operator import attrgetter
from typing import Any, cast

from stoker.base import budget
from stoker.base.errors import EntityNotFound
from stoker.base.redaction import Redactor
from stoker.engine.planning.decide import (
    BEGINNING,
    Fate,
    Policies,
    Target,
    decide,
    definition_changes,
    may_be_suspended,
)
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Cause, Decision, Plan, Removal, Step, Subject, forward_key, removal_steps
from stoker.engine.planning.reasons import RETENTION, Reason, ReasonCode, Requirement
from stoker.engine.planning.retention import (
    RemovalOptions,
    Restore,
    as_given,
    changes_outside,
    losses,
    removal_reasons,
    replacement_losses,
)
from stoker.engine.planning.scope import NestedStackPlanner, PlanScope
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.observations import forget_ignored
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState, keys_of, resources_by_name
from stoker.engine.redaction.stacks import Redaction
from stoker.plugins import capabilities
from stoker.plugins.call import Snapshot
from stoker.plugins.resource import AttributeKey, ResourceType, finalized
from stoker.schema.unknown import Unknown, find_unknowns, has_unknown, is_unknown
from stoker.store.sealing import comparable
from stoker.template.check import graph
from stoker.template.definition import Definition
from stoker.template.derived import derived_values
from stoker.template.expressions import Reference, UnknownScope

NONE: Mapping[str, str] = {}


_REDEFINES = (StepKind.UPDATE, StepKind.REPLACE, StepKind.REFUSE)
_RANK = {
    StepKind.KEEP: 0,
    StepKind.UPDATE: 1,
    StepKind.REFUSE: 2,
    StepKind.REPLACE: 3,
    StepKind.CREATE: 4,
    StepKind.USE: 4,
}


def _unsettled(target: Target) -> None:
    """Keep nothing of a plan that is not carried out."""


@dataclass(slots=True)
class DesiredState:
    """A definition prepared for planning: types looked up, dependencies complete, order fixed.

    `since` is the start of the operation (seconds since the epoch): it distinguishes resources created before.
    `skipped` are the uuids of the recorded resources that it does not touch. A plan calls `settled` with the targets
    that would be the same in their steps.
    """

    definition: Definition
    inputs: LoadedInputs
    types: dict[str, tuple[str, ResourceType]]
    requires: Mapping[str, frozenset[str]]
    order: list[str]
    digest: Callable[[bytes], str]
    restore: Restore = as_given
    since: float = inf
    skipped: frozenset[str] = frozenset()
    settled: Callable[[Target], None] = _unsettled

    @classmethod
    def of(cls, services: EngineServices, definition: Definition, inputs: LoadedInputs) -> DesiredState:
        """Look every type up and complete the dependency graph. Raises TemplateInvalid for a circular dependency."""
        types = services.types.of_definition(definition, inputs.environment, inputs.files)
        requires = graph(definition, {name: type_ for name, (_, type_) in types.items()})
        return cls(definition, inputs, types, requires, definition.order(requires)[0], services.sealer.digest_of_text)

    def forgets(self, state: ResourceState) -> bool:
        """Return whether the environment says that a resource is removed without its object."""
        released = {each.source for each in self.inputs.environment.transfers.removed}
        return state.row.name in released and state.row.action != "DELETE"

    def keys_for_resources(self) -> dict[str, set[AttributeKey]]:
        """Return the attributes of each resource that other resources refer to."""
        return self._keys(
            reference for resource in self.definition.resources.values() for reference in resource.references
        )

    def keys_for_outputs(self) -> dict[str, set[AttributeKey]]:
        """Return the attributes of each resource that outputs refer to."""
        return self._keys(
            placed.reference
            for output in self.definition.outputs.values()
            for placed in self.definition.references_in(output.value)
        )

    def _keys(self, references: Iterable[Reference]) -> dict[str, set[AttributeKey]]:
        keys: dict[str, set[AttributeKey]] = {}
        for reference in references:
            known = self.types.get(reference.resource)
            if known is not None and reference.attribute is not None:
                keys.setdefault(reference.resource, set()).update(keys_of(reference, known[1]))
        return keys

    def target(self, name: str, scope: Any) -> Target:
        """Return the resource with its values as far as `scope` knows them."""
        resource = self.definition.resources[name]
        if name not in self.types:
            raise EntityNotFound(f"The Resource Type ({resource.type}) could not be found.")
        implementation, type_ = self.types[name]
        resolve = self.definition.resolve
        properties = {} if type_.ignores_properties else resolve(resource.properties, scope) or {}
        restored = self.restore(name, properties)
        metadata = resolve(resource.metadata, scope) or {}
        update_policy = resolve(resource.update_policy, scope) or {}
        target = Target(
            name=name,
            type_name=resource.type,
            implementation=implementation,
            type=type_,
            properties=restored.properties,
            metadata=metadata,
            update_policy=update_policy,
            deletion_policy=resource.deletion_policy,
            creation_policy=resolve(resource.creation_policy, scope) or {},
            update_replace_policy=resource.update_replace_policy,
            ignore_drift=resource.ignore_drift,
            external_id=resource.external_id,
            requires=frozenset(self.requires[name]),
            restricted=self.inputs.environment.registry.restricted_actions(name),
            restored=restored.note,
            renewed=restored.renewed,
            since=self.since,
            skipped=self.skipped,
        )
        if restored.fresh is not None:
            fresh = replace(target, properties=restored.fresh, restored={}, renewed=None)
            target = replace(target, fresh=self._measured(fresh))
        return self._measured(target)

    def is_settled(self, target: Target) -> bool:
        """Return whether a target would be the same in its step: it follows from the definition alone."""
        resource = self.definition.resources[target.name]
        return target.fingerprint is not None and not target.restored and resource.follows_from_inputs

    def _measured(self, target: Target) -> Target:
        """Return a target with its fingerprint and its size."""
        content = [target.implementation, target.properties, target.definition()]
        if target.type.nested:
            # A nested stack also depends on the files and on the environment that it receives.
            content += [self.inputs.files.digest, self.inputs.environment_digest]
        text = comparable(content)
        fingerprint = None if has_unknown(content) else self.digest(text)
        return Target(*(*_all_but_measures(target), fingerprint, len(text)))


_all_but_measures = attrgetter(*(name for name in Target.__slots__ if name not in ("fingerprint", "size")))
"""Returns the values of a target but the last two."""


def by_name(states: Iterable[ResourceState]) -> dict[str, list[ResourceState]]:
    """Return the usable recorded resources of each name, newest first, without those that are being removed."""
    return resources_by_name(state for state in states if state.row.action != "DELETE")


@dataclass(slots=True, weakref_slot=True)
class Forward:
    """Makes one plan, once. Afterwards `scope` resolves references to the future state: to the recorded resources that
    are chosen to be kept or updated, which need not be the latest of their names.

    `former` is the definition of the recorded state. `above` is the definition as redacted by the stack above (see
    Redaction); `secrets_above` are the strings that the stacks above hide. `nested` plans nested stacks; None omits
    them. `moved` are the names in `former`, or the paths, of resources that have other ones in the record already.
    `removal_options` is how resources are removed, by default as the action does. `imported` are the resources, by
    UUID, whose objects the operation imports, with what could not be compared; `begun` those around nested stacks that
    begin with resources that are moved into them. `awaited` are the existing objects of resources, by name, which were
    not read yet.
    """

    action: str
    desired: DesiredState
    states: list[ResourceState]
    recorded: RecordedScope
    policies: Policies
    former: Definition | None = None
    above: Definition | None = None
    nested: NestedStackPlanner | None = None
    secrets_above: frozenset[str] = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)
    removal_options: RemovalOptions | None = None
    imported: Mapping[str, str] = field(default_factory=dict)
    begun: frozenset[str] = frozenset()
    awaited: Mapping[str, str] = field(default_factory=dict)
    scope: PlanScope = field(init=False)
    _chosen: dict[str, ResourceState | None] = field(init=False, default_factory=dict)
    _redaction: Redaction = field(init=False)
    _secrets: set[str] = field(init=False)
    _inside: dict[str, tuple[Step, ...]] = field(init=False, default_factory=dict)
    _plan: Plan | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.scope = PlanScope(replace(self.recorded, current=self._chosen.get))
        self._redaction = Redaction(self.desired.definition, self.desired.types, self.former, self.above, self.moved)
        self._secrets = {*self._redaction.secrets, *self.secrets_above}

    def plan(self) -> Plan:
        """Return the plan."""
        if self._plan is None:
            self._plan = self._make()
        return self._plan

    def _make(self) -> Plan:
        self._secrets |= derived_values(self.desired.definition, self.recorded, self._secrets)
        if self.former is not None:
            self._secrets |= derived_values(self.former, UnknownScope(), self._secrets)
        candidates = by_name(self.states)
        steps = self._in_turn([self._step(name, candidates.get(name, [])) for name in self.desired.order])
        remaining = {step.uuid for step in steps if not step.supersedes or step.deletes_first}
        replaced = {step.uuid: step.name for step in steps if step.supersedes}
        removals = [
            self._removal(state, replaced.get(state.row.uuid))
            for state in reversed(self.states)
            if state.row.uuid not in remaining and state.row.uuid not in self.desired.skipped
        ]
        leaving = {removal.name for removal in removals}
        first = frozenset(step.key for step in steps if step.kind is not StepKind.KEEP or step.name in leaving)
        steps += removal_steps(removals, first)
        whole = with_inside(steps, self.states, self.nested, self._inside)
        budget.charge(len(self._secrets), made=sum(map(len, self._secrets)))
        Redactor(self._secrets)  # prepared here, where long work has left the event loop; showing the plan reuses it
        return Plan(self.action, tuple(whole), frozenset(self._secrets))

    def _in_turn(self, steps: list[Step]) -> list[Step]:
        """Return the steps with an order for the in-place updates of resources that another one connects.

        The order is that of the steps, so that no circular dependency results.
        """
        desired, further = self.desired, dict[str, set[str]]()
        updated = [step.name for step in steps if step.kind is StepKind.UPDATE]
        for name, (_, type_) in desired.types.items():
            if type_.connects and name in desired.definition.resources:
                connected = {reference.resource for reference in desired.definition.resources[name].references}
                for first, then in pairwise(other for other in updated if other in connected):
                    further.setdefault(then, set()).add(forward_key(first))
        return [
            replace(step, after=step.after | further[step.name]) if step.name in further else step for step in steps
        ]

    def _removal(self, state: ResourceState, replaced: str | None) -> Removal:
        """The removal of a recorded resource, refused where a policy forbids it; `replaced` names what replaces it."""
        why = _removal_reason(state, self.desired)
        removal = removal_of(state, why, self._effective_removal_options, self._on_replacement(replaced))
        if not self._effective_removal_options.undoes_imports and self.desired.forgets(state):
            removal = replace(removal, kind=StepKind.FORGET, reasons=(Reason(why), Reason(ReasonCode.FORGOTTEN)))
        if why is ReasonCode.NOT_IN_TEMPLATE and (violations := self.policies.removal_violations(state)):
            return replace(removal, kind=StepKind.REFUSE, reasons=violations)
        return removal

    @property
    def _effective_removal_options(self) -> RemovalOptions:
        return self.removal_options if self.removal_options is not None else RemovalOptions(self.action)

    def _on_replacement(self, name: str | None) -> str | None:
        """Return the update replace policy of a resource that will be replaced; None if there is none."""
        return self.desired.definition.resources[name].update_replace_policy if name is not None else None

    def _step(self, name: str, candidates: list[ResourceState]) -> Step:
        scope, requires = self.scope, self.desired.requires[name]
        target = self.desired.target(name, scope)
        if self.desired.is_settled(target):
            self.desired.settled(target)
        for candidate in candidates if target.ignore_drift else ():
            forget_ignored(candidate, target.ignore_drift)
        self._chosen[name], decision = choose(target, candidates, self._decision_for)
        state = self._chosen[name]
        decision = Decision(StepKind.KEEP) if state is None and name in self.awaited else decision
        if self.nested is not None and target.type.nested:
            decision = self._plan_nested(self.nested, target, state, decision)
        decision = self.policies.checked(decision, target, state)
        scope.decisions[name] = decision
        if decision.kind is StepKind.REPLACE and state is not None and _keeps_reference(target.fresh or target, state):
            scope.with_same_reference.add(name)
        unforeseen = target.type.nested and decision.kind is not StepKind.KEEP and forward_key(name) not in self._inside
        redefined = definition_changes(target, state) if state and decision.kind in _REDEFINES else ()
        if state is not None and state.row.uuid in self.begun and decision.kind in (StepKind.UPDATE, StepKind.KEEP):
            decision, redefined = decide(target, None), ()
        return Step(
            forward_key(name),
            StepKind.CREATE if _is_made_again(decision, state) else decision.kind,
            name,
            target.type_name,
            state.row.uuid if state else None,
            self._imported(state)
            + decision.reasons
            + _losses(decision, target, state, self._effective_removal_options),
            self._redaction.redact_changes(name, decision.changes, scope),
            self._redaction.redact_definition_changes(name, redefined, scope),
            frozenset(forward_key(required) for required in requires),
            tuple(self._causes(decision)),
            moved_from=self.moved.get(name),
            imports=self._import_of(name, state),
            subject=Subject(
                target.type,
                target.properties,
                self.desired.definition,
                state,
                unforeseen=unforeseen,
                hides=partial(self._redaction.paths, name, scope),
            ),
        )

    def _import_of(self, name: str, state: ResourceState | None) -> str | None:
        """Return the object that the operation imports as a resource."""
        known = state.row.physical_id if state is not None and state.row.uuid in self.imported else None
        return self.awaited.get(name, known)

    def _imported(self, state: ResourceState | None) -> tuple[Reason, ...]:
        """Return the reason that says which object the operation imports as the resource; none if it imports none."""
        if state is None or (unread := self.imported.get(state.row.uuid)) is None:
            return ()
        return (Reason(ReasonCode.IMPORTED, state.row.physical_id or "", unread),)

    def _plan_nested(
        self, nested: NestedStackPlanner, target: Target, state: ResourceState | None, decision: Decision
    ) -> Decision:
        hides = bool(self._redaction.paths(target.name, self.scope))
        redacted = self._redaction.redacted_properties(target.name, self.scope) if hides else None
        inner = nested.plan_nested(target, state, decision, redacted, frozenset(self._secrets))
        if inner is None:
            return decision
        self._inside[forward_key(target.name)] = inner.steps
        self._secrets |= inner.secrets
        if decision.kind in (StepKind.UPDATE, StepKind.KEEP) or inner.is_known:
            self.scope.forecasts[target.name] = inner.forecast
        return inner.decision

    def _decision_for(self, name: str) -> Requirement:
        """Return the plan's decision about a resource that others depend on: the chain that leads to a replacement."""
        decision = self.scope.decisions.get(name)
        if decision is None:
            return Requirement(name)
        return Requirement(name, decision.kind, next(iter(decision.reasons), None))

    def _causes(self, decision: Decision) -> Iterator[Cause]:
        for change in decision.changes:
            for name in sorted({name for found in find_unknowns(change.after) for name in found.resources()}):
                if (other := self.scope.decisions.get(name)) is not None:
                    yield Cause(change.name, name, other.kind)


def _below(holder: Step, step: Step) -> Step:
    """Return a nested stack's step as part of the parent's plan; it has the dependencies of the nested stack's
    resource.
    """
    prefix = holder.key.partition(" ")[2]

    def moved(key: str) -> str:
        verb, _, name = key.partition(" ")
        return f"{verb} {prefix}.{name}"

    return replace(
        step,
        key=moved(step.key),
        name=f"{holder.name}.{step.name}",
        after=holder.after | {moved(key) for key in step.after},
        causes=tuple(replace(cause, resource=f"{holder.name}.{cause.resource}") for cause in step.causes),
        depth=step.depth + 1,
        subject=None if step.subject is None else step.subject.inside(holder.subject, holder.name),
    )


def choose(
    target: Target, candidates: list[ResourceState], fate: Fate = Requirement
) -> tuple[ResourceState | None, Decision]:
    """Return the recorded resource that is closest to the desired one, and the decision about it."""
    options = [(state, decide_running(target, state, fate)) for state in candidates]
    if not options:
        return None, decide(target, None)
    return min(options, key=lambda option: _RANK[option[1].kind])


def decide_running(target: Target, state: ResourceState, fate: Fate = Requirement) -> Decision:
    """Decide like `decide`; but an interrupted action is resumed first, and a suspended resource is resumed."""
    decision = decide(target, state, fate=fate)
    if decision.kind is not StepKind.KEEP:
        return decision
    if state.in_progress and state.row.action in BEGINNING:
        return Decision(StepKind.UPDATE, (Reason(ReasonCode.ACTION_UNFINISHED, state.row.action.lower()),))
    return Decision(StepKind.UPDATE, (Reason(ReasonCode.SUSPENDED),)) if may_be_suspended(state.row) else decision


def _keeps_reference(target: Target, state: ResourceState) -> bool:
    """Return whether a new object certainly gets the reference id of the present one: a name, or an ID of the
    template.
    """
    if state.row.physical_id is None:
        return False
    properties, unknown = finalized(target.type, target.properties), Unknown.of(target.name)
    chosen = properties.get(target.type.id_property)
    identifier: Any = unknown if chosen is None or is_unknown(chosen) else str(chosen)
    future = Snapshot(target.name, cast(Any, unknown), identifier, {}, properties)
    return bool(target.type.reference_id(future) == state.reference_id())


def _is_made_again(decision: Decision, state: ResourceState | None) -> bool:
    """Return whether a step only creates, since the object that it would replace does not exist any more."""
    return decision.kind is StepKind.REPLACE and state is not None and state.is_missing


def _losses(
    decision: Decision, target: Target, state: ResourceState | None, removal_options: RemovalOptions
) -> tuple[Reason, ...]:
    """Return the reason that marks a step which loses what users keep in the object; none if it loses nothing."""
    if state is None or state.is_missing or not target.type.content:
        return ()
    if decision.kind is StepKind.REPLACE:
        return replacement_losses(state, removal_options, target.update_replace_policy)
    if decision.kind is StepKind.UPDATE:
        return losses(
            capabilities.lost_content(target.type, target.properties, {change.name for change in decision.changes})
        )
    return ()


def _removal_reason(state: ResourceState, desired: DesiredState) -> ReasonCode:
    is_desired = state.row.name in desired.definition.resources
    return ReasonCode.SUPERSEDED_BY_REPLACEMENT if is_desired else ReasonCode.NOT_IN_TEMPLATE


def removal_of(
    state: ResourceState, why: ReasonCode, removal_options: RemovalOptions, on_replacement: str | None = None
) -> Removal:
    """Return the removal of a recorded resource; what retains the object is an additional reason.

    `on_replacement` is the update replace policy of a resource that this plan replaces.
    """
    changed = (
        () if why is ReasonCode.SUPERSEDED_BY_REPLACEMENT else changes_outside(state)
    )  # the replacement tells them
    reasons = (Reason(why), *changed, *removal_reasons(state, removal_options, on_replacement))
    subject = Subject(state.type, None, None, state)
    return Removal(state.row.uuid, state.row.name, state.row.type, state.requires, reasons, subject=subject)


def with_inside(
    steps: Iterable[Step],
    states: Iterable[ResourceState],
    nested: NestedStackPlanner | None,
    inside: Mapping[str, tuple[Step, ...]],
) -> Iterator[Step]:
    """Yield the steps, each followed by those of its nested stack: `inside`, or the stack's removal.

    A nested stack that is retained stays as it is.
    """
    holders = {state.row.uuid: state for state in states if state.type.nested}
    for step in steps:
        below = inside.get(step.key, ())
        retained = any(reason.code in RETENTION for reason in step.reasons)
        if nested is not None and step.kind is StepKind.DELETE and step.uuid in holders and not retained:
            below = nested.removed(holders[step.uuid])
        yield step
        yield from (_below(step, inner) for inner in below)
