"""Log lines about the start, the takeover and the end of operations."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager

from stoker.base.context import RequestContext
from stoker.base.logging import operation_scope
from stoker.store.records import Operation, Stack

LOG = logging.getLogger(__name__)


def lines_about(operation: Operation, stack: Stack | None) -> AbstractContextManager[None]:
    """Add the operation, and if recorded the request that started it, to all log lines inside the context."""
    asked = None
    if operation.request_id is not None:
        user, name = operation.user_id or "", operation.user_name or ""
        asked = RequestContext(operation.request_id, user, name, stack.project_id if stack is not None else "")
    return operation_scope(operation.id, asked)


def log_start(operation: Operation, stack: Stack, former_owner: str | None) -> None:
    """Log the start; `former_owner` is the engine that ran it before, unless that engine handed it over."""
    if operation.epoch == 1:
        LOG.info("starting %s of stack %s", operation.action, stack.name)
    elif former_owner is None:
        LOG.info("resuming %s of stack %s: another engine handed it over", operation.action, stack.name)
    else:
        LOG.info("resuming %s of stack %s: taken over from engine %s", operation.action, stack.name, former_owner)


def log_end(operation: Operation, stack: Stack | None) -> None:
    """Log the end with the recorded reason, in which hidden values are redacted, on one line."""
    name = stack.name if stack is not None else operation.stack_id
    seconds = (operation.finished_at or 0.0) - (operation.started_at or operation.created_at)
    reason = " ".join(operation.reason.split())
    LOG.info(
        "%s of stack %s has ended: %s after %.1f seconds: %s",
        operation.action, name, operation.status, seconds, reason,
    )  # fmt: skip
