"""Stacks whose tags ask for healing."""

from __future__ import annotations

from sqlalchemy import Connection, and_, or_, select

from stoker.store import statements
from stoker.store.records import IN_PROGRESS, Stack
from stoker.store.tables import stack_tags, stacks


def tagged(connection: Connection, tag: str) -> list[tuple[Stack, str]]:
    """Return the root stacks without a running operation that have the tag, or the tag with a value (`tag=value`).

    Each with the tag as it is written; a stack with several of them has the first.
    """
    given = stack_tags.c.tag
    asked = and_(statements.begins(given, tag), or_(given == tag, given.startswith(f"{tag}=", autoescape=True)))
    quiet = and_(stacks.c.deleted_at.is_(None), stacks.c.parent_id.is_(None), stacks.c.status != IN_PROGRESS)
    joined = stacks.join(stack_tags, stacks.c.id == stack_tags.c.stack_id)
    order = (stacks.c.id, stack_tags.c.position.desc())
    rows = connection.execute(select(stacks, stack_tags.c.tag).select_from(joined).where(asked, quiet).order_by(*order))
    return list({row.id: (Stack.of(row), row.tag) for row in rows}.values())


def tree_runs(connection: Connection, root_id: str) -> bool:
    """Return whether an operation runs on a stack of the tree, such as the change of a group's size by a signal."""
    running = and_(stacks.c.root_id == root_id, stacks.c.deleted_at.is_(None), stacks.c.status == IN_PROGRESS)
    return connection.execute(select(stacks.c.id).where(running).limit(1)).first() is not None
