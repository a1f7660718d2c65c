"""The README's commands, run as they stand there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.cli_shell import ANY_PORTS, BIN, Shell, install_commands

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-local")]

ROOT = Path(__file__).parents[2]


def commands(section: str) -> list[str]:
    """The console lines of a section."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    body = text.split(f"## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", body, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_the_five_minutes_tour(shell: Shell, tmp_path: Path) -> None:
    # The tour's own `up` then takes these ports, and not the well-known ones, and this pace.
    shell.ok("up", "--detach", "--pace", "0.1", *ANY_PORTS)
    shell.ok("down")
    tour = [line for line in commands("Five minutes") if "activate" not in line]
    script = "\n".join(["set -eu", *tour]).replace("~/.local/share/stoker", str(shell.directory))
    environment = {
        **shell.environment,
        "PATH": f"{install_commands(tmp_path / 'bin')}:{BIN}:{shell.environment['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", script],
        env={name: value for name, value in environment.items() if not name.startswith("OS_")},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for reported in ("8 to create.", "count = 2 -> 3", "web-2", "web: DELETE_COMPLETE", "Stopped: emulated cloud."):
        assert reported in done.stdout


def test_every_file_that_the_readme_names_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(([^)#]+)\)", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
