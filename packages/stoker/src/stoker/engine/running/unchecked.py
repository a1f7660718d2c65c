"""The resources that the check of a stack has not looked at, since their types have no check."""

from __future__ import annotations

from sqlalchemy import Connection

from stoker.engine.records.paths import ResourcePaths
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import Recorded
from stoker.store import queries
from stoker.store.records import Stack

_MOST_NAMED = 5


async def unchecked_note(services: EngineServices, stack: Stack) -> str:
    """Return how many resources of a stack and its nested stacks a check has not looked at, for its reason.

    Empty if there are none. Resources that have no object outside of the record do not count.
    """
    total, unchecked = await services.database.read(_counted, services, stack)
    if not unchecked:
        return ""
    named = ", ".join(unchecked[:_MOST_NAMED])
    more = f" and {len(unchecked) - _MOST_NAMED} more" if len(unchecked) > _MOST_NAMED else ""
    return (
        f", but {len(unchecked)} of {total} resources were not checked, since their types have no check: {named}{more}"
    )


def _counted(connection: Connection, services: EngineServices, stack: Stack) -> tuple[int, list[str]]:
    """Return the number of resources with an object, and the paths and types of those that have no check."""
    total, unchecked = 0, list[str]()
    paths = ResourcePaths(stack)
    for level in queries.levels_of(connection, stack):
        for each in level:
            for state in Recorded.of(services, connection, each).current.values():
                path = paths.of(each, state)
                if state.type.local or state.type.nested:
                    continue
                total += 1
                if not state.type.checkable:
                    unchecked.append(f"{path} ({state.row.type})")
    return total, unchecked
