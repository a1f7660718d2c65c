"""From a definition and the recorded resources to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf
from typing import Any, Protocol

from stoker.engine.planning.decide import BEGINNING, Fate, Target, decide, definition_changes, is_asleep
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Cause, Decision, Plan, Removal, Step, forward_key, removal_steps
from stoker.engine.planning.reasons import Awaited, Reason, ReasonCode
from stoker.engine.planning.restoring import Restore, as_given
from stoker.engine.planning.retaining import removal_policy
from stoker.engine.planning.scope import Outlook, PlanScope
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState, keys_of, namesakes
from stoker.engine.redaction.hidden_values import RedactedProperties, Redaction
from stoker.plugins.resource import AttributeKey, ResourceType
from stoker.schema.unknown import find_unknowns, has_unknown
from stoker.template.check import graph
from stoker.template.definition import Definition
from stoker.template.derived import derived_values
from stoker.template.expressions import Reference, UnknownScope
from stoker.template.ordering import topological

"""(type as written, resource name) → (implementation, type)."""


class VerbOrder(Enum):
    """In which order resources take part in an action that changes no definition."""

    REQUIREMENTS_FIRST = "requirements first"
    DEPENDENTS_FIRST = "dependents first"
    ANY = "any"


_REDEFINES = (Kind.UPDATE, Kind.REPLACE, Kind.REFUSE)
_RANK = {Kind.KEEP: 0, Kind.UPDATE: 1, Kind.REFUSE: 2, Kind.REPLACE: 3, Kind.CREATE: 4}


@dataclass(slots=True)
class Wanted:
    """A definition made ready for planning: types looked up, edges complete, order fixed.

    `since` is when the operation towards it began (seconds since the epoch): what was made before is of the past.
    """

    definition: Definition
    inputs: LoadedInputs
    types: dict[str, tuple[str, ResourceType]]
    requires: Mapping[str, frozenset[str]]
    order: list[str]
    digest: Callable[[Any], str]
    restore: Restore = as_given
    since: float = inf

    @classmethod
    def of(cls, services: EngineServices, definition: Definition, inputs: LoadedInputs) -> Wanted:
        """Look every type up and complete the dependency graph. Raises TemplateInvalid for a circular dependency."""
        types = services.types.of_definition(definition, inputs.environment, inputs.files)
        requires = graph(definition, {name: type_ for name, (_, type_) in types.items()})
        return cls(definition, inputs, types, requires, topological(requires)[0], services.sealer.digest)

    def keys_for_resources(self) -> dict[str, set[AttributeKey]]:
        """The attributes of each resource that other resources refer to."""
        return self._keys(
            reference for resource in self.definition.resources.values() for reference in resource.references
        )

    def keys_for_outputs(self) -> dict[str, set[AttributeKey]]:
        """The attributes of each resource that outputs refer to."""
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
        """The resource with its values as far as `scope` knows them."""
        resource = self.definition.resources[name]
        implementation, type_ = self.types[name]
        resolve = self.definition.resolve
        given = {} if type_.ignores_properties else resolve(resource.properties, scope) or {}
        restored = self.restore(name, given)
        metadata = resolve(resource.metadata, scope) or {}
        update_policy = resolve(resource.update_policy, scope) or {}
        target = Target(
            name=name,
            type_name=resource.type,
            implementation=implementation,
            type=type_,
            given=restored.given,
            metadata=metadata,
            update_policy=update_policy,
            deletion_policy=resource.deletion_policy,
            creation_policy=resolve(resource.creation_policy, scope) or {},
            update_replace_policy=resource.update_replace_policy,
            external_id=resource.external_id,
            requires=frozenset(self.requires[name]),
            fingerprint=None,
            restricted=self.inputs.environment.registry.restricted_actions(name),
            restored=restored.note,
            renewed=restored.renewed,
            since=self.since,
        )
        return self._with_fingerprint(target)

    def _with_fingerprint(self, target: Target) -> Target:
        content = [target.implementation, target.given, target.definition()]
        if has_unknown(content[1:]) or has_unknown(target.metadata):
            return target
        if target.type.nested:
            # A nested stack also depends on the texts of the files and on the environment that it is handed.
            content += [self.inputs.files.digest, self.inputs.environment_digest]
        return Target(**{name: getattr(target, name) for name in _TARGET_FIELDS}, fingerprint=self.digest(content))


_TARGET_FIELDS = [name for name in Target.__slots__ if name != "fingerprint"]


def by_name(states: Iterable[ResourceState]) -> dict[str, list[ResourceState]]:
    """Recorded resources of each name that may still serve, newest first: those on their way out are no candidates."""
    return namesakes(state for state in states if state.row.action != "DELETE")


class Nested(Protocol):
    """Looks into nested stacks while the plan of the stack that holds them is made."""

    def within(
        self,
        target: Target,
        state: ResourceState | None,
        decision: Decision,
        hidden: RedactedProperties,
        secrets: frozenset[str],
    ) -> Within | None:
        """Return what happens to the stack of a resource; None if it cannot be determined.

        `hidden` are the resource's property values with hidden ones marked, None if none is hidden; `secrets` are the
        strings that the stack with the resource, and those above it, hide.
        """

    def removed(self, state: ResourceState) -> tuple[Step, ...]:
        """The removal of everything in the stack behind a resource."""


@dataclass(frozen=True, slots=True)
class Within:
    """What becomes of the stack behind a resource: the decision on the resource may then be a milder one."""

    decision: Decision
    steps: tuple[Step, ...]
    outlook: Outlook
    secrets: frozenset[str] = frozenset()


def plan_forward(
    action: str,
    wanted: Wanted,
    states: list[ResourceState],
    recorded: RecordedScope,
    former: Definition | None = None,
    secrets_above: frozenset[str] = frozenset(),
) -> Plan:
    """Return the plan that turns what is recorded into what is wanted; see `Forward`."""
    return Forward(action, wanted, states, recorded, former, secrets_above=secrets_above).plan()


@dataclass(slots=True)
class Forward:
    """Makes one plan, once. Afterwards `scope` resolves references to what will be: to the recorded resources that are
    chosen to serve, which need not be the latest of their names.

    `former` is the definition of what is recorded. `above` is the definition with marks in place of the values that the
    stack above hides (see Redaction); `secrets_above` are the strings that the stacks above hide. `nested` looks into
    nested stacks; None leaves them out.
    """

    action: str
    wanted: Wanted
    states: list[ResourceState]
    recorded: RecordedScope
    former: Definition | None = None
    above: Definition | None = None
    nested: Nested | None = None
    secrets_above: frozenset[str] = frozenset()
    scope: PlanScope = field(init=False)
    _chosen: dict[str, ResourceState | None] = field(init=False, default_factory=dict)
    _redaction: Redaction = field(init=False)
    _secrets: set[str] = field(init=False)
    _inside: dict[str, tuple[Step, ...]] = field(init=False, default_factory=dict)
    _plan: Plan | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.scope = PlanScope(replace(self.recorded, current=self._chosen.get))
        self._redaction = Redaction(self.wanted.definition, self.wanted.types, self.former, self.above)
        self._secrets = {*self._redaction.secrets, *self.secrets_above}

    def plan(self) -> Plan:
        """The plan."""
        if self._plan is None:
            self._plan = self._make()
        return self._plan

    def _make(self) -> Plan:
        self._secrets |= derived_values(self.wanted.definition, self.recorded, self._secrets)
        if self.former is not None:
            self._secrets |= derived_values(self.former, UnknownScope(), self._secrets)
        candidates = by_name(self.states)
        steps = [self._step(name, candidates.get(name, [])) for name in self.wanted.order]
        kept = {step.uuid for step in steps if step.kind is not Kind.REPLACE}
        replaced = {step.uuid: step.name for step in steps if step.kind is Kind.REPLACE}
        removals = [
            _removal(state, _why_removed(state, self.wanted), self._on_replacement(replaced.get(state.row.uuid)))
            for state in reversed(self.states)
            if state.row.uuid not in kept
        ]
        leaving = {removal.name for removal in removals}
        first = frozenset(step.key for step in steps if step.kind is not Kind.KEEP or step.name in leaving)
        steps += removal_steps(removals, first)
        whole = _with_inside(steps, self.states, self.nested, self._inside)
        return Plan(self.action, tuple(whole), frozenset(self._secrets))

    def _on_replacement(self, name: str | None) -> str | None:
        """The update replace policy of a resource that is to be replaced; None when nothing says it."""
        return self.wanted.definition.resources[name].update_replace_policy if name is not None else None

    def _step(self, name: str, candidates: list[ResourceState]) -> Step:
        scope, requires = self.scope, self.wanted.requires[name]
        target = self.wanted.target(name, scope)
        self._chosen[name], decision = choose(target, candidates, self._fate)
        state = self._chosen[name]
        if self.nested is not None and target.type.nested:
            decision = self._look_inside(self.nested, target, state, decision)
        scope.decisions[name] = decision
        redefined = definition_changes(target, state) if state and decision.kind in _REDEFINES else ()
        return Step(
            forward_key(name),
            decision.kind,
            name,
            target.type_name,
            state.row.uuid if state else None,
            decision.reasons,
            self._redaction.redact_changes(name, decision.changes, scope),
            self._redaction.redact_definition_changes(name, redefined, scope),
            frozenset(forward_key(required) for required in requires),
            tuple(self._causes(decision)),
        )

    def _look_inside(self, nested: Nested, target: Target, state: ResourceState | None, decision: Decision) -> Decision:
        hides = bool(self._redaction.paths(target.name, self.scope))
        redacted = self._redaction.redacted_properties(target.name, self.scope) if hides else None
        within = nested.within(target, state, decision, redacted, frozenset(self._secrets))
        if within is None:
            return decision
        self._inside[forward_key(target.name)] = within.steps
        self._secrets |= within.secrets
        if decision.kind in (Kind.UPDATE, Kind.KEEP):
            self.scope.outlooks[target.name] = within.outlook
        return within.decision

    def _fate(self, name: str) -> Awaited:
        """What the plan does with a resource that others wait for: the chain that leads to a replacement."""
        decision = self.scope.decisions.get(name)
        if decision is None:
            return Awaited(name)
        return Awaited(name, decision.kind, next(iter(decision.reasons), None))

    def _causes(self, decision: Decision) -> Iterator[Cause]:
        for change in decision.changes:
            for name in sorted({name for found in find_unknowns(change.after) for name in found.resources()}):
                if (other := self.scope.decisions.get(name)) is not None:
                    yield Cause(change.name, name, other.kind)


def _below(holder: Step, step: Step) -> Step:
    """A nested stack's step as one of the plan of the stack that holds it; it waits for what its holder waits for."""
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
    )


