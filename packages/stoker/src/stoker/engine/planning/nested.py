"""Plan nested stacks as part of the plan of the stack that contains them.

Only the resource's type knows what it requests of its nested stack: a group determines names and batches, a template
resource its parameters. So the type's own method is called with a stand-in for the nested stack, which executes nothing
and records the last request; the request is then planned like that of any stack. The type's attributes are read from
the same stand-in, so that values that depend on them are known as far as possible.

Everything is read on one open connection: the plan of a whole tree is based on one state of the record.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol
from weakref import WeakValueDictionary, proxy

from sqlalchemy import Connection

from stoker.base.errors import StokerError
from stoker.engine.planning.action_order import plan_removal
from stoker.engine.planning.decide import Policies, Target
from stoker.engine.planning.imports import (
    NO_IMPORTS,
    Imports,
    NestedImportSearch,
    pending_imports,
    returned_references,
)
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Decision, Plan, Step, forward_key
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.engine.planning.rehearsal import NotPredictable, Rehearsal
from stoker.engine.planning.relocation import CompletedMoves
from stoker.engine.planning.retention import Copies, RemovalOptions
from stoker.engine.planning.scope import NestedPlan
from stoker.engine.records.loader import LoadedInputs
from stoker.engine.records.observations import Observations
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded, current_of
from stoker.engine.records.state import Path, ResourceState
from stoker.engine.redaction.stacks import RedactedProperties
from stoker.plugins import capabilities
from stoker.plugins.resource import AttributeKey, ChildRequest
from stoker.plugins.unknowns import as_parameters
from stoker.schema.unknown import Unknown, find_unknowns
from stoker.store.records import Stack
from stoker.template.definition import Definition
from stoker.template.environment import NO_TRANSFERS
from stoker.template.expressions import UNDETERMINED, Facade

LOG = logging.getLogger(__name__)


class Selection(Protocol):
    """What the plan of a stack has of the plans of those nested in it."""

    def names(self, desired: DesiredState) -> list[str]:
        """Return the resources of a new nested stack that are planned, in order, with those that they depend on."""

    def steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Return those of the steps of a nested stack that the plan has."""


class Everything:
    """Implements Selection: a plan that is shown has all steps."""

    def names(self, desired: DesiredState) -> list[str]:
        return desired.order

    def steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return steps


@dataclass(frozen=True, slots=True)
class NestedPlanner:
    """Plans the stacks that are nested in one stack with these inputs.

    `shared` caches the plans of new stacks by their inputs; `with_kept` includes unchanged stacks in the result;
    `observed` is what the cloud has of existing stacks, if it was asked; `copies` are those to restore below the stack;
    `removal_options` is how the stack above removes resources. `read` are nested stacks that were read in advance, by
    the uuid of the resource around each; a plan changes them, so each is used once. `relocated` is what was moved in
    them. `imports` are those of the whole tree; `seeking` notes which ones nested stacks still lack. `above` is the
    path of the stack. `selection` is what the plan of the stack above has of nested stacks.
    """

    services: EngineServices
    connection: Connection
    stack: Stack
    inputs: LoadedInputs
    exports: Mapping[str, object] | None = None
    depth: int = 0
    zones: object = UNDETERMINED
    with_kept: bool = False
    observed: Observations | None = None
    copies: Copies = field(default_factory=Copies)
    removal_options: RemovalOptions = field(default_factory=RemovalOptions)
    shared: WeakValueDictionary[Any, Forward] = field(default_factory=WeakValueDictionary)
    read: dict[str, Recorded] = field(default_factory=dict)
    relocated: CompletedMoves | None = None
    imports: Imports = NO_IMPORTS
    seeking: NestedImportSearch | None = None
    above: Path = ()
    selection: Selection = field(default_factory=Everything)

    def plan_nested(
        self,
        target: Target,
        state: ResourceState | None,
        decision: Decision,
        hidden: RedactedProperties,
        secrets: frozenset[str],
    ) -> NestedPlan | None:
        """Implements scope.NestedStackPlanner."""
        if self.depth >= self.services.settings.max_nested_stack_depth:
            return None
        recorded = state if decision.kind in (StepKind.UPDATE, StepKind.KEEP) else None
        forecast = ChildForecast(self, target, recorded, hidden, secrets if hidden is not None else frozenset())
        sought = self.seeking is not None and self.inputs.environment.transfers.inside(target.name)
        if decision.kind is StepKind.KEEP and state is not None and not sought:
            return NestedPlan(decision, self._unchanged(state) if self.with_kept else (), forecast)
        try:
            plan = forecast.plan()
        except (NotPredictable, StokerError) as error:
            LOG.debug("cannot plan the nested stack of %s: %s", target.name, error)
            return None
        decision = _with_nested_steps(decision, plan)
        has_imports = bool(self.imports.below) and self.imports.reaches((*self.above, target.name))
        return NestedPlan(decision, self.selection.steps(plan.steps), forecast, plan.secrets, is_known=has_imports)

    def removed(self, state: ResourceState) -> tuple[Step, ...]:
        """Implements scope.NestedStackPlanner."""
        recorded = self.recorded(state.row.uuid)
        if recorded is None:
            return ()
        nested = self.below(state.row.name, recorded.stack, self.inputs)
        return plan_removal(
            self.removal_options.below(), list(recorded.states.values()), nested, ReasonCode.NESTED_STACK_DELETED
        ).steps

    def below(self, name: str, stack: Stack, inputs: LoadedInputs) -> NestedPlanner:
        """Return a planner for the stacks nested in the nested stack of the resource `name`."""
        above = (*self.above, name)
        return replace(
            self, stack=stack, inputs=inputs, depth=self.depth + 1, copies=self.copies.below(name), above=above
        )

    def recorded(self, uuid: str) -> Recorded | None:
        """Return the nested stack of a recorded resource, as the cloud has it if it was asked; None without one."""
        known = self.read.pop(uuid, None)
        return known or Recorded.below(self.services, self.connection, uuid, self.observed)

    def _unchanged(self, state: ResourceState) -> tuple[Step, ...]:
        recorded = self.recorded(state.row.uuid)
        steps = []
        for inner in recorded.current.values() if recorded is not None else ():
            name = inner.row.name
            steps.append(Step(forward_key(name), StepKind.KEEP, name, inner.row.type, inner.row.uuid))
            below = self._unchanged(inner) if inner.type.nested else ()
            steps += [
                replace(step, key=forward_key(f"{name}.{step.name}"), name=f"{name}.{step.name}") for step in below
            ]
        return tuple(steps)


