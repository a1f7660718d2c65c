"""Read the objects of a stack and of its nested stacks, to plan with what the cloud has. Nothing is recorded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from sqlalchemy import Connection

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import call_to_look
from stoker.engine.inspection.reading import Reader
from stoker.engine.planning.decide import is_examined
from stoker.engine.records.observations import Found, Observations, is_observable
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, view_of
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import ResourceType
from stoker.store import queries
from stoker.store.records import Stack

LOG = logging.getLogger(__name__)


async def observe_tree(services: EngineServices, stack: Stack) -> Observations:
    """Return what the cloud has of a stack and its nested stacks.

    Resources that cannot be read count as recorded, as in an update.
    """
    stacks = await services.database.read(_tree, stack)
    found: dict[str, Found] = {}
    for each in stacks:
        view = await view_of(services, each)
        states = [state for state in view.current.values() if is_observable(state) and _can_be_read(state)]
        answers = await asyncio.gather(*(_look(view, state) for state in states))
        found |= {state.row.uuid: answer for state, answer in zip(states, answers, strict=True)}
    return Observations(found, await usable_in(services, stacks))


async def examine_tree(services: EngineServices, stack: Stack) -> Observations:
    """Return which failed resources of a stack and its nested stacks need no replacement; nothing else is read."""
    stacks = await services.database.read(_tree, stack) if stack.inputs else []
    return Observations(None, await usable_in(services, stacks))


async def usable_in(services: EngineServices, stacks: Iterable[Stack]) -> frozenset[str]:
    """Return the resources whose last action failed and whose objects can be used, as an update would find them."""
    found: set[str] = set()
    for stack in stacks:
        if not await services.database.read(queries.has_failed_resources, stack.id):
            continue
        view = await view_of(services, stack)
        failed = [state for state in view.states.values() if is_examined(state.row)]
        answers = await asyncio.gather(*(_is_usable(view, state) for state in failed))
        found |= {state.row.uuid for state, usable in zip(failed, answers, strict=True) if usable}
    return frozenset(found)


async def _is_usable(view: StackView, state: ResourceState) -> bool:
    try:
        return not await state.type.needs_replacement_after_failure(
            await call_to_look(view, state, Reader(view.services))
        )
    except StokerError as error:
        LOG.info("cannot examine the object of %s: %s", state.row.name, error.message)
        return False


def _tree(connection: Connection, stack: Stack) -> list[Stack]:
    return [each for level in queries.levels_of(connection, stack) for each in level]


def _can_be_read(state: ResourceState) -> bool:
    return type(state.type).observe is not ResourceType.observe


async def _look(view: StackView, state: ResourceState) -> Found:
    try:
        return await state.type.observe(await call_to_look(view, state, Reader(view.services)))
    except StokerError as error:
        if isinstance(error, CloudError) and error.not_found:
            return None
        LOG.info("cannot read the object of %s: %s", state.row.name, error.message)
        return {}