def choose(
    target: Target, candidates: list[ResourceState], fate: Fate = Awaited
) -> tuple[ResourceState | None, Decision]:
    """The recorded resource that comes nearest to what is wanted, and what it needs."""
    options = [(state, decide_running(target, state, fate)) for state in candidates]
    if not options:
        return None, decide(target, None)
    return min(options, key=lambda option: _RANK[option[1].kind])


def decide_running(target: Target, state: ResourceState, fate: Fate = Awaited) -> Decision:
    """As `decide`; an action that was begun and not ended is gone on with first, and what is suspended is resumed."""
    decision = decide(target, state, fate=fate)
    if decision.kind is not Kind.KEEP:
        return decision
    if state.in_progress and state.row.action in BEGINNING:
        return Decision(Kind.UPDATE, (Reason(ReasonCode.ACTION_UNFINISHED, state.row.action.lower()),))
    return Decision(Kind.UPDATE, (Reason(ReasonCode.SUSPENDED),)) if is_asleep(state.row) else decision


def _why_removed(state: ResourceState, wanted: Wanted) -> ReasonCode:
    still_wanted = state.row.name in wanted.definition.resources
    return ReasonCode.SUPERSEDED_BY_REPLACEMENT if still_wanted else ReasonCode.NOT_IN_TEMPLATE


