"""When operations were complete."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from stoker.store.records import COMPLETE
from stoker.store.tables import operations


def last(connection: Connection, stack_id: str, actions: Sequence[str]) -> float:
    """Return when the last operation with one of these actions was complete on a stack, in seconds; 0 for never."""
    columns = operations.c
    query = select(func.max(columns.finished_at)).where(
        columns.stack_id == stack_id, columns.status == COMPLETE, columns.action.in_(actions)
    )
    return float(connection.execute(query).scalar() or 0.0)
