"""Deleted stacks are purged with all records that only they used, while engines continue to write."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from stoker.base.ids import new_id
from stoker.store import documents, purging, tables
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.records import Inputs, Stack
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


def purge(database: Database, most: int = 20) -> int:
    with database.writing() as connection:
        return purging.purge(connection, before=100.0, most=most)


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


async def test_a_document_that_is_being_referred_to_again_is_kept(database: Database, journal: Journal) -> None:
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
        assert purging.purge(connection, before=100.0) == 1
        batch = Batch().then(store).add(inputs, stack("new", inputs=inputs.id))
        writing = asyncio.ensure_future(journal.commit(batch))
        done, _ = await asyncio.wait([writing], timeout=0.2)
        assert not done
    await writing
    assert stored(database) == {"template", "environment"}
