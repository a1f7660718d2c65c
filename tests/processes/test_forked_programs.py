"""The programs that tests fork: their status, and what happens when it cannot be known."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

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
