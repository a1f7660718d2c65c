"""Examine the objects of failed resources, and of those to which a snapshot is restored. Nothing is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from sqlalchemy import Connection

from stoker.engine.calls.building import make_read_call
from stoker.engine.calls.examination import is_usable, obstacle
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.planning.decide import can_have_obstacle, is_examined
from stoker.engine.records.observations import Observations
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import view_of
from stoker.store import queries
from stoker.store.records import Stack


async def examine_tree(services: EngineServices, stack: Stack, *, restores: bool = False) -> Observations:
    """Return which failed resources of a stack and its nested stacks need no replacement; nothing else is read.

    If a snapshot is to be restored (`restores`), also what prevents that content is restored to their objects.
    """
    stacks = await services.database.read(_tree, stack) if stack.inputs else []
    obstacles = await _obstacles_in(services, stacks) if restores else {}
    return Observations(usable=await usable_in(services, stacks), obstacles=obstacles)


async def _obstacles_in(services: EngineServices, stacks: Iterable[Stack]) -> dict[str, str]:
    found: dict[str, str] = {}
    for stack in stacks:
        view = await view_of(services, stack)
        states = [state for state in view.current.values() if can_have_obstacle(state)]
        answers = await asyncio.gather(
            *(obstacle(state, make_read_call(view, state, Reader(services))) for state in states)
        )
        found |= {state.row.uuid: answer for state, answer in zip(states, answers, strict=True)}
    return found


async def usable_in(services: EngineServices, stacks: Iterable[Stack]) -> frozenset[str]:
    """Return the resources whose last action failed and whose objects can be used, as an update would find them."""
    found: set[str] = set()
    by_id = {stack.id: stack for stack in stacks}
    for stack_id in await services.database.read(queries.with_failed_resources, by_id) if by_id else ():
        stack = by_id[stack_id]
        view = await view_of(services, stack)
        failed = [state for state in view.states.values() if is_examined(state.row)]
        answers = await asyncio.gather(
            *(is_usable(state, make_read_call(view, state, Reader(services))) for state in failed)
        )
        found |= {state.row.uuid for state, usable in zip(failed, answers, strict=True) if usable}
    return frozenset(found)


def _tree(connection: Connection, stack: Stack) -> list[Stack]:
    return [each for level in queries.levels_of(connection, stack) for each in level]
