"""The plan that brings the objects of a stack back to its definition, with what the cloud has now."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection

from stoker.contract.stacks import Refresh
from stoker.engine.inspection.cloud_refresh import CloudRefresh
from stoker.engine.inspection.examination import examine_tree
from stoker.engine.planning.decide import Policies
from stoker.engine.planning.nested import NestedPlanner
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import DesiredState, Forward
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded
from stoker.store.records import Stack


async def returning_plan(services: EngineServices, stack: Stack) -> Plan:
    """Return the plan of an update to the definition that the stack has, with its effects on nested stacks."""
    inputs = await services.loader.load(stack.inputs)
    exports = await services.loader.exports(stack.project_id, inputs.template)
    definition = await services.bind(stack, inputs, exports)
    examined = await examine_tree(services, stack)
    look = CloudRefresh(services, stack, Refresh.ALL, definition)
    await look.begin()

    def on(connection: Connection) -> Plan:
        observed = look.added_to(examined)
        desired = DesiredState.of(services, definition, inputs)
        recorded = Recorded.of(services, connection, stack, observed)
        inside = NestedPlanner(services, connection, stack, inputs, exports, stack.depth, observed=observed)
        scope, policies = RecordedScope(recorded.current.get), Policies.of(services, stack, "UPDATE")
        return Forward("UPDATE", desired, list(recorded.states.values()), scope, policies, nested=inside).plan()

    plan: Plan = await services.database.read_on(partial(services.evaluator.compute_on_thread, stack.project_id), on)
    return plan.without_subjects()
