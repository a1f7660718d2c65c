"""What follows when a service refuses a request: another attempt, a pause, or a replacement of the object."""

from __future__ import annotations

import logging

from stoker.base.errors import CloudError, StokerError, Unconfirmed
from stoker.engine.calls.building import make_call, users_of
from stoker.engine.records.failure import Failure
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.retries import Retries, backoff
from stoker.plugins.outcome import Failed, InProgress, Outcome
from stoker.store.journal import Batch

LOG = logging.getLogger(__name__)


async def pause_after_refusal(
    run: OperationContext, state: ResourceState, error: CloudError, retries: Retries
) -> float | None:
    """Log the refusal of a busy service, and return the seconds until the next attempt, or None to give up."""
    pause = retries.pause_after(error)
    if error.transient:
        row = state.row
        following = f"retrying in {pause:.1f} s" if pause is not None else "giving up"
        message = await without_secrets(run, error.message, [state])
        LOG.warning(
            "%s of %s in stack %s: %s refused attempt %d of %d, %s: %s",
            row.action, row.name, run.stack.name, error.service, retries.attempts, error.most_attempts,
            following, message,
        )  # fmt: skip
    return pause


async def unconfirmed_reason(run: OperationContext, state: ResourceState, error: CloudError) -> str:
    """Return what users read while a response is not believed; "" for other errors."""
    if not isinstance(error, Unconfirmed):
        return ""
    text = f"waiting until {error.service} says whether the object exists ({error.reason})"
    return await without_secrets(run, text, [state])


async def with_users(run: OperationContext, state: ResourceState, error: CloudError) -> str:
    """Return why a service refuses to delete an object, with what uses it as far as that is known."""
    users = await users_of(run, state)
    return f"{error.message}; it is in use by {', '.join(users)}" if users else error.message


async def wait_until_free(run: OperationContext, state: ResourceState, error: CloudError, conflicts: int) -> Outcome:
    """Wait until the object is not used any more, and report what uses it."""
    row = state.row
    text = await with_users(run, state, error)
    if conflicts >= run.services.settings.action_retry_limit:
        return Failed(text, kind=error.kind)
    pause = backoff(conflicts)
    LOG.info(
        "DELETE of %s in stack %s: attempt %d of %d, retrying in %.1f s: %s",
        row.name, run.stack.name, conflicts + 1, run.services.settings.action_retry_limit + 1, pause,
        await without_secrets(run, text, [state]),
    )  # fmt: skip
    if conflicts == 0 and row.stack_id == run.stack.id:
        row.reason = await without_secrets(run, f"waiting until it is free: {text}", [state])
        await run.commit(Batch().change(state.seal()).add(run.event(state, row.reason)))
    return InProgress(after=pause)


async def is_usable(run: OperationContext, state: ResourceState) -> bool:
    """Examine the object of a resource whose last action failed; one that a service refuses to show is not usable.

    Requests to a busy service are retried: an object is not replaced because of that. Raises Failure, Stopped.
    """
    retries = Retries(run.services.clock)
    while True:
        try:
            return not await state.type.needs_replacement_after_failure(await make_call(run, state))
        except CloudError as error:
            pause = await pause_after_refusal(run, state, error, retries)
            if pause is None and error.transient:
                raise Failure.of(error, state.row.name) from error
            problem: StokerError = error
        except StokerError as error:
            pause, problem = None, error
        if pause is None:
            LOG.info("cannot read the object of %s, it will be replaced: %s", state.row.name, problem.message)
            return False
        await run.pause(state.row.uuid, pause)


def failure_of(state: ResourceState, outcome: Failed) -> Failure:
    """Return the failure for an outcome: the first of several, and for a nested stack that of its leaf resource."""
    if state.row.action == "CREATE" and state.stored.creation.first_failure:
        kind, reason, *path = state.stored.creation.first_failure
        return Failure(kind, (state.row.name, *path), reason)
    return Failure(outcome.kind, (state.row.name, *outcome.path), outcome.reason)
