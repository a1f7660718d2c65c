"""The rehearsal at scale: its models of servers, its look at statements, and the program on a small cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from stoker.store.database import Database
from stoker.store.tables import engines, operations, stacks
from stoker.testing.sandbox import empty_database
from tools.scale import latencies
from tools.scale.__main__ import parse
from tools.scale.latencies import Latencies, Samples
from tools.scale.scans import scans
from tools.scale.servers import Broker, DatabaseServer
from tools.scale.statements import Recorder, Transaction, form_of

ROOT = Path(__file__).parents[3]
TIMES = Latencies("a test", {"other": 0.001}, 0.0001, 0.01, 0.002, 0.001, {"other": 0.0001}, 0.001, network_trip=0.0)
SMALL = (
    *("--engines", "5", "--apis", "2", "--resources", "300", "--rate", "20", "--reads", "2", "--projects", "2"),
    *("--waiting", "20", "--warming", "4", "--measured", "4", "--after", "26"),
)


def asked(*locked: str, statements: int = 1) -> Transaction:
    """A transaction that locks rows of `stacks`."""
    return Transaction([("UPDATE stacks", 1)] * statements, {("stacks", key): None for key in locked}, writes=True)


# -- servers -----------------------------------------------------------------------------------------------------


def test_a_transaction_waits_for_another_one_that_has_locked_its_row() -> None:
    server = DatabaseServer(TIMES, processors=4)

    first = server.write(0.0, asked("a"))
    second = server.write(0.0, asked("a"))

    assert first == pytest.approx(0.011)
    assert second == pytest.approx(0.022)
    assert server.locks.longest == pytest.approx(0.011)
    assert server.rows["stacks", "a"].use.times == 2


def test_transactions_on_other_rows_share_a_flush_of_the_log() -> None:
    server = DatabaseServer(TIMES, processors=4)

    ends = [server.write(0.0, asked(key)) for key in "abc"]

    assert ends == pytest.approx([0.011, 0.011, 0.011])
    assert server.log.times == 1


def test_transactions_during_a_flush_join_the_next() -> None:
    server = DatabaseServer(TIMES, processors=4)

    server.write(0.0, asked("a"))

    assert server.write(0.002, asked("b")) == pytest.approx(0.021)


def test_statements_wait_for_a_processor_of_the_server() -> None:
    server = DatabaseServer(TIMES, processors=1)

    ends = [server.read(0.0, Transaction([("SELECT stacks", 1)])) for _ in range(3)]

    assert ends == pytest.approx([0.001, 0.002, 0.003])


def test_each_further_row_of_a_statement_takes_its_time() -> None:
    server = DatabaseServer(TIMES, processors=1)

    assert server.read(0.0, Transaction([("INSERT events", 11)])) == pytest.approx(0.002)


def test_a_broker_delivers_one_message_after_the_other_and_every_copy_counts() -> None:
    broker = Broker(TIMES)

    assert broker.sent(0.0, "finished", copies=3) == pytest.approx(0.007)
    assert broker.sent(0.0, "call") == pytest.approx(0.009)
    assert broker.messages == {"finished": 3, "call": 1}


# -- statements --------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "stoker.db"
    path.write_bytes(empty_database())
    database = Database(f"sqlite:///{path}")
    yield database
    database.close()


def test_rows_that_are_locked_are_those_that_are_written_or_read_for_an_update(database: Database) -> None:
    recorder = Recorder()
    with recorder.attached(), database.writing() as connection:
        connection.execute(select(stacks.c.id).where(stacks.c.id == "read"))
        connection.execute(select(stacks.c.id).where(stacks.c.id == "held").with_for_update())
        connection.execute(update(operations).where(operations.c.id.in_(["x", "y"])).values(owner="me"))

    found = recorder.take()

    assert list(found.locked) == [("stacks", "held"), ("operations", "x"), ("operations", "y")]
    assert [kind for kind, _ in found.statements] == ["SELECT stacks", "SELECT stacks", "UPDATE operations"]
    assert not recorder.take().statements


def test_own_statements_of_rehearsal_are_not_recorded(database: Database) -> None:
    recorder = Recorder()
    with recorder.attached(), recorder.not_recording(), database.engine.connect() as connection:
        connection.execute(select(stacks.c.id))

    assert not recorder.take().statements
    assert not recorder.examples


def test_the_kind_of_a_statement_is_its_verb_and_table() -> None:
    assert form_of("INSERT INTO events (id) VALUES (?)").kind == "INSERT events"
    assert form_of("UPDATE stacks SET status=? WHERE stacks.id = ?").terms == (("id", (1,)),)


def test_a_statement_that_looks_at_a_whole_table_is_found(database: Database) -> None:
    recorder = Recorder()
    with recorder.attached(), database.writing() as connection:
        rows = [
            {
                "id": str(number),
                "host": "h",
                "process": 1,
                "version": "1",
                "started_at": 0.0,
                "seen_at": 0.0,
                "lease": 1.0,
            }
            for number in range(1200)
        ]
        connection.execute(engines.insert(), rows)
        connection.execute(select(engines.c.id).where(engines.c.id == "1"))
        connection.execute(select(engines.c.id).where(engines.c.seen_at > 5.0))

    [scan] = scans(database, recorder.examples)

    assert (scan.table, scan.index, scan.rows) == ("engines", None, 1200)
    assert "seen_at >" in scan.statement


# -- times -------------------------------------------------------------------------------------------------------


def test_a_file_of_times_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    TIMES.write(path)

    assert latencies.read(path) == TIMES
    assert latencies.read(path).statement("SELECT anything") == 0.001


def test_lower_times_of_two_measurements_are_kept() -> None:
    slow = replace(TIMES, flush=0.02, statements={"other": 0.0005, "SELECT stacks": 0.1})

    assert slow.lower(TIMES) == replace(TIMES, statements={"other": 0.0005})


def test_another_file_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    path.write_text('{"source": "nothing else"}')

    with pytest.raises(ValueError, match=r"times\.json"):
        latencies.read(path)


def test_rarely_measured_kinds_are_grouped() -> None:
    samples = Samples()
    for number in range(40):
        samples.add("often", float(number))
    samples.add("once", 1000.0)

    assert samples.quarters() == {"often": 10.0, "other": 10.0}


def test_the_measured_times_of_the_project_can_be_read() -> None:
    found = latencies.read()

    assert found.statement("UPDATE engines") < 0.1
    assert found.callbacks["FairScheduler.run"] > 0.0


# -- the program -------------------------------------------------------------------------------------------------


def rehearsed(*more: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "tools.scale", *SMALL, *more]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_small_cluster_does_what_is_requested_and_a_seed_gives_one_table() -> None:
    first = rehearsed()

    assert "5 engines in 5 zones" in first
    rows = {line[2:].rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[-1].strip() for line in first.splitlines()}
    assert float(rows["the same, done"]) >= 10.0
    assert int(rows["unfinished operations that they owned"]) >= 1
    assert rows["not taken over"] == "0"
    assert 12.0 <= float(rows["the last is taken over after"].removesuffix(" s")) <= 26.0
    assert rows["requests refused"] == "0"
    assert rehearsed() == first


@pytest.mark.parametrize("wrong", [("--engines", "1"), ("--rate", "0"), ("--apis", "0")])
def test_impossible_sizes_are_refused(wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse([*wrong])

    assert ended.value.code == 2
    assert wrong[0] in capsys.readouterr().err


def test_the_file_of_times_is_plain_json() -> None:
    assert json.loads(latencies.MEASURED.read_text())["source"]
