"""The manual pages: each program and command has one that fits its help, and formatters accept it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from manual_pages import heat_pages, roff
from manual_pages.__main__ import DIRECTORIES, expected_pages

from stoker.cli.main import COMMANDS, cli
from stoker.processes.lifetime import cluster_config
from testing.servers import ServerMissing, program

DOCUMENTATION = Path(__file__).parents[2] / "docs"
HEAT_COMMANDS = Path(__file__).parents[2] / "packages" / "stoker-heat-commands"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {path.stem: source for path, source in expected_pages().items()}


@pytest.mark.slow
def test_every_program_and_command_has_a_page_that_fits_it(pages: dict[str, str]) -> None:
    # Other tests of this process may have changed what help shows, such as the environment that defaults come from.
    path = os.pathsep.join([str(DOCUMENTATION / "_ext"), str(HEAT_COMMANDS / "src")])
    check = [sys.executable, "-m", "manual_pages", "--check"]
    done = subprocess.run(check, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    made = tomllib.loads((HEAT_COMMANDS / "pyproject.toml").read_text())
    programs = {*made["project"]["scripts"], *(Path(file).name for file in made["tool"]["setuptools"]["script-files"])}
    assert pages.keys() == {"stoker", *(f"stoker-{name}" for name in COMMANDS), *programs}
    assert len(DIRECTORIES) == 2


def test_pages_have_every_option_that_help_lists(pages: dict[str, str]) -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        inner = command.commands.values() if isinstance(command, click.Group) else [command]
        source = pages[f"stoker-{name}"]
        for each in inner:
            for param in each.params:
                if isinstance(param, click.Option) and not param.hidden:
                    assert all(roff.bold(option) in source for option in param.opts), (name, param.opts)
        if "Examples:" in (command.help or ""):
            assert ".SH EXAMPLES\n.RS 4\n.nf\nstoker " in source
    listed = CliRunner().invoke(cli, ["stack", "--help"]).output.partition("Commands:\n")[2]
    names = [line.split()[0] for line in listed.splitlines() if line[2:3].strip()]
    assert len(names) > 10
    assert [name for name in names if f".SS stoker stack {roff.plain(name)}\n" not in pages["stoker-stack"]] == []


def test_the_programs_accept_the_options_on_their_pages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cluster_config((), ["--help"], "heat-engine")
    shown = capsys.readouterr().out
    for names, _ in heat_pages.CONFIGURATION_OPTIONS:
        for option in names.split(", "):
            assert option.partition(" ")[0] in shown


def test_special_characters_are_escaped() -> None:
    page = roff.Page("a-b", "Say `x`.", [("Options", roff.items([(roff.option("-f, --file A|B"), ".profile … \\n")]))])
    assert page.render().splitlines()[1:] == [
        ".SH NAME",
        "a\\-b \\- Say x",
        ".SH OPTIONS",
        ".TP",
        "\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIA|B\\fR",
        "\\&.profile \\[u2026] \\en",
    ]


@pytest.mark.slow
def test_formatters_accept_the_pages() -> None:
    try:
        mandoc = program("mandoc", "/usr/bin/mandoc")
    except ServerMissing as error:
        pytest.skip(str(error))
    paths = sorted(path for folder in DIRECTORIES for path in folder.glob("*.1"))
    done = subprocess.run([mandoc, "-T", "lint", "-W", "warning", *paths], capture_output=True, text=True)
    # Pages have no date, so that building them again gives the same.
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []
