"""The state on which a plan is based: a summary of the records of a tree of stacks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, select

from stoker.store.records import Stack
from stoker.store.tables import resources, stacks

_STACK = (stacks.c.id, stacks.c.action, stacks.c.status, stacks.c.inputs)
_RESOURCE = (
    resources.c.uuid,
    resources.c.action,
    resources.c.status,
    resources.c.physical_id,
    resources.c.fingerprint,
    resources.c.requires,
    resources.c.replaced_by,
    resources.c.properties,
)


def tree(connection: Connection, root_id: str) -> list[list[object]]:
    """Summarize the records of a root stack and of all stacks nested in it; equal as long as these do not change."""
    return _rows(connection, select(*_STACK).where(_alive(root_id)).order_by(stacks.c.id), root_id)


def trees(connection: Connection, root_ids: Collection[str]) -> dict[str, list[list[object]]]:
    """Return `tree` of many root stacks, by their IDs."""
    alive = stacks.c.root_id.in_(root_ids) & stacks.c.deleted_at.is_(None)
    found: dict[str, list[list[object]]] = {root_id: [] for root_id in root_ids}
    own = select(stacks.c.root_id, *_STACK).where(alive).order_by(stacks.c.id)
    joined = select(stacks.c.root_id, *_RESOURCE).join(stacks, stacks.c.id == resources.c.stack_id)
    for query in (own, joined.where(alive).order_by(resources.c.uuid)):
        for root_id, *row in connection.execute(query):
            found[root_id].append(row)
    return found


def locked_tree(connection: Connection, root_id: str) -> list[list[object]]:
    """Like `tree`, and prevent operations from starting on any of the stacks before the transaction ends."""
    query = select(*_STACK).where(_alive(root_id)).order_by(stacks.c.id).with_for_update()
    return _rows(connection, query, root_id)


def locked_stacks(connection: Connection, root_id: str) -> list[Stack]:
    """Return a root stack and those nested in it, and prevent operations from starting on them as `locked_tree`."""
    return Stack.all_of(
        connection.execute(select(stacks).where(_alive(root_id)).order_by(stacks.c.id).with_for_update())
    )


def _alive(root_id: str) -> Any:
    return (stacks.c.root_id == root_id) & stacks.c.deleted_at.is_(None)


def _rows(connection: Connection, query: Select[object], root_id: str) -> list[list[object]]:
    found = [list(row) for row in connection.execute(query)]
    inside = (
        select(*_RESOURCE)
        .join(stacks, stacks.c.id == resources.c.stack_id)
        .where(_alive(root_id))
        .order_by(resources.c.uuid)
    )
    return found + [list(row) for row in connection.execute(inside)]
