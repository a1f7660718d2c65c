"""Messages on a terminal, as a terminal shows them."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tests.cli.cli_shell import BIN, clean_environment


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 120])
def test_an_error_is_wrapped_at_the_width_of_its_own_terminal(columns: int, tmp_path: Path) -> None:
    """The standard output may be a pipe, as before `| head`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in clean_environment(tmp_path).items() if key != "COLUMNS"}
    done = subprocess.run([BIN / "stoker", "db", "version"], env=environment, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    lines = os.read(ours, 10_000).decode().splitlines()
    os.close(ours)
    assert done.returncode == 1  # and nothing is colored, because of NO_COLOR
    assert lines[0].startswith("stoker: No database is configured")
    longest = max(map(len, lines))
    assert columns - 15 < longest <= columns


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_similar_characters(tmp_path: Path) -> None:
    environment = {**clean_environment(tmp_path), "PYTHONIOENCODING": "ascii"}
    command: list[str | Path] = [BIN / "stoker", "stack", "list", "--os-cloud", "a…ä"]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert done.returncode == 1
    assert b"clouds.yaml has no cloud 'a...?'" in done.stderr
