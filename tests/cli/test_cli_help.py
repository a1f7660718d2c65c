"""The list of commands, which is shown without importing them."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from stoker.cli.main import COMMANDS, cli


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_a_command_says_of_itself(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert COMMANDS[name].summary == command.get_short_help_str(200)


def test_the_list_has_every_command() -> None:
    answer = CliRunner().invoke(cli, ["--help"])
    assert answer.exit_code == 0
    listed = [line.split()[0] for line in answer.output.partition("Commands:\n")[2].splitlines() if line[2:3].strip()]
    assert listed == list(COMMANDS)


@pytest.mark.slow
def test_the_list_needs_neither_engine_nor_emulator() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from stoker.cli.main import cli; "
        "CliRunner().invoke(cli, ['--help']); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not [name for name in run.stdout.split() if name.startswith(("stoker.engine", "stoker.emulator"))]
