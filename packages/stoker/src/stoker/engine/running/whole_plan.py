"""The plan of a run with the steps of all nested stacks, for what must know all of them before the first change."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection

from stoker.engine.inspection.examination import examine_tree
from stoker.engine.planning.action_order import plan_removal
from stoker.engine.planning.decide import Policies
from stoker.engine.planning.nested import Everything, NestedPlanner, Selection
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.stack_view import Recorded, read_tree
from stoker.engine.running.operation_context import OperationContext


async def with_nested(
    run: OperationContext,
    desired: DesiredState,
    selection: Selection | None = None,
) -> Plan:
    """Return the plan with the steps of all nested stacks, as a preview has it.

    `selection` is what is needed of nested stacks, by default everything: a whole plan of a large tree takes 3 kB for
    each resource.
    """
    services, stack, inputs = run.services, run.stack, desired.inputs
    observed = await examine_tree(services, stack)
    exports = await services.loader.exports(stack.project_id, inputs.template)

    def on(connection: Connection) -> Plan:
        zones, relocated = run.scope.zones, run.planning.relocated
        below = relocated.tree.below if relocated is not None else {}
        inside = NestedPlanner(
            services,
            connection,
            stack,
            inputs,
            exports,
            stack.depth,
            zones,
            observed=observed,
            read=dict(below),
            relocated=relocated,
            removal_options=run.planning.removal_options,
            selection=selection or Everything(),
        )
        scope = RecordedScope(run.current.get, run.scope.parent, zones)
        policies = Policies.of(services, stack, run.operation.action)
        states = list(run.states.values())
        removal_options = run.planning.removal_options
        return Forward(
            run.operation.action,
            desired,
            states,
            scope,
            policies,
            nested=inside,
            removal_options=removal_options,
            imported=run.planning.imported,
        ).plan()

    return await services.database.read_on(partial(services.evaluator.compute_on_thread, stack.project_id), on)


async def removal_with_nested(run: OperationContext) -> Plan:
    """Return the plan of a run that removes all resources, with those of all nested stacks."""
    services, stack, removal_options = run.services, run.stack, run.planning.removal_options

    def on(connection: Connection) -> Plan:
        recorded = Recorded.of(services, connection, stack)
        inputs = recorded.inputs or services.loader.load_now(connection, stack.inputs)
        tree = read_tree(services, connection, stack)
        below = {each.stack.parent_resource or "": each for each in tree if each.stack.id != stack.id}
        inside = NestedPlanner(
            services, connection, stack, inputs, depth=stack.depth, removal_options=removal_options, read=below
        )
        return plan_removal(removal_options, list(recorded.states.values()), inside)

    return await services.database.read_on(partial(services.evaluator.compute_on_thread, stack.project_id), on)