def _with_nested_steps(decision: Decision, plan: Plan) -> Decision:
    """Decide to keep a resource whose only possible change is in its nested stack, if that is unchanged."""
    if [reason.code for reason in decision.reasons] != [ReasonCode.NESTED_MAY_CHANGE]:
        return decision
    changed = any(step.has_effect for step in plan.steps)
    return Decision(StepKind.UPDATE, (Reason(ReasonCode.NESTED_CHANGES),)) if changed else Decision(StepKind.KEEP)


class ChildForecast:
    """The future of the nested stack of one resource: its own plan, and the values after it.

    `state` is the resource as recorded, None for a new one. See scope.Forecast.
    """

    def __init__(
        self,
        inside: NestedPlanner,
        target: Target,
        state: ResourceState | None,
        hidden: RedactedProperties,
        secrets: frozenset[str],
    ) -> None:
        self._inside = inside
        self._target = target
        self._state = state
        self._hidden = hidden
        self._secrets = secrets
        self._planned: tuple[ChildRequest, Forward] | None = None

    @cached_property
    def _recorded(self) -> Recorded | None:
        inside, state = self._inside, self._state
        if state is None:
            return None
        return inside.recorded(state.row.uuid)

    @cached_property
    def _rehearsal(self) -> Rehearsal:
        # Without the proxy, whole plans of nested stacks would wait for the garbage collector.
        return Rehearsal(proxy(self), self._target, self._state, self._recorded, self._inside.stack)

    def plan(self) -> Plan:
        """Return the plan of the nested stack. Raises NotPredictable, or TemplateInvalid for an unusable template."""
        return self.forward(self._rehearsal.requested).plan()

    # -- values ------------------------------------------------------------------------------------------------------

    def reference(self) -> Any:
        """Implements scope.Forecast."""
        return self._as_seen_by_parent(self._rehearsal.reference(), None)

    def attribute(self, key: AttributeKey) -> object:
        """Implements scope.Forecast."""
        try:
            return self._as_seen_by_parent(self._rehearsal.attribute(key), *key)
        except (NotPredictable, StokerError):
            return Unknown.of(self._target.name, str(key[0]), *key[1:])

    def _as_seen_by_parent(self, value: object, attribute: Any, *path: Any) -> object:
        """Return a value of the nested stack, with dependencies on its resources replaced by the parent resource."""
        if next(iter(find_unknowns(value)), None) is None:
            return value
        if isinstance(value, Mapping):
            return {key: self._as_seen_by_parent(item, attribute, *path) for key, item in value.items()}
        if isinstance(value, list):
            return [self._as_seen_by_parent(item, attribute, *path) for item in value]
        return Unknown.of(self._target.name, attribute, *path)

    # -- the nested stack's plan ---------------------------------------------------------------------------------------

    def forward(self, request: ChildRequest) -> Forward:
        """Return the planner of the requested nested stack, after planning. Raises TemplateInvalid."""
        if self._planned is None or self._planned[0] is not request:
            inputs = self._inputs(request)
            key = self._key(inputs)
            forward = self._inside.shared.get(key) if key is not None else None
            if forward is None:
                forward = self._forward(inputs)
                forward.plan()
            if key is not None:
                self._inside.shared[key] = forward
            self._planned = (request, forward)
        return self._planned[1]

    def _key(self, inputs: LoadedInputs) -> object:
        """Return the cache key for equal new stacks; None for an existing stack, and if values are hidden."""
        target = self._target
        if self._recorded is not None or self._hidden is not None or inputs.environment.transfers:
            return None
        facade = repr((target.metadata, target.deletion_policy, target.update_policy))
        return (id(inputs.template), inputs.environment_digest, repr(inputs.parameters), facade, self._inside.depth)

    def _inputs(self, request: ChildRequest) -> LoadedInputs:
        loader, inputs, name = self._inside.services.loader, self._inside.inputs, request.template_name
        unknown: Mapping[str, object] = {}
        template = loader.template_named(inputs.files, name)
        if template is None:
            plain, unknown = as_parameters(request.template or {})
            template = loader.generated(plain)
        environment = inputs.environment.for_child(self._target.name, name).with_missing(request.registry)
        if self._inside.removal_options.undoes_imports:
            environment = environment.with_transfers(NO_TRANSFERS)
        return loader.hypothetical_inputs(template, environment, inputs.files, {**request.parameters, **unknown})

    def _forward(self, inputs: LoadedInputs) -> Forward:
        services, recorded, inside = self._inside.services, self._recorded, self._inside
        definition = self._bound(inputs)
        imports = inside.imports.below.get((*inside.above, self._target.name), NO_IMPORTS)
        states = {} if recorded is None else recorded.states
        states = {**states, **{state.row.uuid: state for state in imports.states}}
        current = current_of(states.values())
        facade = Facade(self._target.metadata, self._target.deletion_policy, self._target.update_policy)
        scope = RecordedScope(current.get, facade, inside.zones, prefetched=dict(imports.prefetched))
        stack = recorded.stack if recorded is not None else inside.stack
        moved = inside.relocated if recorded is not None else None
        former = None
        if recorded is not None and recorded.inputs is not None:
            former = services.loader.bind(recorded.stack, recorded.inputs, strict=False, exports=inside.exports)
        action = "UPDATE" if recorded is not None else "CREATE"
        desired = DesiredState.of(services, definition, inputs)
        desired.skipped = inside.removal_options.skipped
        if inside.removal_options.undoes_imports:
            returned_references(desired, current)
        if inside.seeking is not None:
            path = (*inside.above, self._target.name)
            inside.seeking.search(path, inside.stack, recorded, facade, desired, states.values())
        if recorded is not None:
            desired.restore = inside.copies.below(self._target.name).restored_values(current)
        awaited = {}
        if inputs.environment.transfers:
            pending = pending_imports(desired, states.values(), None)
            awaited = {name: entry.object for name, entry in pending.items()}
        if not (states or awaited or inside.seeking):
            desired.order = inside.selection.names(desired)
        return Forward(
            action,
            desired,
            list(states.values()),
            scope,
            Policies.of(services, stack, action),
            former=former,
            above=self._seen_by_parent(),
            secrets_above=self._secrets | moved.secrets if moved is not None else self._secrets,
            moved=moved.names(stack) if moved is not None else {},
            begun=moved.new if moved is not None else frozenset(),
            nested=inside.below(self._target.name, stack, inputs),
            removal_options=replace(
                inside.removal_options, action=action, is_return=inside.removal_options.undoes_imports
            ),
            imported=imports.unread,
            awaited=awaited,
        )

    def _bound(self, inputs: LoadedInputs) -> Definition:
        loader, exports = self._inside.services.loader, self._inside.exports
        if self._recorded is None:
            return loader.bind_new(self._inside.stack.project_id, inputs, exports=exports)
        return loader.bind(self._recorded.stack, inputs, strict=False, exports=exports)

    def _seen_by_parent(self) -> Definition | None:
        """Return the nested stack with HIDDEN in place of the values hidden above; None if there are none."""
        if self._hidden is None:
            return None
        request = capabilities.child_of(self._target.type, self._hidden)
        if request is None or request.template is None:
            raise NotPredictable("the result depends on hidden values")
        return self._bound(self._inputs(request))
