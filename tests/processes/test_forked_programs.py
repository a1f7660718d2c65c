"""The programs that tests fork: their status, and what happens when it cannot be known."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from testing.forked_commands import install
from testing.forked_program import ForkedProgram
from testing.servers import wait_until

pytestmark = pytest.mark.slow


def state_and_parent(pid: int) -> tuple[str, int]:
    """As proc(5) has them; Z for a process that is gone."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except FileNotFoundError:
        return "Z", 0
    return state, int(parent)


@pytest.fixture
def program(tmp_path: Path) -> ForkedProgram:
    """A program that waits for a signal."""
    with (tmp_path / "output").open("w") as output:
        return ForkedProgram("signal:pause", ["pause"], imports=[], stdout=output, stderr=output)


def test_the_status_of_a_killed_program_is_its_signal(program: ForkedProgram) -> None:
    assert program.poll() is None
    program.kill()
    assert program.wait(60) == program.poll() == -signal.SIGKILL


def test_a_program_whose_parent_was_killed_has_no_status_and_can_be_killed(program: ForkedProgram) -> None:
    os.kill(state_and_parent(program.pid)[1], signal.SIGKILL)
    for look in (lambda: program.wait(60), program.poll):
        with pytest.raises(ChildProcessError, match=rf"{program.pid} is lost"):
            look()
    program.kill()
    wait_until(lambda: state_and_parent(program.pid)[0] == "Z", "the program has ended")


def run(command: Path, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, *arguments], cwd=directory, input="[1]", capture_output=True, text=True, timeout=60, check=False
    )


def test_a_command_has_the_streams_arguments_directory_and_status_of_its_process(tmp_path: Path) -> None:
    command = install(tmp_path / "bin" / "json-tool", "json.tool:main", ["json.tool"])
    assert json.loads(run(command, directory=tmp_path).stdout) == [1]
    run(command, "-", "output", directory=tmp_path)
    assert json.loads((tmp_path / "output").read_text()) == [1]
    wrong = run(command, "--wrong", directory=tmp_path)
    assert (wrong.returncode, "unrecognized arguments: --wrong" in wrong.stderr) == (2, True)


def test_a_signal_to_the_process_of_a_command_ends_its_program(tmp_path: Path) -> None:
    command = install(tmp_path / "bin" / "waiting", "signal:pause", [])
    with subprocess.Popen([command], stdout=subprocess.PIPE) as process:
        wait_until(lambda: forwarding(process.pid), "it passes signals on")
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM
        assert process.stdout is not None and process.stdout.read() == b"", "the program has ended, too"


def forwarding(pid: int) -> bool:
    """Whether the process handles SIGTERM itself."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt:")]
    return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
