"""What the manual says against what there is: commands, dependencies, fault rules; and that it can be built."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import click
import pytest

from openstack_emulator.core.faults import ACTIONS, parse_fault
from stoker.cli.main import cli
from testing.cases import check_each
from tests.docs.pages import Command, commands, written_pages

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = [command for page in written_pages(DOCS) for command in commands(page)]


def test_commands_of_the_manual_are_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS / "tutorial")

    def check(command: Command) -> None:
        words = shlex.split(re.split(r" [<>|] ", command.line)[0])[1:]
        context = click.Context(cli, info_name="stoker")
        found: click.Command = cli
        while isinstance(found, click.Group):
            word = words.pop(0)
            following = found.get_command(context, word)
            assert following is not None, f"{command.page}: there is no command {word!r}"
            found = following
        found.make_context(found.name, words, parent=context)

    check_each(((command.line, command) for command in SHOWN if command.line.startswith("stoker ")), check)


def test_the_manual_shows_commands() -> None:
    assert {command.line.split()[1] for command in SHOWN if command.line.startswith("stoker ")} >= {
        "up", "down", "deploy", "plan", "delete",
    }  # fmt: skip


def test_every_dependency_is_explained() -> None:
    page = (DOCS / "explanation" / "dependencies.md").read_text()
    required = set()
    for settings in DOCS.parent.glob("packages/*/pyproject.toml"):
        project = tomllib.loads(settings.read_text())["project"]
        required |= {*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values())}
    names = {re.split(r"[>=\[]", requirement)[0] for requirement in required}
    assert {name for name in names if name not in page} == set()


def test_every_fault_is_explained() -> None:
    page = (DOCS / "reference" / "emulator.md").read_text()
    assert [action for action in ACTIONS if f"| `{action}` |" not in page] == []


def test_rules_of_the_manual_are_rules() -> None:
    lines = (DOCS / "how-to" / "test-templates.md").read_text().splitlines()
    rules = [line.split("`")[1] for line in lines if '`{"on"' in line]
    assert len(rules) == 4
    for rule in rules:
        parse_fault(json.loads(rule))


GENERATED = {
    "commands.html": "detailed-exitcode",
    "configuration.html": "max_nested_stack_depth",
    "functions.html": "list_concat_unique",
    "rest.html": "/stacks/{stack_name}/{stack_id}/preview",
    "functions/list_join.html": "web-north-1",
    "query/describestacks.html": "DescribeStacksResult",
    "rest/stacks.html": "stack_status",
    "rules.html": "unknown-property",
    "rules/unknown-property.html": "flavour",
    "versions.html": "wallaby",
    "types/os-heat.html": "OS::Heat::ResourceGroup",
    "types/os-neutron-net.html": "dhcp_agent_ids",
}
"""A word that each kind of generated page must have."""


@pytest.mark.slow
def test_the_manual_can_be_built_without_a_warning(tmp_path: Path) -> None:
    arguments = ["-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path / "html")]
    built = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=400, check=False)
    assert built.returncode == 0, built.stderr
    generated = tmp_path / "html" / "generated"
    for name, content in GENERATED.items():
        assert content in (generated / name).read_text(), name
    page = (generated / "rules" / "unknown-property.html").read_text()
    assert re.findall(r'<a class="current reference internal" href="#">(.*?)</a>', page) == ["unknown-property"]
    assert 'href="../../tutorial/index.html">Tutorial</a>' in page, "The sidebar lists the sections."
    assert 'href="../functions/' not in page, "Lists that do not lead to the page are closed."
