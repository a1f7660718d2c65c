"""Automatic actions that change control holds back, and whom it notifies of them."""

from __future__ import annotations

from stoker.base.errors import UserError
from stoker.engine.notifications.announcer import Announcer
from stoker.engine.records.beginnings import control_now, refuse_automatic
from stoker.store.journal import Batch
from stoker.store.records import Stack

SILENT_SECONDS = 86400.0
"""Seconds after a notice in which an engine sends no further one about the same tree of stacks."""


async def refuse_and_notify(announcer: Announcer, stack: Stack) -> None:
    """Raise an error if an engine must not change a stack by itself now, as `refuse_automatic`, and notify people."""
    try:
        await refuse_automatic(announcer.services, stack)
    except UserError as error:
        if announcer.may_notify(stack.root_id, SILENT_SECONDS):
            await _notify(announcer, stack, error)
        raise


async def _notify(announcer: Announcer, stack: Stack, error: UserError) -> None:
    services = announcer.services
    control = await services.database.read(control_now, services, stack.project_id, stack.root_id)
    if not control.notify:
        return
    from stoker.engine.notifications.notices import About, Notice, notices  # only where somebody is notified

    text = f"An automatic action on stack {stack.name} was held back: {error.message}"
    batch = Batch().add(*notices(services, control, Notice.BLOCKED, About.stack(stack), text))
    await services.journal.commit(batch)
    announcer.send(batch.added)
