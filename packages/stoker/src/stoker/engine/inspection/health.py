"""Find the unhealthy resources of a stack and of its nested stacks. Nothing is recorded."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import make_read_call
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.records.observations import GONE, is_observable
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, views_of_tree
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.plugins import capabilities
from stoker.store.records import FAILED, Stack

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Unhealthy:
    """An unhealthy resource of `stack`; `reason` contains no secrets, and is None if the resource is already failed."""

    stack: Stack
    name: str
    uuid: str
    reason: str | None


async def unhealthy_in(services: EngineServices, root: Stack) -> list[Unhealthy]:
    """Return the unhealthy resources of a whole tree of stacks. Raises CloudError if its owner cannot log in.

    Resources that cannot be examined now count as healthy.
    """
    found: list[Unhealthy] = []
    for view in await views_of_tree(services, root):
        stack = view.stack
        states = sorted(view.current.values(), key=lambda state: state.row.position)
        found += [
            Unhealthy(stack, state.row.name, state.row.uuid, None)
            for state in states
            if state.row.status == FAILED and (state.stored.marked or not state.type.nested)
        ]
        examined = [state for state in states if is_observable(state) and not state.type.nested]
        reasons = await asyncio.gather(*(_reason(view, state) for state in examined))
        for state, reason in zip(examined, reasons, strict=True):
            if reason is not None:
                shown = await without_secrets(view, reason, [state])
                found.append(Unhealthy(stack, state.row.name, state.row.uuid, shown))
    return found


async def _reason(view: StackView, state: ResourceState) -> str | None:
    try:
        return await capabilities.unhealthy_reason(state.type, await make_read_call(view, state, Reader(view.services)))
    except StokerError as error:
        if isinstance(error, CloudError) and error.not_found:
            return GONE
        LOG.info("cannot examine %s of stack %s: %s", state.row.name, view.stack.name, error.message)
        return None
