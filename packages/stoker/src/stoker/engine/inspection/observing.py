"""Read the objects of a stack and of its nested stacks, to plan with what the cloud has. Nothing is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from sqlalchemy import Connection

from stoker.engine.calls.building import call_to_look
from stoker.engine.calls.examining import is_usable, obstacle
from stoker.engine.inspection.comparing import compare
from stoker.engine.inspection.reading import Reader
from stoker.engine.planning.decide import can_have_obstacle, is_examined
from stoker.engine.records.observations import Coverage, Found, NotCompared, Observations, is_observable
from stoker.engine.records.paths import ResourcePaths
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import view_of
from stoker.engine.records.state import ResourceState
from stoker.plugins.live_values import has_object
from stoker.store import queries
from stoker.store.records import COMPLETE, Stack


async def observe_tree(services: EngineServices, stack: Stack) -> Observations:
    """Return what the cloud has of a stack and its nested stacks.

    Resources that cannot be read count as recorded, as in an update; the coverage of the observations names them.
    """
    stacks = await services.database.read(_tree, stack)
    found: dict[str, Found] = {}
    omitted, paths = list[NotCompared](), ResourcePaths(stack)
    total = in_sync = differing = 0
    for each in stacks:
        view = await view_of(services, each)
        named = {state.row.uuid: paths.of(each, state) for state in view.current.values()}
        healthy = [state for state in view.current.values() if _is_healthy(state)]
        total += sum(has_object(state.type) for state in healthy)
        answers = await asyncio.gather(*(compare(view, state) for state in healthy))
        for state, answer in zip(healthy, answers, strict=True):
            path = named[state.row.uuid]
            if is_observable(state):
                found[state.row.uuid] = answer.found
            if has_object(state.type):
                in_sync += answer.found == {} and answer.cause is None
                differing += answer.found != {}
            if answer.cause is not None and has_object(state.type):
                left = tuple(answer.properties)
                omitted.append(NotCompared(path, state.row.type, answer.cause, answer.why, left))
    coverage = Coverage(total, tuple(omitted), in_sync, differing)
    return Observations(found, await usable_in(services, stacks), coverage)


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
    row, kind = state.row, state.type
    present = row.status == COMPLETE and row.action != "DELETE" and row.physical_id is not None
    return present and (has_object(kind) or kind.nested)
