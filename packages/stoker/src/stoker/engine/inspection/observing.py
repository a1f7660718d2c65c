"""Read the objects of a stack and of its nested stacks, to plan with what the cloud has. Nothing is recorded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection

from stoker.base.errors import CloudError, StokerError
from stoker.engine.calls.building import call_to_look
from stoker.engine.calls.examining import is_usable, obstacle
from stoker.engine.inspection.reading import Reader
from stoker.engine.planning.decide import can_have_obstacle, is_examined
from stoker.engine.records.observations import Cause, Coverage, Found, NotCompared, Observations, is_observable
from stoker.engine.records.paths import ResourcePaths
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, view_of
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import Call, ResourceType
from stoker.store import queries
from stoker.store.records import COMPLETE, Stack

LOG = logging.getLogger(__name__)


async def observe_tree(services: EngineServices, stack: Stack) -> Observations:
    """Return what the cloud has of a stack and its nested stacks.

    Resources that cannot be read count as recorded, as in an update; the coverage of the observations names them.
    """
    stacks = await services.database.read(_tree, stack)
    found: dict[str, Found] = {}
    total, omitted, paths = 0, list[NotCompared](), ResourcePaths(stack)
    for each in stacks:
        view = await view_of(services, each)
        named = {state.row.uuid: paths.of(each, state) for state in view.current.values()}
        healthy = [state for state in view.current.values() if _is_healthy(state)]
        total += sum(not state.type.nested for state in healthy)
        for state, answer in zip(
            healthy, await asyncio.gather(*(_look(view, state) for state in healthy)), strict=True
        ):
            found[state.row.uuid] = answer.found
            if answer.cause is not None and not state.type.nested:
                omitted.append(NotCompared(named[state.row.uuid], state.row.type, answer.cause, answer.properties))
    return Observations(found, await usable_in(services, stacks), Coverage(total, tuple(omitted)))


async def examine_tree(services: EngineServices, stack: Stack, *, restores: bool = False) -> Observations:
    """Return which failed resources of a stack and its nested stacks need no replacement; nothing else is read.

    If a snapshot is to be restored (`restores`), also what prevents that content is restored to their objects.
    """
    stacks = await services.database.read(_tree, stack) if stack.inputs else []
    obstacles = await _obstacles_in(services, stacks) if restores else {}
    return Observations(None, await usable_in(services, stacks), obstacles=obstacles)


async def _obstacles_in(services: EngineServices, stacks: Iterable[Stack]) -> dict[str, str]:
    found: dict[str, str] = {}
    for stack in stacks:
        view = await view_of(services, stack)
        asked = [state for state in view.current.values() if can_have_obstacle(state)]
        answers = await asyncio.gather(
            *(obstacle(state, call_to_look(view, state, Reader(services))) for state in asked)
        )
        found |= {state.row.uuid: answer for state, answer in zip(asked, answers, strict=True)}
    return found


async def usable_in(services: EngineServices, stacks: Iterable[Stack]) -> frozenset[str]:
    """Return the resources whose last action failed and whose objects can be used, as an update would find them."""
    found: set[str] = set()
    for stack in stacks:
        if not await services.database.read(queries.has_failed_resources, stack.id):
            continue
        view = await view_of(services, stack)
        failed = [state for state in view.states.values() if is_examined(state.row)]
        answers = await asyncio.gather(
            *(is_usable(state, call_to_look(view, state, Reader(services))) for state in failed)
        )
        found |= {state.row.uuid for state, usable in zip(failed, answers, strict=True) if usable}
    return frozenset(found)


def _tree(connection: Connection, stack: Stack) -> list[Stack]:
    return [each for level in queries.levels_of(connection, stack) for each in level]


def _is_healthy(state: ResourceState) -> bool:
    """Return whether a resource has an object that is expected to be as recorded; others show in the plan."""
    row = state.row
    return not state.type.local and row.status == COMPLETE and row.action != "DELETE" and row.physical_id is not None


@dataclass(frozen=True, slots=True)
class _Answer:
    found: Found
    cause: Cause | None = None
    properties: tuple[str, ...] = ()


async def _look(view: StackView, state: ResourceState) -> _Answer:
    if not is_observable(state):
        return _Answer({}, Cause.EXTERNAL)
    if type(state.type).observe is ResourceType.observe:
        return _Answer({}, Cause.TYPE)
    try:
        call = await call_to_look(view, state, Reader(view.services))
        found = await state.type.observe(call)
    except StokerError as error:
        if isinstance(error, CloudError) and error.not_found:
            return _Answer(None)
        LOG.info("cannot read the object of %s: %s", state.row.name, error.message)
        return _Answer({}, Cause.SERVICE)
    if found is None:
        return _Answer(None)
    left = tuple(name for name in _declared(state, call) if name not in call.compared and name not in found)
    return _Answer(found, Cause.PROPERTIES if left else None, left)


def _declared(state: ResourceState, call: Call) -> list[str]:
    """Return the properties to which the template gives values, by their present names."""
    older = {prop.replaces: name for name, prop in state.type.properties.items() if prop.replaces}
    given = {older.get(name, name) for name in state.given}
    return [name for name, value in call.properties.items() if name in given and value is not None]
