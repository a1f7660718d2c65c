"""The store: migrations, group commit, fencing, sealing, shared documents."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, create_engine, func, inspect, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from stoker.base.errors import Bug, Invalid
from stoker.store import documents, event_lists, queries, schema, stack_lists, tables
from stoker.store.database import Database, Pool
from stoker.store.journal import Batch, Journal
from stoker.store.queries import EventLimit
from stoker.store.sealing import Sealer
from stoker_foundation.clock import ManualClock
from testing.servers import MariaDB
from tests.store.rows import event, operation, stack

OWN = {schema.VERSION_TABLE, "schema_compatibility", "alembic_version"}
"""The tables about the tables."""


def count(database: Database, table: Any) -> int:
    return int(
        database.read_now(lambda connection: connection.execute(select(func.count()).select_from(table)).scalar())
    )


def test_the_migrations_create_the_tables_that_the_code_expects(database: Database) -> None:
    others = {
        index.name: index.info["on_mysql"]
        for table in tables.metadata.sorted_tables
        for index in table.indexes
        if "mysql" in str(database.url) and index.info.get("on_mysql", index.columns.keys()) != index.columns.keys()
    }
    options = {"include_object": lambda _, name, *__: name not in OWN and name not in others}
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts=options), tables.metadata) == []
        found = {index["name"]: index["column_names"] for index in inspect(connection).get_indexes("stacks")}
    assert {name: found[name] for name in others} == others


def test_a_new_database_has_the_tables_that_the_migrations_make() -> None:
    """An empty SQLite database is not migrated: its tables are created at once."""

    def made_by(make: Callable[[Connection], object]) -> dict[tuple[str, str], set[str]]:
        with create_engine("sqlite://").begin() as connection:
            make(connection)
            rows = connection.exec_driver_sql("SELECT type, name, sql, tbl_name FROM sqlite_master").all()
        return {(kind, name): parts(sql or "") for kind, name, sql, table in rows if table not in OWN}

    def parts(sql: str) -> set[str]:
        """The columns and constraints of a table in any order, or an index with its columns and its condition."""
        head, _, inside = " ".join(sql.replace('"', "").split()).partition("(")
        return {head, *(part.strip(" )") for part in re.split(r",(?![^(]*\))", inside))}

    migrated = made_by(lambda connection: command.upgrade(schema.migrations(connection), "head"))
    created = made_by(schema.upgrade)
    assert created == migrated
    assert any("WHERE parent_id IS NOT NULL" in part for part in created["index", "ix_stacks_parent_id"])


async def test_migrating_again_changes_nothing(database: Database, journal: Journal) -> None:
    await journal.commit(Batch().add(stack("kept"), operation("kept"), event("kept", "first", 0)))

    def everything() -> dict[str, list[Any]]:
        reflected = MetaData()
        reflected.reflect(database.engine)
        with database.engine.connect() as connection:
            return {table.name: [*connection.execute(select(table))] for table in reflected.sorted_tables}

    before = everything()
    assert before["stacks"] and before["operations"] and before["events"]
    database.migrate()
    assert everything() == before


async def test_batches_that_wait_together_are_committed_together(database: Database, journal: Journal) -> None:
    made = [stack(f"s{number}") for number in range(200)]
    before = journal.groups
    await asyncio.gather(*(journal.commit(Batch().add(one)) for one in made))
    assert count(database, tables.stacks) == 200
    assert journal.groups - before < 50


async def test_a_group_waits_for_those_who_can_continue(
    database: Database, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time that the journal waits, one more batch is submitted, as by a step that is slow to compute."""
    remaining = [stack(f"s{number}") for number in range(9)]
    first = remaining.pop()
    monkeypatch.setattr(journal, "collect", lambda: journal.submit(Batch().add(remaining.pop()), lambda error: None))
    monkeypatch.setattr(journal, "expects_more", lambda: bool(remaining))
    before = journal.groups
    await journal.commit(Batch().add(first))
    assert journal.groups - before == 1
    assert count(database, tables.stacks) == 9


