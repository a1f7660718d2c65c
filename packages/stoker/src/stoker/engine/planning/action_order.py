"""Plans of actions that leave the definition as it is, and of removals."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step, forward_key, removal_steps
from stoker.engine.planning.planner import DesiredState, removal_of, with_inside
from stoker.engine.planning.reasons import ReasonCode
from stoker.engine.planning.retention import RemovalOptions
from stoker.engine.planning.scope import NestedStackPlanner
from stoker.engine.records.state import ResourceState


class ActionOrder(Enum):
    """The order of resources in an action that does not change the definition."""

    REQUIREMENTS_FIRST = "requirements first"
    DEPENDENTS_FIRST = "dependents first"
    ANY = "any"


def plan_removal(
    removal_options: RemovalOptions,
    states: list[ResourceState],
    nested: NestedStackPlanner | None = None,
    why: ReasonCode | None = None,
) -> Plan:
    """Return the plan that removes all resources that are not skipped, for the reason `why`; by default that of the
    action.
    """
    rolls_back = removal_options.action == "ROLLBACK"
    reason = why or (ReasonCode.CREATION_ROLLED_BACK if rolls_back else ReasonCode.STACK_DELETED)
    leaving = [state for state in reversed(states) if state.row.uuid not in removal_options.skipped]
    steps = removal_steps(removal_of(state, reason, removal_options) for state in leaving)
    return Plan(removal_options.action, tuple(with_inside(steps, states, nested, {})))


def plan_verb(
    action: str, states: list[ResourceState], *, order: ActionOrder, not_created: Iterable[Step] = ()
) -> Plan:
    """Return the plan that applies an action to every current resource; `not_created` are steps of the others."""
    current = {state.row.name: state for state in states if state.row.replaced_by is None}
    first: dict[str, set[str]] = {name: set() for name in current}
    for name, state in current.items():
        for required in state.requires & current.keys():
            if order is ActionOrder.REQUIREMENTS_FIRST:
                first[name].add(forward_key(required))
            elif order is ActionOrder.DEPENDENTS_FIRST:
                first[required].add(forward_key(name))
    steps = [
        Step(forward_key(name), StepKind.VERB, name, state.row.type, state.row.uuid, after=frozenset(first[name]))
        for name, state in current.items()
    ]
    return Plan(action, (*steps, *not_created))


def not_created_checks(desired: DesiredState, states: list[ResourceState]) -> list[Step]:
    """Return steps for the resources that were never created: a check fails for them, whatever their type."""
    created = {state.row.name for state in states}
    return [
        Step(forward_key(name), StepKind.VERB, name, desired.definition.resources[name].type)
        for name in desired.types
        if name not in created
    ]
