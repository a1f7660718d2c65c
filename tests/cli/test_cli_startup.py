"""What a command imports before it does anything: help, the version, shell completion, and the linter start quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SERVERS = (
    "aiohttp", "alembic", "falcon", "keystoneauth1", "keystonemiddleware", "oslo_config", "oslo_log",
    "oslo_messaging", "requests", "sqlalchemy", "webob",
    "stoker.api", "openstack_emulator", "stoker.engine", "stoker.operations", "stoker.rpc", "stoker.store",
)  # fmt: skip
"""Packages that only servers and their clients need."""
LIBRARIES = (*SERVERS, "asyncio", "re2", "rich", "yaml", "yaql", "stoker.cloud.session", "stoker.resources",
             "stoker.plugins")  # fmt: skip
"""Packages that only commands need that do something."""

RUN = """
import sys
from stoker.cli.main import main
sys.argv = ["stoker", *{arguments!r}]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("MODULES", *sys.modules)
"""

COMPLETE = """
import os, sys
import click
from stoker.cli.main import cli, main

def complete(*words):
    os.environ.update(_STOKER_COMPLETE="bash_complete", COMP_WORDS=" ".join(("stoker", *words)),
                      COMP_CWORD=str(len(words)))
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, (words, ended.code)

def walk(group, words):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        complete(*words, name, "--")
        if isinstance(command, click.Group):
            walk(command, (*words, name))

complete("")
print("FIRST", *sys.modules)
walk(cli, ())
print("MODULES", *sys.modules)
"""


def run(program: str, word: str = "MODULES", folder: Path | None = None) -> tuple[str, list[str]]:
    """Run a program; return its output without the lines that name modules, and the modules after `word`."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder)
    lines = done.stdout.splitlines()
    (modules,) = (line.split()[1:] for line in lines if line.startswith(f"{word} "))
    return "\n".join(line for line in lines if not line.startswith(("FIRST ", "MODULES "))), modules


def among(modules: list[str], packages: tuple[str, ...]) -> list[str]:
    return [
        name for name in modules if name.startswith(tuple(f"{package}." for package in packages)) or name in packages
    ]


@pytest.mark.parametrize(("option", "shown"), [("--help", "deploy"), ("--version", "stoker, version")])
def test_help_and_version_import_little(option: str, shown: str) -> None:
    output, modules = run(RUN.format(arguments=[option]))
    assert shown in output
    assert among(modules, LIBRARIES) == []
    assert len(modules) < 175


def test_completion_imports_little_for_any_command() -> None:
    output, first = run(COMPLETE, "FIRST")
    assert "plain,lint" in output
    assert len(first) < 180
    output, modules = run(COMPLETE)
    for option in ("--rule", "--template", "--detach", "--scaling", "--granularity", "--nested-depth"):
        assert f"plain,{option}" in output
    assert among(modules, LIBRARIES) == []
    assert len(modules) < 285


def test_commands_on_the_database_import_no_engine() -> None:
    _, modules = run(
        "import sys, stoker.cli.commands.inside, stoker.processes.maintenance\nprint('MODULES', *sys.modules)"
    )
    assert among(modules, ("oslo_messaging", "eventlet", "aiohttp", "uvloop", "stoker.api", "stoker.engine.core")) == []


def test_the_linter_imports_only_the_types_of_its_templates(tmp_path: Path) -> None:
    resources = "  net: {type: OS::Neutron::Net}\n  word: {type: OS::Heat::RandomString}\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(f"heat_template_version: 2021-04-16\nresources:\n{resources}")
    output, modules = run(RUN.format(arguments=["lint", "one.yaml", "two.yaml"]), folder=tmp_path)
    assert output == "no problems in 2 files"
    assert (
        among(modules, (*SERVERS, "rich", "yaql", "croniter", "stoker.cloud.session", "stoker.cloud.transport")) == []
    )
    types = {name for name in modules if name.startswith("stoker.resources.") and name.count(".") > 2}
    assert {"stoker.resources.neutron.net", "stoker.resources.heat.random_string"} <= types
    assert not any(name.startswith(("stoker.resources.neutron.port", "stoker.resources.aws.")) for name in types)
    assert len(modules) < 470


def test_the_linter_knows_all_types_though_it_imports_few(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(
        "heat_template_version: 2021-04-16\nresources:\n  zone: {type: OS::Designate::Zon}\n"
    )
    program = f"import sys; from stoker.cli.main import main; sys.argv = {['stoker', 'lint', 'wrong.yaml']!r}; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "did you mean 'OS::Designate::Zone'?" in done.stdout