async def test_a_group_waits_for_a_limited_number_of_batches(
    database: Database, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = list[None]()
    monkeypatch.setattr(journal, "collect", lambda: waits.append(None))
    monkeypatch.setattr(journal, "expects_more", lambda: True)
    await journal.commit(Batch().add(stack("only one")))
    assert 0 < len(waits) < 50
    waits.clear()
    journal.submit(Batch().add(stack("first")), lambda error: None)
    await asyncio.gather(*(journal.commit(Batch().add(stack(f"s{number}"))) for number in range(200)))
    assert len(waits) < 200


async def test_the_last_version_of_a_row_wins_within_a_group(database: Database, journal: Journal) -> None:
    made = operation("s", reason="first")
    commits = [journal.commit(Batch().add(made))]
    for number in range(20):
        made.reason = f"version {number}"
        commits.append(journal.commit(Batch().change(made)))
    await asyncio.gather(*commits)
    found = await database.read(queries.operation_by_id, made.id)
    assert found is not None and found.reason == "version 19"


async def test_a_failing_batch_does_not_affect_others(database: Database, journal: Journal) -> None:
    first = stack("taken")
    await journal.commit(Batch().add(first))
    batches = [Batch().add(stack("taken")), Batch().add(stack("free")), Batch().add(stack("taken"))]
    results = await asyncio.gather(*(journal.commit(batch) for batch in batches), return_exceptions=True)
    assert [type(result) for result in results] == [IntegrityError, type(None), IntegrityError]
    assert count(database, tables.stacks) == 2


async def test_a_batch_is_all_or_nothing(database: Database, journal: Journal) -> None:
    def fail(connection: Any) -> None:
        connection.execute(text("SELECT * FROM no_such_table"))

    with pytest.raises(DBAPIError):
        await asyncio.wait_for(journal.commit(Batch().add(stack()).then(fail)), 5)
    assert count(database, tables.stacks) == 0


async def test_the_name_of_a_deleted_stack_can_be_reused(database: Database, journal: Journal) -> None:
    first = stack("name")
    await journal.commit(Batch().add(first))
    gone = {"deleted_at": 2.0, "live_name": None}
    await journal.commit(Batch().then(partial(queries.set_stack, stack_id=first.id, values=gone)))
    with pytest.raises(IntegrityError):
        await journal.commit(Batch().add(stack("other")).add(stack("other")))
    second = stack("name")
    await journal.commit(Batch().add(second))
    found = await database.read(queries.stack_by_name, second.project_id, "name")
    assert found is not None and found.id == second.id
    assert count(database, tables.stacks) == 2


async def test_old_events_are_deleted_beyond_the_limit(database: Database, journal: Journal) -> None:
    await journal.commit(Batch().add(*(event("s", str(number), number) for number in range(10))))
    await journal.commit(Batch().jointly(queries.purge_events, EventLimit("s", keep=3, batch=1)))
    listed = await database.read(event_lists.list_events, event_lists.EventQuery(stack_ids=["s"]))
    assert [item.reason for item in listed] == ["7", "8", "9"]


@pytest.mark.parametrize(
    ("keep", "batch", "left"),
    [(9, 4, ["4", "5", "6", "7", "8", "9"]), (3, 4, ["9"]), (3, 200, ["9"]), (10, 1, [str(n) for n in range(10)])],
)
async def test_old_events_are_deleted_in_batches_and_never_all(
    database: Database, journal: Journal, keep: int, batch: int, left: list[str]
) -> None:
    await journal.commit(Batch().add(*(event("s", str(number), number) for number in range(10))))
    await journal.commit(Batch().jointly(queries.purge_events, EventLimit("s", keep, batch)))
    listed = await database.read(event_lists.list_events, event_lists.EventQuery(stack_ids=["s"]))
    assert [item.reason for item in listed] == left


async def turned(clock: ManualClock, work: Coroutine[Any, Any, None]) -> float:
    """Advance the clock until the work is done, and return the seconds that passed."""
    began, task = clock.now(), asyncio.ensure_future(work)
    while not task.done():
        await asyncio.sleep(0.002)
        if (due := clock.next_due()) is not None:
            clock.advance(due - clock.now())
    await task
    return clock.now() - began


async def test_a_database_that_does_not_answer_is_retried_and_then_reported_without_its_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    database = Database(f"mysql+pymysql://stoker:hidden@127.0.0.1:{port}/stoker")
    clock = ManualClock()
    began = clock.now()
    with pytest.raises(Invalid, match=r"mysql\+pymysql://stoker:\*\*\*@127.* cannot be reached") as caught:
        await turned(clock, database.wait_until_reachable(3, 10, clock))
    assert clock.now() - began == 20
    assert caplog.text.count("retrying in 10 s") == 2
    assert "hidden" not in caplog.text + str(caught.value)
    database.close()


async def test_a_file_that_cannot_be_opened_is_reported_at_once(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/missing/stoker.db")
    clock = ManualClock()
    with pytest.raises(Invalid, match="unable to open database file"):
        await database.wait_until_reachable(-1, 10, clock)
    database.close()


@pytest.mark.parametrize("check", [schema.require_fit, schema.upgrade])
def test_servers_that_lack_what_statements_use_are_refused(
    url: str, database: Database, check: Callable[[Connection], None]
) -> None:
    if not url.startswith("mysql"):
        pytest.skip("other databases have no lower bound")
    with database.engine.connect() as connection:
        check(connection)
        connection.dialect.server_version_info = (10, 5, 29)
        with pytest.raises(Invalid, match=r"the server is MariaDB 10\.5\.29; upgrade it to 10\.6 or later"):
            check(connection)


async def test_a_database_that_answers_is_not_waited_for(database: Database) -> None:
    assert await turned(clock := ManualClock(), database.wait_until_reachable(3, 10, clock)) == 0


def test_the_pool_has_the_configured_size(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'pool.db'}", Pool(size=1, overflow=1, timeout=0.01))
    with database.engine.connect(), database.engine.connect(), pytest.raises(PoolTimeout):
        database.engine.connect()
    database.close()


async def test_paging_through_stacks_shows_each_once(database: Database, journal: Journal) -> None:
    made = [stack(f"s{number}", created_at=float(number // 2)) for number in range(7)]
    await journal.commit(Batch().add(*made))
    seen: list[str] = []
    marker = None
    while page := await database.read(
        stack_lists.list_stacks, stack_lists.StackQuery(project_id="p", limit=2, marker=marker)
    ):
        seen += [item.name for item in page]
        marker = page[-1].id
    assert sorted(seen) == [f"s{number}" for number in range(7)]


async def test_tags_filter_stacks(database: Database, journal: Journal) -> None:
    for name, tags in (("a", ["x"]), ("b", ["x", "y"]), ("c", [])):
        made = stack(name)
        await journal.commit(Batch().add(made).then(partial(queries.set_tags, stack_id=made.id, tags=tags)))

    def names(**filters: Any) -> set[str]:
        wanted = stack_lists.StackQuery(project_id="p", **filters)
        return {item.name for item in database.read_now(stack_lists.list_stacks, wanted)}

    assert names(tags=["x", "y"]) == {"b"}
    assert names(tags_any=["x", "y"]) == {"a", "b"}
    assert names(not_tags=["x", "y"]) == {"a", "c"}
    assert names(not_tags_any=["y"]) == {"a", "c"}


def test_equal_documents_are_stored_once_and_sealed(database: Database) -> None:
    sealer = Sealer(["k" * 32])
    digest = sealer.digest("a secret text")
    with database.writing() as connection:
        for _ in range(3):
            documents.save(connection, {digest: "a secret text"}, sealer)
    assert count(database, tables.documents) == 1
    body = database.read_now(lambda c: c.execute(select(tables.documents.c.body)).scalar())
    assert "secret" not in str(body)
    assert database.read_now(documents.load, [digest, "missing"], sealer) == {digest: "a secret text"}


def test_values_sealed_with_an_older_key_can_be_opened() -> None:
    sealed = Sealer(["old key"]).seal({"a": [1, None]})
    assert Sealer(["new key", "old key"]).open(sealed) == {"a": [1, None]}
    with pytest.raises(Bug):
        Sealer(["new key"]).open(sealed)


def test_a_digest_depends_on_the_key() -> None:
    assert Sealer(["a"]).digest({"x": 1, "y": 2}) == Sealer(["a"]).digest({"y": 2, "x": 1})
    assert Sealer(["a"]).digest("password") != Sealer(["b"]).digest("password")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "not the URL of a database"),
        ("postgresql://stoker:hidden@127.0.0.1:port/stoker", "not the URL of a database"),
        ("foo://stoker:hidden@127.0.0.1/stoker", "foo is not supported; use one of .*postgresql"),
        ("oracle://stoker:hidden@127.0.0.1/stoker", "oracle is not supported"),
        ("mysql+mysqldb://stoker:hidden@127.0.0.1/stoker", r"use one of .*mysql\+pymysql"),
        ("sqlite://", "in-memory databases are not supported"),
        ("sqlite:///:memory:", "in-memory databases are not supported"),
        ("sqlite:///file:name?mode=memory&uri=true", "in-memory databases are not supported"),
    ],
)
def test_an_unusable_url_is_refused_with_a_message(url: str, message: str) -> None:
    with pytest.raises(Invalid, match=rf"\[database\] connection: .*{message}") as caught:
        Database(url)
    assert "hidden" not in caught.value.message


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("mysql://heat@127.0.0.1/heat", "pymysql"),
        ("mariadb://heat@127.0.0.1/heat", "pymysql"),
        ("postgresql://heat@127.0.0.1/heat", "psycopg"),
    ],
)
def test_the_driver_in_a_url_is_optional(url: str, driver: str) -> None:
    database = Database(url)
    assert database.engine.driver == driver
    database.close()


def test_a_missing_driver_is_reported_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(Invalid, match=r"pip install 'stoker\[mysql\]'"):
        Database("mysql://heat@127.0.0.1/heat")


@pytest.mark.slow
@pytest.mark.xdist_group("mariadb")
def test_sessions_on_a_galera_cluster_wait_as_configured(mariadb: MariaDB) -> None:
    """A server that is not part of a cluster has the variable too."""
    database = Database(mariadb.new_database("galera"), Pool(wsrep_sync_wait=3))
    assert database.read_now(lambda c: c.execute(text("SELECT @@SESSION.wsrep_sync_wait")).scalar()) == 3
    database.close()
