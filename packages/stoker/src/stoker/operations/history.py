"""The operations of a stack: the requester, the time, the plan and the result of each."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.base.context import RequestContext
from stoker.contract.events import ListOperations, OperationDetails, OperationView, ShowOperation
from stoker.engine.planning.plan import read_plan
from stoker.engine.records.earlier_failures import failure_of
from stoker.engine.records.services import EngineServices
from stoker.operations.late_decisions import with_nested_decisions
from stoker.operations.lookup import find_operation, find_stack
from stoker.operations.views import failure_view
from stoker.store import queries
from stoker.store.records import FAILED, Operation

MOST = 500
"""Maximum number of operations on one page."""


async def operation_list(
    services: EngineServices, context: RequestContext, request: ListOperations
) -> Sequence[OperationView]:
    """Return a page of the stack's operations, newest first, without their plans.

    `marker` is the id of the last operation of the previous page. Raises EntityNotFound for a marker of another stack.
    """
    stack = await find_stack(services, context, request.ref, deleted=True)
    after = await find_operation(services, stack, request.marker) if request.marker is not None else None
    limit = MOST if request.limit is None else min(request.limit, MOST)
    operations = await services.database.read(queries.operations_of, stack.id, limit, after)
    return [_view(operation) for operation in operations]


async def operation_show(services: EngineServices, context: RequestContext, request: ShowOperation) -> OperationDetails:
    """Return an operation with its plan; values of hidden parameters and properties are redacted.

    Raises EntityNotFound.
    """
    stack = await find_stack(services, context, request.ref, deleted=True)
    operation = await find_operation(services, stack, request.operation_id)
    plan = read_plan(services.sealer.open(operation.plan)) if operation.plan else None
    if plan is not None and plan.get("policies"):
        plan = {**plan, "policies": await with_nested_decisions(services, operation.id, plan["policies"])}
    return {**_view(operation), "plan": plan}


def _view(operation: Operation) -> OperationView:
    """Return the entry for an operation in the list."""
    began = operation.started_at
    ended = operation.finished_at
    return {
        "id": operation.id,
        "stack_id": operation.stack_id,
        "action": operation.action,
        "status": operation.status,
        "reason": operation.reason,
        "reason_code": operation.reason_code,
        "failure": failure_view(failure_of(operation)) if operation.status == FAILED else None,
        "request_id": operation.request_id,
        "user_id": operation.user_id,
        "user_name": operation.user_name,
        "created_at": operation.created_at,
        "started_at": began,
        "finished_at": ended,
        "duration": None if began is None or ended is None else ended - began,
        "observe": operation.observe,
        "parent_operation": operation.parent_operation,
        "engine": operation.owner,
    }
