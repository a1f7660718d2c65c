"""`stoker demo` as a process that somebody stops."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest

from stoker.cli.commands.local import interrupted, stop_signals
from testing.forked_program import ForkedProgram, run
from tests.cli.cli_shell import COMMANDS

STOKER = COMMANDS["stoker"]


class EndsWithSignal:
    """An object in whose finalizer a signal arrives: Python ignores what the signal's handler raises there."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_during_deployment_stops_all_processes(tmp_path: Path, number: signal.Signals) -> None:
    output = tmp_path / "output"
    with output.open("wb") as file:
        words = ["stoker", "demo", "--data-dir", str(tmp_path / "data")]
        demo = ForkedProgram(STOKER.function, words, imports=STOKER.imports, stdout=file, stderr=file)
    try:
        end = time.monotonic() + 120
        while "$ stoker deploy" not in output.read_text() and time.monotonic() < end and demo.poll() is None:
            time.sleep(0.02)
        started = json.loads((tmp_path / "data" / "endpoints.json").read_text())["pids"].values()
        assert started
        assert all(alive(pid) for pid in started)

        demo.send_signal(number)

        assert demo.wait(60) == 128 + number, output.read_text()
        assert [pid for pid in started if alive(pid)] == []
    finally:
        demo.kill()
        for file_name in ("cloud.pid", "engine.pid"):
            path = tmp_path / "data" / file_name
            pid = int(path.read_text() or 0) if path.exists() else 0
            if pid and alive(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signal_in_a_finalizer_interrupts_a_moment_later() -> None:
    went_on = False
    with pytest.raises(SystemExit) as raised, stop_signals() as stopped, interrupted(stopped):
        EndsWithSignal()
        went_on = True
        threading.Event().wait(60)
    assert (went_on, raised.value.code) == (True, 128 + signal.SIGINT)


@pytest.mark.slow
def test_scaling_demonstration_grows_and_shrinks_group(tmp_path: Path) -> None:
    words = ["stoker", "demo", "--scaling", "--data-dir", str(tmp_path / "data")]
    done = run(STOKER.function, words, imports=STOKER.imports, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    sizes = re.findall(r"load +(\d+) %: number of servers (\d)", done.stdout)
    assert sizes == [("95", "2"), ("95", "3"), ("5", "2"), ("5", "1")]
    assert "web: DELETE_COMPLETE" in done.stdout
    assert re.findall(r"✓ [0-9a-f]{8}-.*", done.stdout) == [], "resources are shown with the names of their parents"
