"""Write the stacks that were taken over as adopt data, with which a Heat can adopt their objects again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from stoker.engine.inspection.export import export
from stoker.engine.records.services import EngineServices
from stoker.store import tables
from stoker.store.records import Stack
from stoker.takeover.writing import MARK

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Exported:
    """The document of a stack in full, with its secrets. `changed`: it is not as it was taken over any more."""

    stack: Stack
    document: dict[str, Any]
    changed: bool


async def documents(services: EngineServices, project: str | None) -> AsyncIterator[Exported]:
    """Yield the documents of all stacks that were taken over and exist, oldest first."""
    after = ""
    while page := await services.database.read(_taken_over, project, after):
        for stack, request in page:
            document = (await export(services, stack)).whole()
            yield Exported(stack, document, not str(request).startswith(MARK))
        after = page[-1][0].id


def _taken_over(connection: Connection, project: str | None, after: str) -> list[tuple[Stack, str | None]]:
    """Return a page of root stacks that a takeover has recorded, with the request IDs of their latest operations."""
    stacks, operations = tables.stacks, tables.operations
    taken = select(operations.c.stack_id).where(operations.c.request_id.startswith(MARK, autoescape=True))
    latest = operations.alias()
    query = (
        select(*stacks.columns, latest.c.request_id.label("request"))
        .outerjoin(latest, latest.c.id == stacks.c.operation)
        .where(stacks.c.parent_id.is_(None), stacks.c.deleted_at.is_(None), stacks.c.id > after)
        .where(stacks.c.id.in_(taken))
    )
    if project is not None:
        query = query.where(stacks.c.project_id == project)
    rows: Iterable[Any] = connection.execute(query.order_by(stacks.c.id).limit(_PAGE))
    return [(Stack.of(row), row.request) for row in rows]
