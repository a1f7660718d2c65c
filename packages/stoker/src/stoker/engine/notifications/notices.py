"""Notices about changes that wait for people: to the addresses and webhooks that change control names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import orjson

from stoker.base.ids import new_id
from stoker.base.mail import MailFailed, send_mail
from stoker.base.webhooks import WebhookFailed, post
from stoker.engine.change_control import Control, Receiver, ReceiverKind
from stoker.engine.records.services import RecordingServices
from stoker.store import approvals
from stoker.store.records import LATER_NOTICE, NOTICE, Announcement, Stack
from stoker.store.survey_records import ChangeRequest
from stoker_foundation.clock import isoformat

LOG = logging.getLogger(__name__)

KEEP_SECONDS = 3600.0
"""Seconds for which notices are kept for a server that cannot be reached."""

_NO_STACK = ""


class Notice(StrEnum):
    """What has happened."""

    REQUESTED = "approval.requested"
    APPROVED = "approval.approved"
    REJECTED = "approval.rejected"
    EMERGENCY = "approval.emergency"
    EXPIRED = "approval.expired"
    BLOCKED = "automatic.blocked"


@dataclass(frozen=True, slots=True)
class About:
    """What a notice is about: a request, or a stack."""

    project_id: str
    stack_id: str | None
    stack_name: str
    facts: Mapping[str, object]

    @classmethod
    def request(cls, row: ChangeRequest) -> About:
        """Return a change that waits."""
        return cls(
            row.project_id,
            row.stack_id,
            row.stack_name,
            {
                "request_id": row.id,
                "action": row.action,
                "plan_digest": row.digest,
                "author": row.user_name or row.user_id,
                "expires_at": isoformat(row.expires_at),
            },
        )

    @classmethod
    def stack(cls, stack: Stack) -> About:
        """Return a stack of a tree."""
        return cls(stack.project_id, stack.root_id, stack.name, {})


def notices(
    services: RecordingServices, control: Control, kind: Notice, about: About, text: str, due: float | None = None
) -> list[Announcement]:
    """Return the rows that notify all whom the change control names, each for itself; with `due`, not before that."""
    message = {
        "type": kind.value,
        "time": isoformat(services.clock.now()),
        "project_id": about.project_id,
        "stack_id": about.stack_id,
        "stack_name": about.stack_name,
        **about.facts,
        "text": text,
    }
    return [_row(services, about, receiver, message, due) for receiver in control.notify]


def _row(
    services: RecordingServices, about: About, receiver: Receiver, message: Mapping[str, object], due: float | None
) -> Announcement:
    body = {
        "kind": receiver.kind.value,
        "address": receiver.address,
        "project_id": None if receiver.of_operator else about.project_id,
        "message": message,
        "due": due,
    }
    lane = NOTICE if due is None else LATER_NOTICE
    stack_id = about.stack_id or _NO_STACK
    return Announcement(new_id(), stack_id, services.id, lane, orjson.dumps(body).decode(), services.clock.now())


async def send_notices(services: RecordingServices, rows: Sequence[Announcement]) -> set[str]:
    """Send notices; return the IDs of the finished rows: those that were sent, or refused, or too old."""
    done = await asyncio.gather(*(_sent(services, row, orjson.loads(row.body), row.created_at) for row in rows))
    return {row.id for row, finished in zip(rows, done, strict=True) if finished}


async def send_due_notices(services: RecordingServices, rows: Sequence[Announcement]) -> set[str]:
    """Send those notices about requests that have expired since; return the IDs of the finished rows."""
    now, finished = services.clock.now(), set[str]()
    for row in rows:
        body = orjson.loads(row.body)
        if now < body["due"]:
            continue
        message = body["message"]
        request = await services.database.read(approvals.by_id, message["project_id"], message["request_id"])
        is_open = request is not None and request.operation is None and request.pending is not None
        if not is_open or await _sent(services, row, body, body["due"]):
            finished.add(row.id)
    return finished


async def _sent(services: RecordingServices, row: Announcement, body: Mapping[str, object], since: float) -> bool:
    """Send a notice; return whether it need not be sent again."""
    send = partial(_mail if body["kind"] == ReceiverKind.EMAIL else _call, services, row.id, body)
    try:
        await send()
    except (MailFailed, WebhookFailed) as error:
        if error.temporary and services.clock.now() < since + KEEP_SECONDS:
            LOG.info("a notice for %s waits: %s", body["address"], error)
            return False
        LOG.warning("dropped a notice for %s: %s", body["address"], error)
    return True


async def _mail(services: RecordingServices, identifier: str, body: Mapping[str, Any]) -> None:
    settings = services.settings.mail
    if settings is None:
        raise MailFailed("no SMTP server is configured", temporary=False)
    message = body["message"]
    subject = f"[stoker] {_SUBJECTS[Notice(message['type'])]}: stack {message['stack_name']}"
    shown = [f"{key}: {value}" for key, value in message.items() if key not in ("text", "type") and value is not None]
    await send_mail(settings, identifier, body["address"], subject, "\n".join([message["text"], "", *shown, ""]))


async def _call(services: RecordingServices, identifier: str, body: Mapping[str, Any]) -> None:
    settings = services.settings.webhooks
    if settings is None:
        raise WebhookFailed("no secret for webhooks is configured", temporary=False)
    message = {"id": identifier, **body["message"]}
    key = settings.key_of(body["project_id"])
    await post(settings, body["address"], key, orjson.dumps(message), message["type"], services.clock.now())


_SUBJECTS = {
    Notice.REQUESTED: "Approval asked for",
    Notice.APPROVED: "Approved",
    Notice.REJECTED: "Rejected",
    Notice.EMERGENCY: "Allowed in an emergency",
    Notice.EXPIRED: "Request expired",
    Notice.BLOCKED: "Automatic action held back",
}
