"""Check the plan of a creation or an update before its first change, and refuse what is known to fail."""

from __future__ import annotations

import logging

from stoker.base.errors import PreflightFailed
from stoker.engine.planning.plan import Plan
from stoker.engine.preflight.checks import check_steps
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.whole_plan import with_nested

LOG = logging.getLogger(__name__)

_CHECKED = ("CREATE", "UPDATE")


async def check_before_first_change(run: OperationContext, whole: Plan | None) -> None:
    """Check the plan of a root stack's creation or update. Raises PreflightFailed with all that is known to fail.

    `whole` is the plan with the steps of all nested stacks, if it has been made before.

    An operation that is resumed was checked before its first change. The operation of a nested stack is part of one
    that was checked; one that a signal begins is not checked.
    """
    plan, wanted = run.planning.plan, run.planning.wanted
    run.planning.plan = plan.without_subjects() if plan is not None else None
    operation, settings = run.operation, run.services.settings
    wants = settings.preflight and not operation.skip_preflight and operation.action in _CHECKED
    if plan is None or wanted is None or not wants or operation.epoch > 1 or run.stack.parent_id is not None:
        return
    if whole is None:
        whole = await with_nested(run, wanted) if plan.reaches_below() else plan
    seconds, skipped = settings.validation_seconds, settings.preflight_skipped
    report = await check_steps(whole, run.cloud, run.services.clock, seconds, skipped)
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
