"""Drift detections of stacks, and their results."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, and_, delete, func, select

from stoker.store.records import COMPLETE
from stoker.store.survey_records import DriftDetection
from stoker.store.tables import drift_detections as table

_KEPT = 10
"""How many detections are kept for a stack."""


def by_id(connection: Connection, identifier: str) -> DriftDetection | None:
    """Return a drift detection by ID."""
    row = connection.execute(select(table).where(table.c.id == identifier)).one_or_none()
    return DriftDetection.of(row) if row else None


def latest(connection: Connection, stack_ids: Collection[str]) -> dict[str, DriftDetection]:
    """Return the last completed detection of each stack, by the stack's ID."""
    ended = and_(table.c.stack_id.in_(list(stack_ids)), table.c.status == COMPLETE)
    newest = select(table.c.stack_id, func.max(table.c.created_at).label("at")).where(ended).group_by(table.c.stack_id)
    last = newest.subquery()
    same = and_(table.c.stack_id == last.c.stack_id, table.c.created_at == last.c.at)
    query = select(table).join(last, same).where(table.c.status == COMPLETE).order_by(table.c.id)
    return {row.stack_id: DriftDetection.of(row) for row in connection.execute(query)}


def latest_results(connection: Connection, stack_ids: Collection[str]) -> dict[str, tuple[str | None, float]]:
    """Return the drift status of each stack at its last completed detection, None if that was of a part of its
    resources, or is of an earlier release, and the time; by the stack's ID.
    """
    place = func.row_number().over(
        partition_by=table.c.stack_id, order_by=(table.c.created_at.desc(), table.c.id.desc())
    )
    ended = and_(table.c.stack_id.in_(list(stack_ids)), table.c.status == COMPLETE)
    columns = table.c.stack_id, table.c.result, table.c.created_at
    ranked = select(*columns, place.label("place")).where(ended).subquery()
    query = select(ranked.c.stack_id, ranked.c.result, ranked.c.created_at).where(ranked.c.place == 1)
    return {row.stack_id: (row.result, row.created_at) for row in connection.execute(query)}


def completed(connection: Connection, stack_id: str) -> list[DriftDetection]:
    """Return the completed detections of a stack that are kept, newest first."""
    query = select(table).where(table.c.stack_id == stack_id, table.c.status == COMPLETE)
    return DriftDetection.all_of(connection.execute(query.order_by(table.c.created_at.desc(), table.c.id)))


def forget_older(connection: Connection, stack_id: str) -> None:
    """Delete all detections of a stack except the latest ones (a journal step)."""
    query = select(table.c.id).where(table.c.stack_id == stack_id).order_by(table.c.created_at.desc()).offset(_KEPT)
    older = list(connection.execute(query.limit(1000)).scalars())
    if older:
        connection.execute(delete(table).where(table.c.id.in_(older)))
