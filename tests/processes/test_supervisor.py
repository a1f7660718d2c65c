"""Programs that end are started again, with growing delays, and the reason is recorded."""

from __future__ import annotations

import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from stoker.base.errors import StokerError
from stoker.processes import control, supervisor
from stoker.processes.control import ENGINE, Program
from stoker.processes.directory import DataDirectory, SetUp
from stoker.processes.supervisor import CALM_SECONDS, LONGEST_PAUSE, DirectoryReplaced, Supervisor, histories


class Times:
    now = 1000.0


class Starts:
    """Programs that are started, by the means of the test: `alive` is whether the one of the engine runs."""

    def __init__(self) -> None:
        self.alive, self.fails, self.times = True, False, Times()
        self.started: list[float] = []

    def start(self, _directory: DataDirectory, program: Program, _stopped: threading.Event) -> object:
        if self.fails:
            raise StokerError(f"The {program.title} ended with status 1. The end of its log:\nTraceback")
        self.started.append(self.times.now)
        self.alive = True
        return None


@pytest.fixture
def directory(tmp_path: Path) -> DataDirectory:
    made = DataDirectory(tmp_path / "data")
    made.make()
    made.record(SetUp("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", "http://127.0.0.1:3", "mycloud"))
    return made


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    starts = Starts()
    monkeypatch.setattr(supervisor, "running", lambda _directory, _name: 1 if starts.alive else None)
    monkeypatch.setattr(control, "start", starts.start)
    return starts


def check_until(watch: Supervisor, starts: Starts, seconds: float) -> None:
    stopped = threading.Event()
    for _ in range(int(seconds)):
        starts.times.now += 1
        watch.check(stopped)


def test_a_program_that_ends_again_and_again_is_started_with_growing_delays(
    directory: DataDirectory, starts: Starts
) -> None:
    output: list[str] = []
    watch = Supervisor(directory, {}, output.append, lambda: starts.times.now)
    pauses = []
    for _ in range(9):
        starts.alive, began = False, starts.times.now
        check_until(watch, starts, 2 * LONGEST_PAUSE)
        pauses.append(starts.started[-1] - began - 1)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert histories(directory)[ENGINE].restarts == 9
    check_until(watch, starts, CALM_SECONDS + 1)
    starts.alive, began = False, starts.times.now
    check_until(watch, starts, 10)
    assert starts.started[-1] - began - 1 == 1


def test_the_reason_why_a_program_cannot_be_started_is_recorded(directory: DataDirectory, starts: Starts) -> None:
    output: list[str] = []
    watch = Supervisor(directory, {}, output.append, lambda: starts.times.now)
    starts.alive, starts.fails = False, True
    check_until(watch, starts, 5)
    assert "ended with status 1" in histories(directory)[ENGINE].reason
    starts.fails = False
    check_until(watch, starts, 60)
    assert histories(directory)[ENGINE].restarts == 1
    assert "The engine and API was restarted." in output


@pytest.mark.parametrize("then", ["nothing", "another directory", "a copy"])
def test_programs_are_ended_when_their_directory_is_not_there_any_more(
    directory: DataDirectory, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    """The lock on the PID file in the former directory would not be seen, and the program be started once more."""
    with subprocess.Popen(["sleep", "600"]) as program:
        monkeypatch.setattr(supervisor, "running", lambda _directory, _name: program.pid)
        watch = Supervisor(directory, {}, lambda sentence: None)
        stopped = threading.Event()
        watch.check(stopped)
        former = directory.path.rename(directory.path.with_name("former"))
        if then == "another directory":
            directory.make()
        elif then == "a copy":
            shutil.copytree(former, directory.path)
        left = sorted(directory.path.glob("*"))
        monkeypatch.setattr(supervisor, "running", lambda _directory, _name: None)
        with pytest.raises(DirectoryReplaced, match="stoker down"):
            watch.watch(stopped)
        assert program.wait(10) == -signal.SIGKILL
    assert sorted(directory.path.glob("*")) == left


def test_a_damaged_record_is_no_error(directory: DataDirectory) -> None:
    (directory.path / "supervision.json").write_text('{"engine": {"unknown": 1}}')
    assert histories(directory) == {}