def _removal(state: ResourceState, why: ReasonCode, on_replacement: str | None = None) -> Removal:
    """The removal of a recorded resource; what a policy retains is a reason of its own. `on_replacement` is the update
    replace policy of one that this plan replaces.
    """
    reasons = [Reason(why)]
    if state.stored.definition.get("external_id"):
        reasons.append(Reason(ReasonCode.OBJECT_EXTERNAL))
    else:
        rule = removal_policy(state, on_replacement)
        if rule.policy in _RETAINED:
            reasons.append(Reason(_RETAINED[rule.policy], rule.policy, rule.name))
    return Removal(state.row.uuid, state.row.name, state.row.type, state.requires, tuple(reasons))


_RETAINED = {"Retain": ReasonCode.OBJECT_RETAINED, "Snapshot": ReasonCode.SNAPSHOT_RETAINED}


def plan_removal(
    action: str,
    states: list[ResourceState],
    nested: Nested | None = None,
    why: ReasonCode = ReasonCode.STACK_DELETED,
) -> Plan:
    """The plan that removes everything."""
    steps = removal_steps(_removal(state, why) for state in reversed(states))
    return Plan(action, tuple(_with_inside(steps, states, nested, {})))


def _with_inside(
    steps: Iterable[Step],
    states: Iterable[ResourceState],
    nested: Nested | None,
    inside: Mapping[str, tuple[Step, ...]],
) -> Iterator[Step]:
    """The steps, each followed by those of the nested stack that it is about: `inside`, or the stack's removal."""
    holders = {state.row.uuid: state for state in states if state.type.nested}
    for step in steps:
        below = inside.get(step.key, ())
        if nested is not None and step.kind is Kind.DELETE and step.uuid in holders:
            below = nested.removed(holders[step.uuid])
        yield step
        yield from (_below(step, inner) for inner in below)


def plan_verb(action: str, states: list[ResourceState], *, order: VerbOrder, unmade: Iterable[Step] = ()) -> Plan:
    """The plan that has every current resource do the same thing; `unmade` are steps of those that were never made."""
    current = {state.row.name: state for state in states if state.row.replaced_by is None}
    first: dict[str, set[str]] = {name: set() for name in current}
    for name, state in current.items():
        for required in state.requires & current.keys():
            if order is VerbOrder.REQUIREMENTS_FIRST:
                first[name].add(forward_key(required))
            elif order is VerbOrder.DEPENDENTS_FIRST:
                first[required].add(forward_key(name))
    steps = [
        Step(forward_key(name), Kind.VERB, name, state.row.type, state.row.uuid, after=frozenset(first[name]))
        for name, state in current.items()
    ]
    return Plan(action, (*steps, *unmade))


def unmade_checks(wanted: Wanted, states: list[ResourceState]) -> list[Step]:
    """Steps for the resources that a check would look at, had they ever been made."""
    made = {state.row.name for state in states}
    return [
        Step(forward_key(name), Kind.VERB, name, wanted.definition.resources[name].type)
        for name, (_, type_) in wanted.types.items()
        if name not in made and type_.checkable
    ]
