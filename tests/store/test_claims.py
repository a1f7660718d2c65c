"""Claims, fencing and takeover of operations, with the same results on every database."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.event import listen
from sqlalchemy.exc import DBAPIError

from stoker.base.errors import Fenced, Invalid
from stoker.base.ids import new_id
from stoker.store import claimable, claims, event_lists, queries, schema, stack_lists, tables
from stoker.store.claims import Claimant
from stoker.store.database import Database, Pool
from stoker.store.failures import passes
from stoker.store.journal import Batch, Claim, Journal
from stoker.store.ownership import Found, ObjectAlreadyOwned, Owned, key_of
from stoker.store.records import PENDING, RUNNING, SUPERSEDED, Operation, Resource, Stack
from tests.store.rows import engine, event, operation, stack

NOW = 100.0


async def did(journal: Journal, step: Callable[[Connection], Any]) -> Any:
    """Run a step in a transaction of its own, and return its result."""
    answers: list[Any] = []
    await journal.commit(Batch().then(lambda connection: answers.append(step(connection))))
    return answers[-1]


async def taken(journal: Journal, identifier: str, engine_id: str, now: float = NOW) -> Operation | None:
    answer = await did(journal, lambda c: claims.take(c, [identifier], Claimant(engine_id, now)))
    return next((claimed for claimed, _ in answer.claimed), None)


@pytest.fixture
async def running(journal: Journal) -> tuple[Stack, Operation]:
    """A stack whose operation the engine `me` runs; `me` and `other` have just reported themselves."""
    made = stack()
    owned = operation(made.id)
    made.operation = owned.id
    await journal.commit(Batch().add(made, owned, engine("me", NOW), engine("other", NOW)))
    return made, owned


async def read(database: Database, identifier: str) -> Operation:
    found = await database.read(queries.operation_by_id, identifier)
    assert found is not None
    return found


async def test_an_operation_of_a_living_engine_cannot_be_claimed(
    journal: Journal, running: tuple[Stack, Operation]
) -> None:
    assert await taken(journal, running[1].id, "other") is None


@pytest.mark.parametrize("gone", ["lapsed", "stopped"])
async def test_an_engine_that_lost_its_claim_writes_nothing(
    database: Database, journal: Journal, running: tuple[Stack, Operation], gone: str
) -> None:
    made, owned = running
    mine = Claim(owned.id, 1)
    await journal.commit(Batch(claim=mine).add(event(made.id, "mine")))
    if gone == "stopped":
        await journal.commit(Batch().then(partial(claims.deregister, engine_id="me", now=NOW)))
    now = NOW if gone == "stopped" else NOW + 16
    await journal.commit(Batch().then(partial(claims.report, engine=engine("other", now))))
    theirs = await taken(journal, owned.id, "other", now)
    assert theirs is not None and (theirs.owner, theirs.epoch) == ("other", 2)
    with pytest.raises(Fenced):
        await journal.commit(Batch(claim=mine).add(event(made.id, "too late")))
    await journal.commit(Batch(claim=Claim(owned.id, 2)).add(event(made.id, "theirs")))
    listed = await database.read(event_lists.list_events, event_lists.EventQuery(stack_ids=[made.id]))
    assert [item.reason for item in listed] == ["mine", "theirs"]


async def test_a_lost_claim_does_not_affect_others_of_the_same_group(
    database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    made, owned = running
    batches = [Batch(claim=Claim(owned.id, epoch)).add(event(made.id, str(epoch))) for epoch in (1, 7, 1)]
    results = await asyncio.gather(*(journal.commit(batch) for batch in batches), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), Fenced, type(None)]


async def test_only_one_of_several_writers_claims_an_operation(url: str, database: Database, journal: Journal) -> None:
    made = stack()
    waiting = operation(made.id, owner=None, epoch=0, status=PENDING)
    made.operation = waiting.id
    await journal.commit(Batch().add(made, waiting, *(engine(f"e{number}", NOW) for number in range(3))))
    databases = [Database(url) for _ in range(3)]
    journals = [Journal(each) for each in databases]
    answers = await asyncio.gather(*(taken(each, waiting.id, f"e{n}") for n, each in enumerate(journals)))
    assert sorted(answer is not None for answer in answers) == [False, False, True]
    for each, store in zip(journals, databases, strict=True):
        each.close()
        store.close()


async def test_only_one_of_several_writers_records_an_object(url: str, database: Database, journal: Journal) -> None:
    """One engine created it and two have found it; all three record it at the same time, ten times."""
    made = stack()
    rows = [Resource(new_id(), made.id, n, f"r{n}", "T", "CREATE", "IN_PROGRESS", "", 1.0) for n in range(30)]
    await journal.commit(Batch().add(made, *rows))
    databases = [Database(url) for _ in range(3)]
    journals = [Journal(each) for each in databases]
    for each in journals:
        await each.commit(Batch())

    async def record(number: int) -> bool:
        row = replace(rows[number], physical_id=f"object-{number // 3}")
        batch = Batch().change(row)
        if number % 3:
            batch.found.append(Found(str(row.physical_id), row.uuid, None))
        else:
            claim(batch, row)
        try:
            await journals[number % 3].commit(batch)
        except ObjectAlreadyOwned:
            return False
        return True

    recorded = await asyncio.gather(*(record(number) for number in range(30)))
    assert [sum(recorded[start : start + 3]) for start in range(0, 30, 3)] == [1] * 10
    shown = await database.read(queries.resources_of, made.id)
    assert sorted(row.physical_id for row in shown if row.physical_id) == sorted(f"object-{n}" for n in range(10))
    for each, store in zip(journals, databases, strict=True):
        each.close()
        store.close()


def claim(batch: Batch, row: Resource) -> None:
    """Claim the object of a resource whose row the batch writes."""
    row.ownership = key_of("kind", "", str(row.physical_id))
    batch.claims.append(Owned(row.ownership, str(row.physical_id), row.uuid, row.type))


async def test_only_one_of_several_writers_claims_an_object(url: str, database: Database, journal: Journal) -> None:
    """Resources of three engines, new ones and recorded ones, claim the same objects at the same time."""
    made = stack()
    rows = [Resource(new_id(), made.id, n, f"r{n}", "T", "CREATE", "IN_PROGRESS", "", 1.0) for n in range(60)]
    await journal.commit(Batch().add(made, *(row for row in rows if row.position % 2)))
    databases = [Database(url) for _ in range(3)]
    journals = [Journal(each) for each in databases]

    async def record(number: int) -> str:
        row = replace(rows[number], physical_id=f"object-{number // 6}")
        batch = Batch().change(row) if row.position % 2 else Batch().add(row)
        claim(batch, row)
        try:
            await journals[number % 3].commit(batch)
        except ObjectAlreadyOwned as taken:
            assert taken.holder is not None
            return taken.holder.physical_id
        return ""

    reported = await asyncio.gather(*(record(number) for number in range(60)))
    for start in range(0, 60, 6):
        group = reported[start : start + 6]
        assert sorted(group) == ["", *[f"object-{start // 6}"] * 5]
    shown = await database.read(queries.resources_of, made.id)
    assert sorted(row.physical_id for row in shown if row.physical_id) == sorted(f"object-{n}" for n in range(10))
    for each, store in zip(journals, databases, strict=True):
        each.close()
        store.close()


async def test_a_new_operation_waits_for_the_other_engine_that_runs_one(
    database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    made, owned = running
    newer = operation(made.id)

    def submit(connection: Connection) -> str | None:
        queries.lock_stack(connection, made.id)
        busy = claims.begin(connection, newer, "other", NOW)
        queries.set_stack(connection, made.id, {"operation": newer.id})
        return busy

    assert await did(journal, submit) == "me"
    assert (await read(database, newer.id)).status == PENDING
    assert await taken(journal, newer.id, "other") is None
    seen = (await database.read(claims.current_states, [owned.id]))[owned.id]
    assert seen.current == newer.id
    owned.status = SUPERSEDED
    await journal.commit(Batch(claim=Claim(owned.id, 1)).change(owned))
    assert await database.read(claims.waiting_on, made.id) == newer.id
    assert await taken(journal, newer.id, "me") is not None


async def test_the_operation_of_a_dead_engine_is_closed_permanently(
    database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    made, owned = running
    newer = operation(made.id)

    def submit(connection: Connection) -> str | None:
        queries.lock_stack(connection, made.id)
        return claims.begin(connection, newer, "other", NOW + 16)

    assert await did(journal, submit) is None
    assert ((await read(database, newer.id)).owner, (await read(database, newer.id)).status) == ("other", RUNNING)
    closed = await read(database, owned.id)
    assert (closed.status, closed.epoch) == (SUPERSEDED, 2)
    with pytest.raises(Fenced):
        await journal.commit(Batch(claim=Claim(owned.id, 1)).add(event(made.id, "too late")))


async def test_a_superseded_operation_is_closed_and_not_run(
    database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    made, owned = running
    await journal.commit(Batch().then(partial(queries.set_stack, stack_id=made.id, values={"operation": "newer"})))
    assert await taken(journal, owned.id, "other", NOW + 16) is None
    assert (await read(database, owned.id)).status == SUPERSEDED


async def test_orphans_are_operations_without_a_living_owner(
    database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    waiting = operation("s2", owner=None, epoch=0, status=PENDING, created_at=0.5)
    await journal.commit(Batch().add(waiting))

    async def orphans(now: float) -> list[str]:
        first = await database.read(claimable.claimable, "other", now, 1)
        rest = await database.read(claimable.claimable, "other", now, 10, first[-1])
        return [item.id for item in (*first, *rest)]

    assert await orphans(NOW) == [waiting.id]
    assert await orphans(NOW + 16) == [running[1].id, waiting.id]
    assert await database.read(claimable.count_unfinished, NOW) == {"running": 1, "waiting": 1}


async def test_reports_keep_an_engine_alive_even_if_its_record_was_deleted(
    database: Database, journal: Journal
) -> None:
    for seen in (NOW, NOW + 10):
        await journal.commit(Batch().then(partial(claims.report, engine=engine("me", seen))))
        assert await database.read(claims.living, seen + 14) == {"me"}
        assert await database.read(claims.living, seen + 16) == set()
    await journal.commit(Batch().then(partial(claims.forget_engines, before=NOW + 11)))
    assert await database.read(claims.list_engines) == []
    await journal.commit(Batch().then(partial(claims.report, engine=engine("me", NOW))))
    assert await database.read(claims.living, NOW) == {"me"}


async def test_a_change_outside_operations_is_refused_if_the_resource_has_changed(
    journal: Journal, running: tuple[Stack, Operation]
) -> None:
    made, owned = running
    values: dict[str, Any] = dict.fromkeys(Resource.columns)
    text = {"uuid": "r", "stack_id": made.id, "name": "r", "type": "T", "action": "CREATE", "status": "COMPLETE"}
    resource = Resource(
        **{**values, **text, "reason": "", "fingerprint": "", "requires": "[]", "position": 1, "state": "as read",
           "created_at": 1.0}
    )  # fmt: skip
    await journal.commit(Batch().add(resource))
    changed = replace(resource, state="changed from outside")
    untouched = partial(claims.change_from_outside, row=changed, as_read="as read")
    with pytest.raises(Fenced, match="has started"):
        await journal.commit(Batch().then(untouched))
    owned.status = "COMPLETE"
    await journal.commit(Batch().change(owned))
    await journal.commit(Batch().then(untouched))
    with pytest.raises(Fenced, match="changed meanwhile"):
        await journal.commit(Batch().then(untouched))


def refusal(dialect: Any, *, mysql: tuple[int, str], postgresql: str) -> Exception:
    """An error that passes, as the driver raises it. SQLite's has the code of a busy database."""
    arguments = {"sqlite": ("database is locked",), "mysql": mysql, "mariadb": mysql, "postgresql": (postgresql,)}
    error: Exception = dialect.dbapi.OperationalError(*arguments[dialect.name])
    if dialect.name == "sqlite":
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY  # type: ignore[attr-defined]
    return error


