"""Programs that start slowly: they are left alone as long as they make progress, and tell how far they are."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.processes import control
from stoker.processes.control import Program, StartFailed, running, start, taken_over
from stoker.processes.directory import DataDirectory
from stoker.processes.progress import with_progress
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World

IDLE_SECONDS = 2.0
BUSY = """
import os, sys, time
began = time.monotonic()
while time.monotonic() < began + {seconds}:
    time.sleep(0.1)
    sum(range(200_000))
os.write(int(sys.argv[-1]), b"ready\\n")
time.sleep(600)
"""
IDLE = "import time; time.sleep(600)"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[DataDirectory]:
    made = DataDirectory(tmp_path / "data")
    made.make()
    yield made
    with suppress(ProcessLookupError):
        if (pid := running(made, "slow")) is not None:
            os.kill(pid, 9)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "_IDLE_SECONDS", IDLE_SECONDS)
    monkeypatch.setattr(control, "_SAY_SECONDS", IDLE_SECONDS / 2)


def slow(code: str) -> Program:
    return Program("slow", "slow program", ("-c", code), (), "")


@pytest.mark.slow
def test_starting_program_with_progress_is_not_killed(directory: DataDirectory) -> None:
    """The program computes for three times as long as one without progress is given."""
    output: list[str] = []
    process = start(directory, slow(BUSY.format(seconds=3 * IDLE_SECONDS)), report=output.append)
    assert process.poll() is None
    assert running(directory, "slow") == process.pid
    assert directory.killed() == []
    assert len(output) >= 3 and "has been starting for" in output[0]
    process.kill()
    process.wait()


@pytest.mark.slow
def test_starting_program_without_progress_is_stopped_and_not_counted_as_death(directory: DataDirectory) -> None:
    with pytest.raises(StartFailed, match="neither answered nor made any progress"):
        start(directory, slow(IDLE))
    assert running(directory, "slow") is None
    assert len(directory.killed()) == 1  # so that the next engine charges no operation with it


@pytest.fixture
async def left(tmp_path: Path) -> AsyncIterator[World]:
    """An engine that has not begun to take over 25 operations that another one left."""
    settings = EngineSettings(lease_seconds=5000.0, heartbeat_seconds=600.0)
    waits = {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 3000}}
    template = {"heat_template_version": "2021-04-16", "resources": {"waits": waits}}
    clock = ManualClock(SystemClock().now())
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        first = await World(tmp_path / "stoker.db", served, settings=settings, clock=clock).start()
        for number in range(25):
            await first.call("stack_create", name=f"s{number}", template=template)
        await first.stop()
        second = World(tmp_path / "stoker.db", served, settings=settings, clock=clock)
        second.takes_over = False
        yield await second.start()
        await second.stop()


class Silent(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print nothing."""


async def test_engine_reports_remaining_operations(left: World, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, stack_of, hold = left.engine, left.engine.membership.takeovers.resumption._stack_of, True

    async def held(operation: Any) -> Any:
        while hold:
            await left.turn()
        return await stack_of(operation)

    def rest(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("404 Not Found", [])
        return [b""]

    application = with_progress(engine, rest)
    with make_server("127.0.0.1", 0, application, handler_class=Silent) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = Program("engine", "engine", (), (), f"http://127.0.0.1:{server.server_port}/")
        try:
            assert taken_over(program) is None  # nothing has begun
            monkeypatch.setattr(engine.membership.takeovers.resumption, "_stack_of", held)
            await engine.take_over()
            assert taken_over(program) == (0, 25)
            assert len((await left.call("stack_list"))["stacks"]) == 25
            hold = False
            await engine.membership.takeovers.complete()
            assert taken_over(program) is None
        finally:
            server.shutdown()
    assert len(engine.runs) == 25
    assert _get(application) == {"ready": True, "operations": 25, "taking_over": {"done": 0, "total": 0}}


def _get(application: Any) -> Any:
    statuses: list[str] = []
    environ = {"PATH_INFO": "/readyz", "REQUEST_METHOD": "GET"}
    body = b"".join(application(environ, lambda status, _headers: statuses.append(status)))
    assert statuses == ["200 OK"]
    return json.loads(body)
