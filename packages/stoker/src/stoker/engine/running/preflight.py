"""Check the plan of a creation or an update before its first change, and refuse what is known to fail."""

from __future__ import annotations

import logging
from functools import partial

from sqlalchemy import Connection

from stoker.base.errors import PreflightFailed
from stoker.engine.inspection.observing import examine_tree
from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.nested import NestedPlanner
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import Forward, Wanted
from stoker.engine.planning.policies import Policies
from stoker.engine.preflight.checks import check_steps
from stoker.engine.records.recorded import Recorded
from stoker.engine.records.scope import RecordedScope
from stoker.engine.running.operation_context import OperationContext

LOG = logging.getLogger(__name__)

_CHECKED = ("CREATE", "UPDATE")


async def check_before_first_change(run: OperationContext) -> None:
    """Check the plan of a root stack's creation or update. Raises PreflightFailed with all that is known to fail.

    An operation that is resumed was checked before its first change. The operation of a nested stack is part of one
    that was checked; one that a signal begins is not checked.
    """
    plan, wanted = run.planning.plan, run.planning.wanted
    run.planning.plan = plan.without_subjects() if plan is not None else None
    operation, settings = run.operation, run.services.settings
    wants = settings.preflight and not operation.skip_preflight and operation.action in _CHECKED
    if plan is None or wanted is None or not wants or operation.epoch > 1 or run.stack.parent_id is not None:
        return
    if any(step.kind is not Kind.KEEP and step.subject is not None and step.subject.type.nested for step in plan.steps):
        plan = await _with_nested(run, wanted)
    seconds, skipped = settings.validation_seconds, settings.preflight_skipped
    report = await check_steps(plan, run.cloud, run.services.clock, seconds, skipped)
    if report.results and operation.plan is not None:  # the first commit stores the plan
        sealer = run.services.sealer
        operation.plan = sealer.seal({**sealer.open(operation.plan), "preflight": report.to_data()})
    for result in report.results:
        if result not in report.failures:
            LOG.warning("before the first change of stack %s: %s", run.stack.name, result.diagnostic.text())
    if report.failures:
        raise PreflightFailed(
            f"Nothing was changed, since this is known to fail ({len(report.failures)}):\n{report.text()}"
        )


async def _with_nested(run: OperationContext, wanted: Wanted) -> Plan:
    """Return the plan with the steps of all nested stacks, as a preview has it."""
    services, stack, inputs = run.services, run.stack, wanted.inputs
    observed = await examine_tree(services, stack)
    exports = await services.loader.exports(stack.project_id, inputs.template)

    def on(connection: Connection) -> Plan:
        recorded = Recorded.of(services, connection, stack, observed)
        zones = run.scope.zones
        inside = NestedPlanner(services, connection, stack, inputs, exports, stack.depth, zones, observed=observed)
        imported = {uuid: state for uuid, state in run.states.items() if uuid in run.planning.imported}
        current = {**recorded.current, **{state.row.name: state for state in imported.values()}}
        scope = RecordedScope(current.get, run.scope.parent, zones)
        policies = Policies.of(services, stack, run.operation.action)
        states = list({**recorded.states, **imported}.values())
        return Forward(run.operation.action, wanted, states, scope, policies, nested=inside).plan()

    return await services.database.read_on(partial(services.evaluator.apart, stack.project_id), on)