async def test_a_commit_that_succeeded_before_the_connection_broke_is_not_repeated(
    database: Database, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks after the database has committed, before it can reply."""
    broken: list[str] = []
    original = type(database.engine.dialect).do_commit

    def do_commit(dialect: Any, connection: Any) -> None:
        original(dialect, connection)
        if not broken:
            broken.append("once")
            raise refusal(dialect, mysql=(2013, "Lost connection"), postgresql="the connection was lost")

    await journal.commit(Batch().add(stack("before")))
    monkeypatch.setattr(type(database.engine.dialect), "do_commit", do_commit)
    monkeypatch.setattr("stoker.store.journal.RETRY_SECONDS", 0.01)
    await journal.commit(Batch().add(stack("cut-off")))
    assert broken
    await journal.commit(Batch().add(stack("after")))
    names = {item.name for item in await database.read(stack_lists.list_stacks, stack_lists.StackQuery(project_id="p"))}
    assert names == {"before", "cut-off", "after"}


async def test_writes_wait_for_a_database_that_is_temporarily_unavailable(
    database: Database, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = iter([True, True])
    original = type(database.engine.dialect).do_commit

    def do_commit(dialect: Any, connection: Any) -> None:
        if next(refusals, False):
            dialect.do_rollback(connection)
            raise refusal(dialect, mysql=(1213, "Deadlock found"), postgresql="the server is shutting down")
        original(dialect, connection)

    monkeypatch.setattr(type(database.engine.dialect), "do_commit", do_commit)
    monkeypatch.setattr("stoker.store.journal.RETRY_SECONDS", 0.01)
    made = stack()
    await journal.commit(Batch().add(made))
    assert await database.read(queries.stack_by_id, made.id) == made


async def test_a_process_that_is_paused_during_a_transaction_blocks_no_other(
    url: str, database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    """Its locks are released when its transaction has been idle for too long; its next statement then fails."""
    if url.startswith("sqlite"):
        pytest.skip("processes on different machines do not share a file")
    made, _ = running
    paused = Database(url, Pool(idle_transaction=1.0))
    with paused.engine.connect() as connection:
        queries.set_stack(connection, made.id, {"reason": "never to be seen"})
        await journal.commit(Batch().then(partial(queries.set_stack, stack_id=made.id, values={"reason": "seen"})))
        with pytest.raises(DBAPIError) as refused:
            queries.set_stack(connection, made.id, {"reason": "too late"})
    assert passes(refused.value)
    recorded = await paused.read(queries.stack_by_id, made.id)
    assert recorded is not None and recorded.reason == "seen"
    paused.close()


WAITS = {"sqlite": "SELECT 1", "postgresql": "SELECT pg_sleep(1.5)", "mysql": "SELECT SLEEP(1.5)"}


def test_a_migration_may_take_longer_than_transactions_may_be_idle(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection that keeps other processes from migrating only waits, as long as it takes."""
    upgrade = schema.upgrade

    def slow(connection: Connection) -> None:
        connection.exec_driver_sql(WAITS[connection.dialect.name.replace("mariadb", "mysql")])
        upgrade(connection)

    monkeypatch.setattr(schema, "upgrade", slow)
    database = Database(url, Pool(idle_transaction=1.0))
    database.migrate()
    assert database.read_now(schema.versions).compatibility.usable
    database.close()


def test_names_that_differ_by_case_are_different(database: Database) -> None:
    with database.writing() as connection:
        for name in ("web", "Web", "wéb"):
            connection.execute(tables.stacks.insert().values(stack(name).values()))
    found = database.read_now(queries.stack_by_name, "p", "Web")
    assert found is not None and found.name == "Web"
    assert database.read_now(queries.stack_by_name, "p", "WEB") is None


MIGRATIONS = """
import os, sys
from alembic import command
from stoker.store.database import Database

children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        database = Database(sys.argv[1])
        database.migrate()
        database.close()
        os._exit(0)
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""
"""A program that migrates in three processes."""


@pytest.mark.slow
def test_several_processes_can_migrate_at_the_same_time(url: str) -> None:
    done = subprocess.run([sys.executable, "-c", MIGRATIONS, url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    database = Database(url)
    database.read_now(schema.require_fit)
    database.close()


def test_an_empty_database_is_not_compatible(url: str) -> None:
    database = Database(url)
    with pytest.raises(Invalid, match="run `stoker db sync`"):
        database.read_now(schema.require_fit)
    database.close()


async def test_checking_a_claim_reads_no_plan_and_rows_are_deleted_together(
    database: Database, journal: Journal, running: tuple[Stack, Operation]
) -> None:
    made, owned = running
    rows = [Resource(new_id(), made.id, n, f"r{n}", "T", "CREATE", "COMPLETE", "", 1.0) for n in range(3)]
    await journal.commit(Batch().add(*rows))
    statements: list[str] = []
    listen(database.engine, "before_cursor_execute", lambda _, cursor, statement, *rest: statements.append(statement))
    await journal.commit(Batch(claim=Claim(owned.id, 1)).remove(*rows))
    reading = [text for text in statements if text.startswith("SELECT") and "FROM operations" in text]
    assert len(reading) == 1 and "plan" not in reading[0]
    assert len([text for text in statements if text.startswith("DELETE")]) == 1
