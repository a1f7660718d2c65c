"""The clock that engines share, and the corrections when it is set, on each database."""

from __future__ import annotations

import time
from functools import partial

from sqlalchemy import Connection, select

from stoker.store import claims
from stoker.store.claims import ActionStart
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.records import COMPLETE, IN_PROGRESS, Operation, Resource
from stoker.store.tables import operations, resources
from stoker.store.time_of_day import time_of_day
from tests.store import rows
from tests.store.test_marks import resource

STEP = -3600.25


async def test_the_server_tells_its_time(database: Database) -> None:
    """All servers of these tests run on this machine."""
    before = time.time()
    shown = await database.read(time_of_day)
    if database.url.get_backend_name() == "sqlite":
        assert shown is None
    else:
        assert shown is not None
        assert before - 0.01 <= shown <= time.time() + 0.01


async def test_start_times_of_timeouts_follow_the_clock(database: Database, journal: Journal) -> None:
    mine, other = rows.stack("mine"), rows.stack("other")
    acting = resource(mine.id, "a", status=IN_PROGRESS, started_at=1_700_000_000.125)
    written = resource(mine.id, "b", status=IN_PROGRESS, started_at=1_700_000_000.5)
    foreign = resource(other.id, "c", status=IN_PROGRESS, started_at=1_700_000_000.75)
    deadlines = {"deadline": 1_700_001_000.0, "status": "RUNNING"}
    own = rows.operation(mine.id, owner="me", **deadlines)
    foreign_operation = rows.operation(other.id, owner="you", **deadlines)
    await journal.commit(Batch().add(mine, other, acting, written, foreign, own, foreign_operation))
    begun = [
        ActionStart(acting.uuid, 1_700_000_000.125, 1_700_000_000.125 + STEP),
        ActionStart(written.uuid, 1_700_000_000.5 - STEP, 1_700_000_000.5),  # recorded since then, as it is now
        ActionStart(foreign.uuid, 1_700_000_000.75, 1_700_000_000.75 + STEP),  # another engine has taken it over
    ]
    await journal.commit(Batch().then(partial(claims.follow_clock, engine_id="me", seconds=STEP, begun=begun)))

    started = await database.read(_started)
    assert started == {
        acting.uuid: 1_700_000_000.125 + STEP,
        written.uuid: 1_700_000_000.5,
        foreign.uuid: 1_700_000_000.75,
    }
    assert await database.read(_deadlines) == {own.id: 1_700_001_000.0 + STEP, foreign_operation.id: 1_700_001_000.0}


async def test_the_time_without_an_engine_does_not_count(database: Database, journal: Journal) -> None:
    stack = rows.stack("left")
    acting = resource(stack.id, "a", status=IN_PROGRESS, started_at=900.0)
    complete = resource(stack.id, "b", status=COMPLETE, started_at=900.0)
    operation = rows.operation(stack.id, owner="dead", status="RUNNING", deadline=1300.0)
    stack.operation = operation.id
    await journal.commit(Batch().add(stack, acting, complete, operation))
    await journal.commit(Batch().then(partial(claims.report, engine=rows.engine("dead", 1000.0))))
    claimant = claims.Claimant("me", 1500.0)
    await journal.commit(Batch().then(partial(claims.take, identifiers=[operation.id], claimant=claimant)))

    assert await database.read(_started) == {acting.uuid: 1400.0, complete.uuid: 900.0}
    assert await database.read(_deadlines) == {operation.id: 1800.0}


def _started(connection: Connection) -> dict[str, float | None]:
    return {row.uuid: row.started_at for row in Resource.all_of(connection.execute(select(resources)))}


def _deadlines(connection: Connection) -> dict[str, float | None]:
    return {row.id: row.deadline for row in Operation.all_of(connection.execute(select(operations)))}
