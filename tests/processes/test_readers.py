"""Processes beside an embedded engine that serve reads: fresh, expendable, and only when they help."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete
from sqlalchemy.exc import DBAPIError

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.config import load_config
from stoker.base.context import RequestContext
from stoker.base.errors import Bug, EntityNotFound, TemplateInvalid
from stoker.contract.catalog import ListEngines
from stoker.contract.previews import PreviewStack
from stoker.contract.request import Answer, Reference, Request
from stoker.contract.resources import ListResources
from stoker.contract.stacks import CreateStack, DeleteStack, ListStacks, ShowStack, ValidateTemplate
from stoker.operations import OPERATIONS, READING
from stoker.processes.directory import DataDirectory
from stoker.processes.embedded_options import Options
from stoker.processes.reader_services import ServicesWithReaders
from stoker.processes.readers import Load, Readers, ReaderState, _end, _started
from stoker.processes.settings import readers_of
from stoker.rpc.pipes import PipeClient
from stoker.store.database import Database, Pool
from stoker.store.tables import stacks
from stoker.testing.sandbox import empty_database
from stoker_foundation.clock import SystemClock
from testing.harness import KEY, ThreadedWorld
from testing.servers import MariaDB, PostgreSQL, wait_until
from testing.tables import with_tables

TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"word": {"type": "OS::Heat::RandomString"}}}
SECONDS = 240.0

OTHER_RELEASE = """
import sys
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[-1]))
connection.send_bytes(b'{"ready": true, "release": "99.0"}\\n')
connection.poll(None)
"""


@dataclass
class Installation:
    """A running engine, and how processes beside it are started."""

    world: ThreadedWorld
    arguments: list[str]

    @property
    def context(self) -> RequestContext:
        return self.world.world.context

    def readers(self, engine: Any, most: int, now: Callable[[], float]) -> Readers:
        return Readers(engine, READING, self.arguments, most, now)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    directory = tmp_path_factory.mktemp("readers")
    configured = directory / "heat.conf"
    configured.write_text(f"[DEFAULT]\nauth_encryption_key = {KEY}\n")
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served:
        world = ThreadedWorld(directory, served)
        options = Options(
            DataDirectory(directory), 8004, 8000, f"{served.url}/identity/v3", config_files=(str(configured),)
        )
        yield Installation(world, options.for_reader())
        world.stop()


@contextmanager
def reader(installation: Installation) -> Iterator[PipeClient]:
    connection, process = _started(installation.arguments)
    client = PipeClient(connection)
    client.await_ready(SECONDS)
    ended = threading.Event()
    receiving = threading.Thread(target=client.receive, args=(ended.is_set, 0.1))
    receiving.start()
    try:
        yield client
    finally:
        ended.set()
        receiving.join()
        status = _end(process)
    assert status == 0


@pytest.mark.slow
def test_readers_see_previous_writes(installation: Installation) -> None:
    engine, context = installation.world.client(), installation.context
    with reader(installation) as first, reader(installation) as second:
        for number in range(5):
            name = f"fresh{number}"
            made = engine.call(context, CreateStack(name=name, template=TEMPLATE))
            ref: Reference = {"name": None, "id": made["id"]}
            for client in (first, second):
                assert client.call(context, ShowStack(ref=ref))["name"] == name
            installation.world.settle(made["id"])
            for client in (first, second):
                shown = client.call(context, ListResources(ref=ref))["resources"]
                assert [(row["name"], row["status"]) for row in shown] == [("word", "COMPLETE")]
            engine.call(context, DeleteStack(ref=ref))
            for client in (first, second):
                assert client.call(context, ShowStack(ref=ref))["action"] == "DELETE"
            installation.world.settle(made["id"])
            for client in (first, second):
                with pytest.raises(EntityNotFound):
                    client.call(context, ShowStack(ref={"name": name, "id": None}))


@pytest.mark.slow
def test_a_reader_answers_as_the_engine_does(installation: Installation) -> None:
    engine, context = installation.world.client(), installation.context
    wrong = {**TEMPLATE, "resources": {"word": {"type": "OS::No::Such"}}}
    with reader(installation) as client:
        for request in (ValidateTemplate(template=TEMPLATE), PreviewStack(name="imagined", template=TEMPLATE)):
            assert _timeless(client.call(context, request)) == _timeless(engine.call(context, request))
        found = []
        for each in (client, engine):
            with pytest.raises(TemplateInvalid) as caught:
                each.call(context, ValidateTemplate(template=wrong))
            found.append(caught.value.to_dict())
        assert found[0] == found[1]


def _timeless(answer: Any) -> Any:
    match answer:
        case dict():
            return {key: _timeless(value) for key, value in answer.items() if not key.endswith(("_at", "digest"))}
        case list():
            return list(map(_timeless, answer))
    return answer


@pytest.mark.slow
def test_a_reader_takes_no_request_that_writes(installation: Installation) -> None:
    with reader(installation) as client, pytest.raises(Bug):
        client.call(installation.context, CreateStack(name="refused", template=TEMPLATE))
    with pytest.raises(EntityNotFound):
        installation.world.client().call(installation.context, ShowStack(ref={"name": "refused", "id": None}))


def _requires_readers_to_be_unable_to_write(url: str) -> None:
    database = Database(url, Pool(read_only=True))
    try:
        with pytest.raises(DBAPIError), database.writing() as connection:
            connection.execute(delete(stacks))
    finally:
        database.close()


def test_a_read_only_connection_refuses_to_write_to_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "stoker.db"
    path.write_bytes(empty_database())
    _requires_readers_to_be_unable_to_write(f"sqlite:///{path}")


@pytest.mark.slow
@pytest.mark.xdist_group("postgresql")
def test_a_read_only_connection_refuses_to_write_to_postgresql(postgresql: PostgreSQL) -> None:
    _requires_readers_to_be_unable_to_write(with_tables(postgresql, "readers"))


@pytest.mark.slow
@pytest.mark.xdist_group("mariadb")
def test_a_read_only_connection_refuses_to_write_to_mariadb(mariadb: MariaDB) -> None:
    _requires_readers_to_be_unable_to_write(with_tables(mariadb, "readers"))


# -- how many, and when ------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds


class BusyEngine:
    """A client of the engine whose calls end together, when so many have begun, long after that."""

    def __init__(self, client: Any, clock: Clock, calls: int) -> None:
        self.client = client
        self.clock = clock
        self.barrier = threading.Barrier(calls, self.pass_time)
        self.answered: list[str] = []

    def pass_time(self) -> None:
        self.clock.seconds += 2.0

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        if isinstance(request, ListStacks):
            self.barrier.wait(SECONDS)
        self.answered.append(request.method)
        answer: Answer = self.client.call(context, request, timeout)
        return answer


def _at_once(readers: Readers, context: RequestContext, calls: int) -> None:
    with ThreadPoolExecutor(calls) as threads:
        list(threads.map(lambda _: readers.call(context, ListStacks()), range(calls)))


def _processes(readers: Readers) -> list[int]:
    return [int(name.split()[1]) for name in readers.values() if "engine" not in name]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_one_client_starts_no_process(installation: Installation, clock: Clock) -> None:
    engine = BusyEngine(installation.world.client(), clock, 1)
    readers = installation.readers(engine, 4, clock.now)
    for _ in range(50):
        readers.call(installation.context, ListStacks())
    assert not readers._threads
    readers.stop()


def test_without_readers_the_engine_serves_everything(installation: Installation, clock: Clock) -> None:
    engine = BusyEngine(installation.world.client(), clock, 4)
    readers = installation.readers(engine, 0, clock.now)
    _at_once(readers, installation.context, 4)
    _at_once(readers, installation.context, 4)
    assert engine.answered == ["stack_list"] * 8
    assert not readers._threads
    readers.stop()


@pytest.mark.slow
def test_processes_are_started_by_load_replaced_when_killed_and_ended_when_idle(
    installation: Installation, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    context = installation.context
    engine = BusyEngine(installation.world.client(), clock, 4)
    readers = installation.readers(engine, 1, clock.now)
    _at_once(readers, context, 4)
    wait_until(lambda: _processes(readers), "a reader is started")
    [process] = _processes(readers)
    [shown] = readers.status().processes
    assert (shown.pid, shown.state, shown.calls) == (process, ReaderState.RUNNING, 0)
    services = ServicesWithReaders(readers, lambda: 1_000_000.0)
    listed = services.call(context, ListEngines())
    assert [(each["binary"], each["status"]) for each in listed] == [("stoker-engine", "up"), ("stoker-reader", "up")]
    assert services.readiness()["readers"]["processes"] == [{"pid": process, "state": "running", "calls": 0}]
    count = len(engine.answered)
    assert readers.call(context, ValidateTemplate(template=TEMPLATE))
    readers.call(context, ShowStack(ref=_made(readers, context)))
    assert engine.answered[count:] == ["stack_create"], "the reader does the rest"

    os.kill(process, signal.SIGSTOP)  # so that calls are in progress when it is killed
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(readers.call, context, ValidateTemplate(template=TEMPLATE)) for _ in range(2)]
        wait_until(lambda: readers.values()[f"process {process}"] == 2, "the reader has both calls")
        os.kill(process, signal.SIGKILL)
        assert [call.result(SECONDS)["Parameters"] for call in calls] == [{}, {}]
    wait_until(lambda: not readers._threads, "the reader is gone")
    assert "has ended with status -9" in caplog.text
    status = readers.status()
    assert (status.restarts, status.processes) == (1, []) and status.reason.endswith("has ended with status -9")

    _at_once(readers, context, 4)
    assert not readers._threads, "not again at once"
    clock.seconds += 60.0
    _at_once(readers, context, 4)
    wait_until(lambda: _processes(readers), "another reader is started")
    [process] = _processes(readers)
    clock.seconds += 60.0
    wait_until(lambda: not readers._threads, "the reader is ended")
    assert not Path(f"/proc/{process}").exists()
    assert readers.status().restarts == 1, "one that is not needed any more has not failed"
    readers.stop()


def _made(readers: Readers, context: RequestContext) -> Reference:
    made = readers.call(context, CreateStack(name="through", template=TEMPLATE))
    return {"name": None, "id": made["id"]}


@pytest.mark.slow
def test_the_end_of_the_engine_ends_the_readers(installation: Installation, clock: Clock) -> None:
    engine = BusyEngine(installation.world.client(), clock, 4)
    readers = installation.readers(engine, 1, clock.now)
    _at_once(readers, installation.context, 4)
    wait_until(lambda: _processes(readers), "a reader is started")
    [process] = _processes(readers)
    readers.stop()
    assert not Path(f"/proc/{process}").exists()
    assert readers.call(installation.context, ValidateTemplate(template=TEMPLATE)), "the engine still answers"


@pytest.mark.slow
def test_a_process_of_another_release_is_not_used(
    installation: Installation, clock: Clock, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "other_release.py").write_text(OTHER_RELEASE)
    engine = BusyEngine(installation.world.client(), clock, 4)
    readers = Readers(engine, READING, [str(tmp_path / "other_release.py")], 1, clock.now)
    for _ in range(2):
        _at_once(readers, installation.context, 4)
        wait_until(lambda: not readers._threads, "the process is gone")
        clock.seconds += 60.0
    assert caplog.text.count("release 99.0 was installed meanwhile") == 1
    status = readers.status()
    assert (status.most, status.restarts) == (0, 0) and "release 99.0 was installed meanwhile" in status.reason
    assert engine.answered == ["stack_list"] * 8
    readers.stop()


def test_load_counts_what_shares_a_process_and_forgets_it_with_time() -> None:
    load = Load(0.0)
    assert not any(load.ended(now, now + 1.0, crowded=False, shared=False) for now in range(100))
    assert load.shared_at == 0.0
    crowded = [load.ended(100.0, 101.0, crowded=True, shared=True) for _ in range(4)]
    assert crowded == [False, False, True, True]
    assert load.shared_at == 101.0
    assert not load.ended(109.0, 110.0, crowded=True, shared=True)
    load = Load(0.0)
    assert not any(load.ended(now, now + 0.5, crowded=True, shared=True) for now in range(100))


@pytest.mark.parametrize(("written", "most"), [("0", 0), ("3", 3), (None, len(os.sched_getaffinity(0)) - 1)])
def test_an_option_limits_the_processes(tmp_path: Path, written: str | None, most: int) -> None:
    path = tmp_path / "heat.conf"
    path.write_text("[engine]\n" + (f"readers = {written}\n" if written is not None else ""))
    assert readers_of(load_config([], [str(path)])) == most


def test_reader_operations_are_engine_operations() -> None:
    assert set(READING) < set(OPERATIONS)
    assert {"validate_template", "stack_list", "resource_list", "stack_preview"} <= set(READING)
    assert not {"stack_create", "resource_signal", "drift_detect", "request_token_claim"} & set(READING)
