"""The comparison with other tools: what it says about Stoker holds, and each tool has sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from openstack_emulator.services import CHOICES
from stoker.cli.main import cli

_DOCS = Path(__file__).parents[2] / "docs"
_PAGE = (_DOCS / "explanation" / "comparison.md").read_text(encoding="utf-8")


def _tables() -> Iterator[list[list[str]]]:
    """Yield the tables of the page: rows of cells."""
    for block in re.findall(r"(?:^\|.*\n)+", _PAGE, re.MULTILINE):
        yield [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]


def _about_stoker(property_: str) -> str:
    (cell,) = (row[1] for table in _tables() for row in table if row[0] == property_)
    return cell


def _command(*names: str) -> click.Command:
    found: click.Command = cli
    for name in names:
        assert isinstance(found, click.Group)
        command = found.get_command(click.Context(found), name)
        assert command is not None, names
        found = command
    return found


def test_every_row_says_something_about_every_tool() -> None:
    tables = list(_tables())
    assert len(tables) == 4
    for table in tables:
        assert {len(row) for row in table} == {len(table[0])}
        assert all(cell for row in table for cell in row[1:])


def test_every_tool_has_sources() -> None:
    sources = _PAGE.partition("## Sources")[2]
    for tool in (
        "Terraform",
        "OpenTofu",
        "Pulumi",
        "Rain",
        "AWS CloudFormation",
        "ORC",
        "Crossplane",
        "CAPO",
        "cfn-lint",
        "LocalStack",
    ):
        entry = re.search(rf"^(?:.* )?{re.escape(tool)}(?:[ ,].*)?\n: (?:.+\n)+", sources, re.MULTILINE)
        assert entry is not None and "https://" in entry[0], tool


def test_links_lead_to_pages() -> None:
    for target in re.findall(r"\]\((/?[\w/-]+\.md)", _PAGE):
        if not target.startswith("/generated/"):
            assert ((_DOCS / target[1:]) if target.startswith("/") else _DOCS / "explanation" / target).is_file(), (
                target
            )


def test_the_emulator_has_as_many_services_as_the_page_says() -> None:
    services = len(CHOICES) + 1  # and identity
    assert _about_stoker("Emulates") == f"{services} services of OpenStack"


def test_the_linter_has_the_formats_and_options_that_the_page_names() -> None:
    by_option = {option: parameter for parameter in _command("lint").params for option in parameter.opts}
    formats = by_option["--format"].type
    assert isinstance(formats, click.Choice)
    assert _about_stoker("Output for tools") == ", ".join(name.upper() for name in formats.choices if name != "text")
    assert _about_stoker("Suppress a rule") == "a comment, an option" and "--ignore" in by_option
    assert "environments" in _about_stoker("Checks") and "--environment" in by_option
    assert "plug-ins" in _about_stoker("Knows the properties of") and "--plugin-dir" in by_option


def test_the_commands_that_the_page_names_exist() -> None:
    for named in re.findall(r"`stoker ([a-z]+)`", _PAGE):
        assert _command(named)
    assert "--refresh" in {option for parameter in _command("plan").params for option in parameter.opts}


def test_comparison_page_lists_missing_features() -> None:
    noes = [row[0] for table in _tables() for row in table if row[1].startswith("no")]
    assert len(noes) >= 6, noes
