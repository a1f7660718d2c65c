"""What is recorded beside the row of a stack, read together: its tags, settings, and last look at the cloud."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, bindparam, select

from stoker.store.records import COMPLETE, Stack, StackSettings
from stoker.store.tables import drift_detections, stack_settings, stack_tags, stacks

_LAST_LOOK = (
    select(drift_detections.c.id)
    .where(drift_detections.c.stack_id == stacks.c.id, drift_detections.c.status == COMPLETE)
    .where(drift_detections.c.result.is_not(None))
    .order_by(drift_detections.c.created_at.desc())
    .limit(1)
    .correlate(stacks)
    .scalar_subquery()
)
_DETAILS = (
    select(
        *(stacks.c[name] for name in Stack.columns),
        *(stack_settings.c[name] for name in StackSettings.columns),
        stack_tags.c.tag,
        drift_detections.c.result,
        drift_detections.c.created_at,
    )
    .select_from(
        stacks.outerjoin(stack_settings, stack_settings.c.stack_id == stacks.c.root_id)
        .outerjoin(stack_tags, stack_tags.c.stack_id == stacks.c.id)
        .outerjoin(
            drift_detections,
            and_(drift_detections.c.stack_id == stacks.c.id, drift_detections.c.id == _LAST_LOOK),
        )
    )
    .order_by(stack_tags.c.position)
)
"""Stacks with their details, once for each of their tags."""

_SETTINGS = len(Stack.columns)
_TAG = _SETTINGS + len(StackSettings.columns)
"""Where in a row the settings and the tag are; the columns before them, of other tables, have some of their names."""


class RecordedDetails(NamedTuple):
    """Tags of a stack, settings of its tree, and the drift status at the last completed detection of the whole stack,
    with the time in seconds since 1970; None if there was none.
    """

    tags: list[str]
    settings: StackSettings
    drift: tuple[str, float] | None


@cache
def _details_where(*names: str) -> Select[object]:
    """Select stacks with their details by these columns of theirs; the parameters have the columns' names."""
    return _DETAILS.where(and_(*(stacks.c[name] == bindparam(name) for name in names)))


def stack_with_details(connection: Connection, **values: str) -> tuple[Stack, RecordedDetails] | None:
    """Return the stack with these values of columns, of which there is at most one, and its details."""
    rows: Sequence[Sequence[Any]] = connection.execute(_details_where(*values), values).all()
    if not rows:
        return None
    first = rows[0]
    stack, chosen, (_, drift, looked_at) = Stack(*first[:_SETTINGS]), first[_SETTINGS:_TAG], first[_TAG:]
    settings = StackSettings(*chosen) if chosen[0] is not None else StackSettings(stack.root_id)
    tags = [row[_TAG] for row in rows if row[_TAG] is not None]
    return stack, RecordedDetails(tags, settings, (drift, looked_at) if drift is not None else None)
