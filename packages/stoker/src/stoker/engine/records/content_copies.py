"""The records of snapshots' content copies."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import read_untyped
from stoker.engine.records.state import ResourceState

Path = tuple[str, ...]


def path_of(copy: ResourceState) -> Path:
    """Return the names from the snapshot's stack down to the resource of the copy."""
    return tuple(copy.stored.definition["path"])


def read_copies(
    connection: Connection, services: EngineServices, snapshot_ids: Iterable[str], stack_name: str
) -> list[ResourceState]:
    """Return the recorded copies that belong to snapshots of the stack, or of a stack above it."""
    found: list[ResourceState] = []
    for states in read_untyped(connection, services, dict.fromkeys(snapshot_ids, stack_name)).values():
        for state in states:
            state.type = services.types.recorded(state, {}).copy or services.types.missing
            state.stack_name = state.stored.definition["stack_name"]
            found.append(state)
    return found
