"""The latest operations of stacks."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from stoker.contract.stacks import CREATES_CHANGE_SET, OperationEntry
from stoker.engine.records.services import EngineServices
from stoker.store import operation_history

_EXAMINED = 10
"""How many operations of a stack are examined."""


async def last_operations(services: EngineServices, stack_ids: Sequence[str]) -> dict[str, list[OperationEntry]]:
    """Return the latest operation of each action on stacks, newest first; making a change set counts as one."""
    return await services.database.read(_last, stack_ids)


def _last(connection: Connection, stack_ids: Sequence[str]) -> dict[str, list[OperationEntry]]:
    past = operation_history.latest(connection, stack_ids, _EXAMINED)
    sets = operation_history.latest_change_sets(connection, stack_ids)
    found: dict[str, list[OperationEntry]] = {}
    for stack_id in stack_ids:
        entries: list[tuple[float, OperationEntry]] = [
            (each.created_at, {"id": each.id, "action": each.action, "continues": each.continues})
            for each in past.get(stack_id, ())
        ]
        if stack_id in sets:
            identifier, created_at = sets[stack_id]
            entries.append((created_at, {"id": identifier, "action": CREATES_CHANGE_SET, "continues": False}))
        entries.sort(key=lambda entry: entry[0], reverse=True)
        newest: dict[tuple[str, bool], OperationEntry] = {}
        for _, entry in entries:
            newest.setdefault((entry["action"], entry["continues"]), entry)
        found[stack_id] = list(newest.values())
    return found
