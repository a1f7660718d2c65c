"""Examine objects before their resources are updated: in a plan and in the run that follows it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from stoker.base.errors import StokerError
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import Call

LOG = logging.getLogger(__name__)


async def is_usable(state: ResourceState, making: Awaitable[Call]) -> bool:
    """Return whether the object of a resource whose last action failed can be used; one that cannot be read cannot.

    making: returns the call with which the type looks at the object.
    """
    try:
        return not await state.type.needs_replacement_after_failure(await making)
    except StokerError as error:
        LOG.info("cannot examine the object of %s: %s", state.row.name, error.message)
        return False


async def obstacle(state: ResourceState, making: Awaitable[Call]) -> str:
    """Return what prevents that content is restored to an object; if that is not known, its update finds out.

    state: of a type whose objects have content (`can_have_obstacle`). making: see `is_usable`.
    """
    try:
        call = await making
        return await state.type.copy.obstacle(call) if state.type.copy is not None else ""
    except StokerError as error:
        LOG.info("cannot find out whether content can be restored to %s: %s", state.row.name, error.message)
        return ""
