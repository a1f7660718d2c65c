"""What an engine's log says about operations: when each begins, is taken over, and ends."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager

from stoker.base.context import RequestContext
from stoker.base.logging import operation_scope
from stoker.store.records import Operation, Stack

LOG = logging.getLogger(__name__)


def lines_about(operation: Operation, stack: Stack | None) -> AbstractContextManager[None]:
    """Lines logged inside name the operation, and the request that led to it as far as that is recorded."""
    asked = None
    if operation.request_id is not None:
        user, name = operation.user_id or "", operation.user_name or ""
        asked = RequestContext(operation.request_id, user, name, stack.project_id if stack is not None else "")
    return operation_scope(operation.id, asked)


def tell_begun(operation: Operation, stack: Stack, former_owner: str | None) -> None:
    """`former_owner` is the engine that ran it before, where it has not handed the operation over itself."""
    if operation.epoch == 1:
        LOG.info("%s of stack %s begins", operation.action, stack.name)
    elif former_owner is None:
        LOG.info("%s of stack %s goes on here: another engine handed it over", operation.action, stack.name)
    else:
        LOG.info("%s of stack %s is taken over from engine %s", operation.action, stack.name, former_owner)


def tell_ended(operation: Operation, stack: Stack | None) -> None:
    """With the reason that is recorded, from which hidden values have been redacted, in one line."""
    name = stack.name if stack is not None else operation.stack_id
    seconds = (operation.finished_at or 0.0) - (operation.started_at or operation.created_at)
    reason = " ".join(operation.reason.split())
    LOG.info(
        "%s of stack %s has ended: %s after %.1f seconds: %s",
        operation.action, name, operation.status, seconds, reason,
    )  # fmt: skip
