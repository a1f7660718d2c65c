"""Remove the project of a tree's stack users at the end of a deletion."""

from __future__ import annotations

import logging
from contextlib import suppress

from stoker.base.errors import CloudError
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.retries import Retries, backoff
from stoker.engine.running.stop import Stopped

LOG = logging.getLogger(__name__)


async def remove_user_project(run: OperationContext) -> None:
    """Remove the project, with retries like those of a resource: while Keystone is busy, and after conflicts.

    Return early if the run stops. Raises CloudError when there are no more attempts.
    """
    retries, conflicts = Retries(run.services.clock), 0
    while run.progress.stopping is None and not run.progress.cancelled:
        try:
            return await run.services.credentials.remove_user_project(run.stack)
        except CloudError as error:
            pause = retries.pause_after(error)
            if error.conflict and conflicts < run.services.settings.action_retry_limit:
                pause = backoff(conflicts)
                conflicts += 1
            if pause is None:
                raise
            LOG.warning(
                "cannot remove the project of the users of stack %s, attempt %d of %d, retrying in %.1f s: %s",
                run.stack.name, retries.attempts, error.most_attempts, pause, error.message,
            )  # fmt: skip
        with suppress(Stopped):  # the run ends accordingly
            await run.pause(run.stack.id, pause)
