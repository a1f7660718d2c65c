"""Deleted stacks are purged with all records that only they used, while engines continue to write."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from stoker.base.ids import new_id
from stoker.store import approval_tables, documents, history, purging, settings, tables
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.records import Inputs, Stack
from stoker.store.removal import Removal
from stoker.store.sealing import Sealer
from tests.store.rows import event, operation, stack

SEALER = Sealer(["k" * 32])
FILES = {"a.yaml": "file of both", "b.yaml": "file of one"}


async def make(journal: Journal, template: str, files: Iterable[str], **changes: Any) -> Stack:
    """A stack whose inputs refer to a template, a shared environment, and files."""
    names = sorted(files)
    whole = f"list of {', '.join(names)}"
    bodies = {template: {}, "environment": {}, whole: names, **{FILES[name]: name for name in names}}
    inputs = Inputs(new_id(), template, "environment", whole, "")
    made = stack(new_id(), inputs=inputs.id, **changes)
    store = partial(documents.save, bodies=bodies, sealer=SEALER, parts={whole: [FILES[name] for name in names]})
    rows = (inputs, made, operation(made.id, inputs=inputs.id), event(made.id, "made"))
    await journal.commit(Batch().then(store).add(*rows))
    return made


def stored(database: Database) -> set[str]:
    return set(database.read_now(lambda connection: connection.execute(select(tables.documents.c.digest)).scalars()))


def carried_out(connection: Connection, removal: Removal | None) -> int:
    return 0 if removal is None else removal.carry_out(connection)


def purge(database: Database, most: int = 20) -> int:
    with database.writing() as connection:
        return carried_out(connection, purging.deleted_stacks(connection, False, 100.0, most=most))


async def test_documents_are_deleted_with_the_last_stack_that_refers_to_them(
    database: Database, journal: Journal
) -> None:
    await make(journal, "template of one", FILES, deleted_at=1.0)
    living = await make(journal, "template of both", ["a.yaml"])
    await make(journal, "template of both", ["a.yaml"], deleted_at=2.0)
    assert purge(database) == 2
    assert stored(database) == {"template of both", "environment", "list of a.yaml", "file of both"}
    await journal.commit(Batch().change(replace(living, deleted_at=3.0)))
    assert purge(database) == 1
    assert purge(database) == 0
    for table in (tables.documents, tables.document_parts, tables.inputs, tables.operations, tables.events):
        assert database.read_now(lambda connection, table=table: connection.execute(select(table)).first()) is None


async def test_documents_shared_by_several_batches_are_deleted_with_the_last(
    database: Database, journal: Journal
) -> None:
    for number in range(5):
        await make(journal, "template", FILES, deleted_at=float(number))
    assert [purge(database, most=2) for _ in range(2)] == [2, 2]
    assert len(stored(database)) == 5
    assert [purge(database, most=2) for _ in range(2)] == [1, 0]
    assert stored(database) == set()


async def test_the_last_good_inputs_of_a_stack_are_kept_as_long_as_it_exists(
    database: Database, journal: Journal
) -> None:
    gone = await make(journal, "template", FILES, deleted_at=1.0)
    await make(journal, "another template", FILES, good_inputs=gone.inputs)
    assert purge(database) == 1
    assert stored(database) >= {"template", "another template"}


async def test_document_with_new_reference_is_kept(database: Database, journal: Journal) -> None:
    """A writer found it stored, and has not yet committed the inputs that refer to it, when it is purged."""
    await make(journal, "template", FILES, deleted_at=1.0)
    found, go_on = threading.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        found.set()
        assert go_on.wait(60)

    inputs = Inputs(new_id(), "template", "environment", "list of a.yaml", "")
    store = partial(documents.save, bodies={"template": {}, "environment": {}}, sealer=SEALER)
    batch = Batch().then(store).then(hold).add(inputs, stack("new", inputs=inputs.id))
    writing = asyncio.ensure_future(journal.commit(batch))
    assert await asyncio.to_thread(found.wait, 60)
    purging_beside = asyncio.ensure_future(asyncio.to_thread(purge, database))
    done, _ = await asyncio.wait([purging_beside], timeout=0.2)
    assert not done
    go_on.set()
    await writing
    assert await purging_beside == 1
    assert stored(database) == {"template", "environment"}


async def test_a_document_that_is_being_removed_is_stored_again(database: Database, journal: Journal) -> None:
    await make(journal, "template", FILES, deleted_at=1.0)
    inputs = Inputs(new_id(), "template", "environment", "list of a.yaml", "")
    store = partial(documents.save, bodies={"template": {}, "environment": {}}, sealer=SEALER)
    with database.writing() as connection:
        assert carried_out(connection, purging.deleted_stacks(connection, False, 100.0)) == 1
        batch = Batch().then(store).add(inputs, stack("new", inputs=inputs.id))
        writing = asyncio.ensure_future(journal.commit(batch))
        done, _ = await asyncio.wait([writing], timeout=0.2)
        assert not done
    await writing
    assert stored(database) == {"template", "environment"}


async def test_stack_settings_are_deleted_with_stack(database: Database, journal: Journal) -> None:
    gone, living = await make(journal, "template", (), deleted_at=1.0), await make(journal, "template", ())
    with database.writing() as connection:
        for stack_id in ("", gone.id, living.id):
            settings.save_control(connection, gone.project_id, stack_id, {"approvals": []}, None, 1.0)
            settings.save_plan_policies(connection, gone.project_id, stack_id, "policies: []", None, 1.0)
    assert purge(database) == 1

    def left(connection: Connection) -> list[set[str]]:
        return [
            set(connection.execute(select(table.c.stack_id)).scalars())
            for table in (approval_tables.change_controls, approval_tables.plan_policies)
        ]

    assert database.read_now(left) == [{"", living.id}] * 2


async def test_only_the_last_deleted_stacks_are_kept(database: Database, journal: Journal) -> None:
    for number in range(7):
        await make(journal, "template", (), deleted_at=float(number + 1))
    living = await make(journal, "template", ())

    def purged(most: int) -> int:
        with database.writing() as connection:
            before = purging.oldest_kept(connection, 3)
            return carried_out(connection, purging.deleted_stacks(connection, False, before, most=most))

    assert [purged(3), purged(3), purged(3)] == [3, 1, 0]
    left = database.read_now(lambda connection: connection.execute(select(tables.stacks.c.deleted_at)).scalars().all())
    assert sorted(left, key=lambda at: at or 0) == [None, 5.0, 6.0, 7.0]
    assert living.deleted_at is None


async def test_old_events_are_deleted_in_portions(database: Database, journal: Journal) -> None:
    made = stack()
    await journal.commit(Batch().add(made))
    for number in range(10):
        await journal.commit(Batch().add(event(made.id, str(number), float(number))))

    def purged() -> int:
        with database.writing() as connection:
            return carried_out(connection, history.old_events(connection, False, 6.5, most=4))

    assert [purged(), purged(), purged()] == [4, 3, 0]
    kept = database.read_now(lambda connection: connection.execute(select(tables.events.c.reason)).scalars().all())
    assert kept == ["7", "8", "9"]


@pytest.mark.parametrize("shrinks_itself", [True, False])
def test_an_sqlite_file_shrinks(tmp_path: Path, shrinks_itself: bool) -> None:
    """By itself, if it was made by this release; a file that was made before when it is rewritten."""
    path = tmp_path / "s.db"
    if not shrinks_itself:
        with sqlite3.connect(path) as before:
            before.execute("CREATE TABLE earlier (name TEXT)")
        before.close()
    database = Database(f"sqlite:///{path}")
    database.migrate()
    with database.writing() as connection:
        connection.execute(tables.documents.insert(), [{"digest": str(n), "body": "x" * 10_000} for n in range(500)])
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
    large = path.stat().st_size
    with database.writing() as connection:
        connection.execute(tables.documents.delete())
        while purging.shrink(connection):
            pass
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all()
    assert (path.stat().st_size < large / 3) == shrinks_itself
    assert purging.compact(database)
    assert path.stat().st_size < large / 3
    database.close()


def test_a_file_in_use_is_not_rewritten(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 's.db'}")
    database.migrate()
    with sqlite3.connect(tmp_path / "s.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        assert not purging.compact(database)
        other.execute("ROLLBACK")
    other.close()
    assert purging.compact(database)
    database.close()
