"""Read the objects of a stack and of its nested stacks, to plan with what the cloud has. Nothing is recorded."""

from __future__ import annotations

import asyncio
import logging

from sqlalchemy import Connection

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import call_to_look
from stoker.engine.inspection.reading import Reader
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
    return Observations(found)


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
