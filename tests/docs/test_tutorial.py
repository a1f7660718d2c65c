"""The tutorial and the clients' examples, typed in by a machine, on real processes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from openstack_emulator.core.guests.driver import GuestsUnavailable
from openstack_emulator.core.guests.selection import Selection
from openstack_emulator.guests.choices import guest_driver
from tests.cli.cli_shell import install_commands
from tests.docs.pages import commands

pytestmark = pytest.mark.slow

FREE_PORTS = "--api-port 0 --cfn-port 0 --cloud-port 0"


class Shell:
    """One shell in a directory, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_", "XDG_"))}
        path = f"{install_commands(folder / 'bin')}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environment = {**kept, "HOME": str(folder), "PATH": path, "PYTHONWARNINGS": "ignore"}

    def type(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script in bash; what it prints and how it ends."""
        return subprocess.run(
            ["bash", "-c", script],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def shell(docs: Path, tmp_path: Path) -> Iterator[Shell]:
    """A shell beside the tutorial's templates, in whose home a Stoker knows ports that are free, and a quick pace."""
    for name in ("network.yaml", "mistakes.yaml", "guestbook.yaml"):
        (tmp_path / name).write_text((docs / "tutorial" / name).read_text())
    shell = Shell(tmp_path)
    begun = shell.type(f"stoker up --detach --pace 0.1 {FREE_PORTS} && stoker down")
    assert begun.returncode == 0, begun.stderr
    yield shell
    shell.type("stoker down")


def test_tutorial_commands_work(shell: Shell, docs: Path) -> None:
    before = ""
    for command in commands(docs / "tutorial" / "first-stack.md"):
        done = shell.type(before + command.line)
        assert (done.returncode != 0) == command.fails, f"{command.line}: {done.stdout}{done.stderr}"
        if command.fails:
            assert done.stderr.rstrip() in (docs / "tutorial" / "first-stack.md").read_text()
        if command.line.startswith(("source ", "export ")):
            before += f"{command.line}\n"


@pytest.mark.guests
@pytest.mark.xdist_group("guests")
def test_a_stack_heals_itself_as_the_tutorial_says(shell: Shell, docs: Path) -> None:
    try:
        asyncio.run(guest_driver(Selection("namespace"), "host").close())
    except GuestsUnavailable as error:
        pytest.skip(str(error))
    page = docs / "tutorial" / "heal.md"
    before = ""
    typed = list(commands(page))
    assert len(typed) == 10
    for command in typed:
        done = shell.type(before + command.line)
        assert done.returncode == 0, f"{command.line}: {done.stdout}{done.stderr}"
        if command.line.startswith(("curl ", "stoker logs ")):
            assert done.stdout.strip(), done.stderr
            assert done.stdout in page.read_text(), done.stdout
        if command.line.startswith(("source ", "page=")):
            before += f"{command.line}\n"


def test_other_clients_work_as_shown(shell: Shell, docs: Path) -> None:
    shown = [command.line for command in commands(docs / "how-to" / "clients.md")]
    clients = docs / "how-to" / "clients"
    programs = [f"python {clients / name}" for name in ("with_sdk.py", "with_heatclient.py")]
    done = shell.type("\n".join(["set -ex", "stoker up --detach", *shown, *programs]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gateway 192.168.10.1" in done.stdout
