"""What is recorded beside the row of a stack, read together: its tags, settings, and last look at the cloud."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, and_, bindparam, select

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
        *(stack_settings.c[name] for name in StackSettings.selected),
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
    .where(stacks.c.id == bindparam("id"))
    .order_by(stack_tags.c.position)
)
"""The details of a stack, once for each of its tags."""


class RecordedDetails(NamedTuple):
    """Tags of a stack, settings of its tree, and the drift status at the last completed detection of the whole stack,
    with the time in seconds since 1970; None if there was none.
    """

    tags: list[str]
    settings: StackSettings
    drift: tuple[str, float] | None


def details_of(connection: Connection, stack: Stack) -> RecordedDetails:
    """Return the details of a stack; the defaults if it is not recorded any more."""
    rows = connection.execute(_DETAILS, {"id": stack.id}).all()
    if not rows:
        return RecordedDetails([], StackSettings(stack.root_id), None)
    tags = [row.tag for row in rows if row.tag is not None]
    first: Row[*tuple[Any, ...]] = rows[0]
    settings = StackSettings.of(first) if first.stack_id is not None else StackSettings(stack.root_id)
    return RecordedDetails(tags, settings, (first.result, first.created_at) if first.result is not None else None)
