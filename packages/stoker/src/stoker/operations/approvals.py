"""Approve changes of stacks, reject them, or use break-glass; and set what changes need."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Conflict, EntityNotFound, Forbidden
from stoker.contract.approvals import (
    BreakGlass,
    ChangeControl,
    ChangeRequestDetails,
    ChangeRequestView,
    ControlView,
    ListChangeRequests,
    RequirementView,
    ReviewChangeRequest,
    ShowChangeRequest,
    ShowControl,
)
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.change_control import Control, ReceiverKind
from stoker.engine.records.beginnings import combined_control, control_now
from stoker.engine.records.services import EngineServices
from stoker.operations.clearance import record_with_event
from stoker.operations.lookup import tree_or_project
from stoker.operations.plan_digests import PlanDigest, records_of
from stoker.store import approvals, queries, settings
from stoker.store.approvals import Approval, ApprovalDecision, Requirement
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED, Stack
from stoker.store.survey_records import ChangeRequest

if TYPE_CHECKING:
    from stoker.engine.notifications.notices import Notice

LOG = logging.getLogger(__name__)

LONGEST_TEXT = 1000
"""Characters of a comment or a reason."""

STATUSES = ("WAITING", "APPROVED", "REJECTED", "USED", "EXPIRED", "OUTDATED")
_OPEN = ("WAITING", "APPROVED", "REJECTED")


# -- reading -------------------------------------------------------------------------------------------------------


async def change_request_list(
    services: EngineServices, context: RequestContext, request: ListChangeRequests
) -> Sequence[ChangeRequestView]:
    """Return the requests of the caller's project, newest first."""
    unknown = set(request.status) - set(STATUSES)
    if unknown:
        raise BadValue(f"Unknown status {min(unknown)!r}: a request is {', '.join(STATUSES)}.")

    def read(connection: Connection) -> list[ChangeRequestView]:
        rows = approvals.of_project(connection, context.project_id, request.plan_digest)
        return _views(connection, services, context, rows)

    found = await services.database.read(read)
    return [view for view in found if not request.status or view["status"] in request.status]


async def change_request_show(
    services: EngineServices, context: RequestContext, request: ShowChangeRequest
) -> ChangeRequestDetails:
    """Return a request of the caller's project with its plan. Raises EntityNotFound."""
    return await services.database.read(_details, services, context, request.request_id)


def _details(
    connection: Connection, services: EngineServices, context: RequestContext, request_id: str
) -> ChangeRequestDetails:
    row = _found(connection, context, request_id)
    [view] = _views(connection, services, context, [row])
    return {**view, "plan": services.sealer.open(row.body)["plan"]}


