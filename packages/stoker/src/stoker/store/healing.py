"""Stacks that engines examine by themselves: those whose tags ask for healing, those whose drift is looked for."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select

from stoker.store import statements
from stoker.store.records import IN_PROGRESS, Stack
from stoker.store.tables import stack_settings, stack_tags, stacks

_QUIET = and_(stacks.c.deleted_at.is_(None), stacks.c.parent_id.is_(None), stacks.c.status != IN_PROGRESS)
"""Whether a stack is a root without a running operation."""


def tagged(connection: Connection, tag: str) -> list[tuple[Stack, str]]:
    """Return the root stacks without a running operation that have the tag, or the tag with a value (`tag=value`).

    Each with the tag as it is written; a stack with several of them has the first.
    """
    return list({row.id: (Stack.of(row), row.tag) for row in connection.execute(_tagged(tag))}.values())


@cache
def _tagged(tag: str) -> Select[Any]:
    column = stack_tags.c.tag
    has_tag = and_(statements.begins(column, tag), or_(column == tag, column.startswith(f"{tag}=", autoescape=True)))
    joined = stacks.join(stack_tags, stacks.c.id == stack_tags.c.stack_id)
    order = (stacks.c.id, stack_tags.c.position.desc())
    return select(stacks, stack_tags.c.tag).select_from(joined).where(has_tag, _QUIET).order_by(*order)


def watched(connection: Connection, default: str) -> list[tuple[Stack, str]]:
    """Return the root stacks without a running operation whose drift is looked for, each with its mode.

    `default` is the mode of stacks that have chosen none; they are left out if it is `off`.
    """
    return [(Stack.of(row), row.mode) for row in connection.execute(_watched(default))]


@cache
def _watched(default: str) -> Select[Any]:
    mode = func.coalesce(stack_settings.c.drift_mode, default).label("mode")
    # If those that have chosen nothing are left out, the index of the others' choices tells which ones to read.
    chosen = [stack_settings.c.drift_mode > ""] if default == "off" else []
    joined = stacks.join(stack_settings, stacks.c.id == stack_settings.c.stack_id, isouter=not chosen)
    query = select(stacks, mode).select_from(joined).where(_QUIET, mode != "off", stacks.c.action != "DELETE", *chosen)
    return query.order_by(stacks.c.id)


def tree_runs(connection: Connection, root_id: str) -> bool:
    """Return whether an operation runs on a stack of the tree, such as the change of a group's size by a signal."""
    running = and_(stacks.c.root_id == root_id, stacks.c.deleted_at.is_(None), stacks.c.status == IN_PROGRESS)
    return connection.execute(select(stacks.c.id).where(running).limit(1)).first() is not None
