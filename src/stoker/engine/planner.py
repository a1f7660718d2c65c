"""From a definition and the recorded resources to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from stoker.engine.decide import Target, decide
from stoker.engine.loader import LoadedInputs
from stoker.engine.plan import Decision, Kind, Plan, Removal, Step, forward_key, removal_steps
from stoker.engine.scope import PlanScope, RecordedScope
from stoker.engine.state import ResourceState, keys_of
from stoker.plugins.resource import AttributeKey, ResourceType
from stoker.schema.unknown import has_unknown
from stoker.template.check import graph
from stoker.template.definition import Definition
from stoker.template.expressions import Reference
from stoker.template.ordering import topological

TypeLookup = Callable[[str, str], tuple[str, ResourceType | None]]
"""(type as written, resource name) → (implementation, type)."""


class VerbOrder(Enum):
    """In which order resources take part in an action that changes no definition."""

    REQUIREMENTS_FIRST = "requirements first"
    DEPENDENTS_FIRST = "dependents first"
    ANY = "any"


_RANK = {Kind.KEEP: 0, Kind.UPDATE: 1, Kind.REPLACE: 2, Kind.CREATE: 3}


@dataclass(slots=True)
class Wanted:
    """A definition made ready for planning: types looked up, edges complete, order fixed."""

    definition: Definition
    inputs: LoadedInputs
    types: dict[str, tuple[str, ResourceType]]
    requires: Mapping[str, frozenset[str]]
    order: list[str]
    digest: Callable[[Any], str]

    @classmethod
    def of(
        cls, definition: Definition, inputs: LoadedInputs, lookup: TypeLookup, digest: Callable[[Any], str]
    ) -> Wanted:
        """Look every type up and complete the dependency graph. Raises TemplateInvalid for a circle."""
        types: dict[str, tuple[str, ResourceType]] = {}
        for name, resource in definition.resources.items():
            implementation, type_ = lookup(resource.type, name)
            if type_ is not None:
                types[name] = (implementation, type_)
        requires = graph(definition, {name: type_ for name, (_, type_) in types.items()})
        return cls(definition, inputs, types, requires, topological(requires)[0], digest)

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
        given = {key: value for key, value in (resolve(resource.properties, scope) or {}).items() if value is not None}
        metadata = resolve(resource.metadata, scope) or {}
        update_policy = resolve(resource.update_policy, scope) or {}
        target = Target(
            name=name,
            type_name=resource.type,
            implementation=implementation,
            type=type_,
            given=given,
            metadata=metadata,
            update_policy=update_policy,
            deletion_policy=resource.deletion_policy,
            external_id=resource.external_id,
            requires=frozenset(self.requires[name]),
            fingerprint=None,
            restricted=self.inputs.environment.registry.restricted_actions(name),
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
    found: dict[str, list[ResourceState]] = {}
    for state in sorted(states, key=lambda state: -state.row.position):
        if state.row.action != "DELETE":
            found.setdefault(state.row.name, []).append(state)
    return found


def plan_forward(action: str, wanted: Wanted, states: list[ResourceState], recorded: RecordedScope) -> Plan:
    """The plan that turns what is recorded into what is wanted."""
    scope = PlanScope(recorded)
    candidates = by_name(states)
    steps: list[Step] = []
    chosen: dict[str, str] = {}
    for name in wanted.order:
        target = wanted.target(name, scope)
        state, decision = choose(target, candidates.get(name, []))
        scope.decisions[name] = decision
        if state is not None:
            chosen[state.row.uuid] = name
        first = frozenset(forward_key(required) for required in wanted.requires[name])
        steps.append(
            Step(
                forward_key(name),
                decision.kind,
                name,
                target.type_name,
                state.row.uuid if state else None,
                decision.reasons,
                decision.changes,
                first,
            )
        )
    replaced = {step.uuid for step in steps if step.kind in (Kind.REPLACE, Kind.CREATE) and step.uuid}
    keep = {uuid for uuid in chosen if uuid not in replaced}
    removals = [
        Removal(state.row.uuid, state.row.name, state.row.type, state.requires, _removal_reason(state, wanted))
        for state in reversed(states)
        if state.row.uuid not in keep
    ]
    made = frozenset(step.key for step in steps if step.kind is not Kind.KEEP)
    return Plan(action, (*steps, *removal_steps(removals, made)))


def choose(target: Target, candidates: list[ResourceState]) -> tuple[ResourceState | None, Decision]:
    """The recorded resource that comes nearest to what is wanted, and what it needs."""
    options = [(state, decide_running(target, state)) for state in candidates]
    if not options:
        return None, decide(target, None)
    return min(options, key=lambda option: _RANK[option[1].kind])


def decide_running(target: Target, state: ResourceState) -> Decision:
    """As `decide`; an action that was begun and not ended is gone on with first."""
    if not state.in_progress or state.row.action not in ("CREATE", "UPDATE"):
        return decide(target, state)
    decision = decide(target, state)
    if decision.kind is Kind.KEEP:
        return Decision(Kind.UPDATE, (f"its {state.row.action.lower()} goes on",))
    return decision


def _removal_reason(state: ResourceState, wanted: Wanted) -> str:
    return "it is replaced" if state.row.name in wanted.definition.resources else "it is no longer in the template"


def plan_removal(action: str, states: list[ResourceState]) -> Plan:
    """The plan that leaves nothing."""
    removals = [
        Removal(state.row.uuid, state.row.name, state.row.type, state.requires, "the stack goes")
        for state in reversed(states)
    ]
    return Plan(action, tuple(removal_steps(removals)))


def plan_verb(action: str, states: list[ResourceState], *, order: VerbOrder) -> Plan:
    """The plan that has every current resource do the same thing."""
    current = {state.row.name: state for state in states if state.row.replaced_by is None}
    first: dict[str, set[str]] = {name: set() for name in current}
    for name, state in current.items():
        for required in state.requires & current.keys():
            if order is VerbOrder.REQUIREMENTS_FIRST:
                first[name].add(forward_key(required))
            elif order is VerbOrder.DEPENDENTS_FIRST:
                first[required].add(forward_key(name))
    return Plan(
        action,
        tuple(
            Step(forward_key(name), Kind.VERB, name, state.row.type, state.row.uuid, after=frozenset(first[name]))
            for name, state in current.items()
        ),
    )