def _found(
    connection: Connection,
    context: RequestContext,
    request_id: str,
    read: Callable[[Connection, str, str], ChangeRequest | None] = approvals.by_id,
) -> ChangeRequest:
    row = read(connection, context.project_id, request_id)
    if row is None:
        raise EntityNotFound(f"The change request ({request_id}) could not be found.")
    return row


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the status of requests depends on: approvals and rejections, by request; what changes need, and the records,
    by stack; and the names of stacks that exist.
    """

    approvals: Mapping[str, Sequence[Approval]]
    controls: Mapping[str, object]
    records: Mapping[str, str]
    names: Collection[str]


def _views(
    connection: Connection, services: EngineServices, context: RequestContext, rows: Sequence[ChangeRequest]
) -> list[ChangeRequestView]:
    now = services.clock.now()
    live = [row for row in rows if row.operation is None and now < row.expires_at]
    roots = {row.stack_id for row in live if row.stack_id is not None}
    facts = _Facts(
        approvals.approvals_of(connection, [row.id for row in rows]),
        settings.controls_of(connection, context.project_id, roots),
        records_of(connection, services, roots),
        approvals.existing_names(connection, context.project_id, {row.stack_name for row in live if not row.stack_id}),
    )
    return [_view(services, context, row, facts) for row in rows]


def _view(services: EngineServices, context: RequestContext, row: ChangeRequest, facts: _Facts) -> ChangeRequestView:
    given_approvals = facts.approvals.get(row.id, ())
    needs = [Requirement(**each) for each in services.sealer.open(row.body)["requirements"]]
    left = approvals.lacking(needs, row.user_id, given_approvals)
    status = _status(services, row, facts, left)
    control = combined_control(
        services, [facts.controls[key] for key in {"", row.stack_id or ""} & facts.controls.keys()]
    )
    return {
        "id": row.id,
        "project_id": row.project_id,
        "stack_id": row.stack_id,
        "stack_name": row.stack_name,
        "action": row.action,
        "plan_digest": row.digest,
        "status": status,
        "user_id": row.user_id,
        "user_name": row.user_name,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "opens_at": control.opens_at(services.clock.now()),
        "requires": _requirements(needs),
        "lacks": _requirements(left if row.emergency is None else []),
        "approvals": [
            {
                "user_id": each.user_id,
                "user_name": each.user_name,
                "verdict": each.verdict.value,
                "comment": each.comment,
                "created_at": each.created_at,
            }
            for each in given_approvals
        ],
        "emergency": orjson.loads(row.emergency) if row.emergency is not None else None,
        "operation": row.operation,
        "waits_for_caller": status == "WAITING"
        and context.user_id not in (row.user_id, *(each.user_id for each in given_approvals))
        and _counts(context, left),
    }


def _requirements(needs: Sequence[Requirement]) -> list[RequirementView]:
    return [{"role": each.role, "number": each.number} for each in needs]


def _counts(context: RequestContext, needs: Sequence[Requirement]) -> bool:
    """Return whether the caller has a role that is asked for."""
    return any(each.role is None or each.role in context.roles for each in needs)


def _status(services: EngineServices, row: ChangeRequest, facts: _Facts, left: Sequence[Requirement]) -> str:
    if row.operation is not None:
        return "USED"
    if services.clock.now() >= row.expires_at:
        return "EXPIRED"
    if _is_outdated(row, facts):
        return "OUTDATED"
    if row.emergency is not None:
        return "APPROVED"
    if any(each.verdict is ApprovalDecision.REJECTED for each in facts.approvals.get(row.id, ())):
        return "REJECTED"
    return "WAITING" if left else "APPROVED"


def _is_outdated(row: ChangeRequest, facts: _Facts) -> bool:
    if row.stack_id is None:
        return row.stack_name in facts.names
    return facts.records[row.stack_id] != PlanDigest.parse(row.digest).record


# -- reviewing ----------------------------------------------------------------------------------------------------


async def change_request_review(
    components: RecordingComponents, context: RequestContext, request: ReviewChangeRequest
) -> ChangeRequestDetails:
    """Record that the caller approves or rejects a request.

    Raises EntityNotFound, BadValue, Conflict for a request that is not open any more, and Forbidden for the author, and
    for a caller without any role that is asked for.
    """
    services = components.services
    if request.verdict not in set(ApprovalDecision):
        raise BadValue(f"Unknown verdict {request.verdict!r}: it must be one of {', '.join(ApprovalDecision)}.")
    _check_text(request.comment, "comment", 0)
    verdict = ApprovalDecision(request.verdict)
    approval = Approval(
        request.request_id,
        context.user_id,
        context.user_name,
        verdict,
        context.roles,
        request.comment,
        services.clock.now(),
    )

    def record(connection: Connection) -> None:
        row = _found(connection, context, request.request_id, approvals.locked)
        view = _refuse_closed(connection, services, context, row)
        if context.user_id == row.user_id:
            raise Forbidden("The author of a change cannot approve or reject it.")
        if not _counts(context, [Requirement(each["role"], each["number"]) for each in view["requires"]]):
            roles = ", ".join(sorted({each["role"] or "" for each in view["requires"]})) or "any: no approval is needed"
            raise Forbidden(f"The request needs approvals of users with other roles than yours ({roles}).")
        approvals.record_approval(connection, approval)

    text = f"Request {request.request_id} {verdict.lower()} by {context.user_name or context.user_id}"
    text += f": {request.comment}" if request.comment else ""
    from stoker.engine.notifications.notices import Notice  # only where approvals are used

    kind = Notice.APPROVED if verdict is ApprovalDecision.APPROVED else Notice.REJECTED
    await _commit(components, context, request.request_id, Batch().then(record), kind, text)
    LOG.info("%s", text)
    return await services.database.read(_details, services, context, request.request_id)


async def change_request_break_glass(
    components: RecordingComponents, context: RequestContext, request: BreakGlass
) -> ChangeRequestDetails:
    """Allow a change at once, with a reason, which an event of the stack and the log have.

    Raises EntityNotFound, BadValue, and Conflict for a request that is not open any more.
    """
    services = components.services
    reason = request.reason.strip()
    _check_text(reason, "reason", 1)
    emergency = {
        "user_id": context.user_id,
        "user_name": context.user_name,
        "reason": reason,
        "created_at": services.clock.now(),
    }

    def record(connection: Connection) -> None:
        row = _found(connection, context, request.request_id, approvals.locked)
        _refuse_closed(connection, services, context, row)
        approvals.break_glass(connection, row.id, orjson.dumps(emergency).decode())

    user = context.user_name or context.user_id
    text = f"Break-glass by {user} for the request {request.request_id}: {reason}"
    from stoker.engine.notifications.notices import Notice  # only where approvals are used

    await _commit(components, context, request.request_id, Batch().then(record), Notice.EMERGENCY, text)
    LOG.warning("%s (user %s, project %s)", text, context.user_id, context.project_id)
    return await services.database.read(_details, services, context, request.request_id)


def _refuse_closed(
    connection: Connection, services: EngineServices, context: RequestContext, row: ChangeRequest
) -> ChangeRequestView:
    [view] = _views(connection, services, context, [row])
    if view["status"] not in _OPEN:
        raise Conflict(f"The request {row.id} is {view['status']}; it cannot be reviewed any more.")
    return view


def _check_text(text: str, what: str, least: int) -> None:
    if not least <= len(text) <= LONGEST_TEXT:
        raise BadValue(f"The {what} must have {least} to {LONGEST_TEXT} characters.")


async def _commit(
    components: RecordingComponents, context: RequestContext, request_id: str, batch: Batch, kind: Notice, text: str
) -> None:
    from stoker.engine.notifications.notices import About, Notice, notices

    services = components.services

    def about(connection: Connection) -> tuple[Stack | None, ChangeRequest, Control]:
        row = _found(connection, context, request_id)
        stack = None if row.stack_id is None else queries.stack_by_id(connection, row.stack_id)
        return stack, row, control_now(connection, services, row.project_id, row.stack_id)

    stack, row, control = await services.database.read(about)
    batch.add(*notices(services, control, kind, About.request(row), text))
    await record_with_event(components, stack, batch, FAILED if kind is Notice.REJECTED else COMPLETE, text)


# -- change control ------------------------------------------------------------------------------------------------


async def change_control_show(services: EngineServices, context: RequestContext, request: ShowControl) -> ControlView:
    """Return what changes of a stack, or of all stacks of the project, need."""
    project_id, stack_id = await tree_or_project(services, context, request.ref)
    return await _control_view(services, project_id, stack_id)


async def change_control_change(
    components: RecordingComponents, context: RequestContext, request: ChangeControl
) -> ControlView:
    """Set what changes of a stack, or of all stacks of the project, need. Raises BadValue."""
    services = components.services
    project_id, stack_id = await tree_or_project(services, context, request.ref)
    body = None
    if request.control is not None:
        _refuse_unsent(services, Control.read(request.control))
        body = dict(request.control)
    now = services.clock.now()

    def record(connection: Connection) -> None:
        settings.save_control(connection, project_id, stack_id or "", body, context.user_id, now)

    user = context.user_name or context.user_id
    text = f"What changes need was {'set' if body is not None else 'removed'} by {user}"
    stack = None if stack_id is None else await services.database.read(queries.stack_by_id, stack_id)
    await record_with_event(components, stack, Batch().then(record), COMPLETE, text)
    LOG.info("%s (project %s, stack %s)", text, project_id, stack_id or "all")
    view = await _control_view(services, project_id, stack_id)
    webhooks = services.settings.webhooks
    named = Control.read(body).notify if body is not None else ()
    if webhooks is not None and any(receiver.kind is ReceiverKind.WEBHOOK for receiver in named):
        view["webhook_key"] = webhooks.key_of(project_id)
    return view


def _refuse_unsent(services: EngineServices, control: Control) -> None:
    """Raise BadValue for receivers that this service cannot notify."""
    kinds = {receiver.kind for receiver in control.notify}
    if ReceiverKind.WEBHOOK in kinds and services.settings.webhooks is None:
        raise BadValue("notify names a webhook, but the operator has set no secret for webhooks ([webhooks] secret).")
    if ReceiverKind.EMAIL in kinds and services.settings.mail is None:
        raise BadValue("notify names an address, but the operator has set no SMTP server ([smtp] host).")


async def _control_view(services: EngineServices, project_id: str, stack_id: str | None) -> ControlView:
    control = await services.database.read(control_now, services, project_id, stack_id)
    chosen = await services.database.read(settings.controls_of, project_id, [stack_id] if stack_id else [])
    now = services.clock.now()
    opens_at = control.opens_at(now)
    return {
        "chosen": chosen.get(stack_id or ""),
        "approvals": _requirements(control.requirements),
        "automatic": control.automatic.value,
        "valid_hours": control.hours,
        "open": opens_at == now,
        "opens_at": opens_at,
    }
