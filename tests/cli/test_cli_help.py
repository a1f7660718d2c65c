"""The list of commands, which is shown without importing them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from stoker.cli.main import COMMANDS, cli


@pytest.mark.parametrize("name", COMMANDS)
def test_command_list_has_the_summary_of_each_command(name: str) -> None:
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
    assert not [name for name in run.stdout.split() if name.startswith(("stoker.engine", "openstack_emulator"))]


def commands(group: click.Group = cli, path: str = "stoker") -> Iterator[tuple[str, click.Command]]:
    """Yield every command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


COMMAND_LINES = dict(commands())
RUNNABLE = {line: command for line, command in COMMAND_LINES.items() if not isinstance(command, click.Group)}


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_help_fits_on_the_terminal(columns: int) -> None:
    """Only the lines of examples, which are to be copied, may need 80 columns."""
    wide = []
    for words in COMMAND_LINES:
        answer = CliRunner().invoke(cli, [*words.split()[1:], "--help"], terminal_width=columns, prog_name="stoker")
        assert answer.exit_code == 0, words
        _, _, examples = answer.output.partition("Examples:\n")
        copied = set(examples.partition("\n\n")[0].splitlines())
        wide += [(words, line) for line in answer.output.splitlines() if len(line) > columns and line not in copied]
        wide += [(words, line) for line in copied if len(line) > 80]
    assert not wide


def test_every_command_has_an_example() -> None:
    for words, command in RUNNABLE.items():
        _, _, examples = (command.help or "").partition("Examples:\n")
        assert f"  stoker {words.split()[1]}" in examples or f"  stoker {words.split()[-1]}" in examples, words


def test_every_list_has_the_formats_of_lists() -> None:
    lists = {words for words in RUNNABLE if words.split()[-1] in ("list", "types", "functions", "init", "history")}
    lists |= {f"stoker stack {name}" for name in ("resources", "events", "outputs", "failures", "hooks")}
    lists |= {"stoker status", "stoker outputs"}
    for words in lists:
        [form] = [option for option in RUNNABLE[words].params if option.name == "form"]
        assert isinstance(form.type, click.Choice)
        assert {"table", "json", "yaml", "value"} == set(form.type.choices), words
        assert "-f" in form.opts
