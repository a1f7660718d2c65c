"""What CONTRIBUTING.md names exists: paths, links, make targets, modules, commands."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest

from stoker.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
FOLDERS = ("packages", "testing", "tests", "docs", "tools", "deploy", "contrib", "examples")
SOURCES = {path.name: path.parent for path in ROOT.glob("packages/*/src/*") if (path / "__init__.py").exists()}

CODE = [*re.findall(r"(?<!`)`([^`\n]+)`(?!`)", PAGE)]
SHELL_LINES = [
    line.partition("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]
COMMANDS = [*SHELL_LINES, *(code for code in CODE if " " in code)]

PATHS = sorted({
    code for code in CODE
    if re.fullmatch(rf"(?:{'|'.join((*FOLDERS, *SOURCES))})(?:/[\w./-]+)?|[A-Z]+\.md|pyproject\.toml", code)
})  # fmt: skip
LINKS = re.findall(r"\]\(([^)#]+)(?:#([\w-]+))?\)", PAGE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def words_after(*start: str) -> list[str]:
    """The word after `start` in each command that begins with it."""
    found = [shlex.split(command) for command in COMMANDS]
    return sorted({words[len(start)] for words in found if tuple(words[: len(start)]) == start and words[len(start) :]})


@pytest.mark.parametrize("path", PATHS)
def test_paths_exist(path: str) -> None:
    first, _, rest = path.partition("/")
    assert (SOURCES[first] / first / rest if first in SOURCES else ROOT / path).exists()


@pytest.mark.parametrize(("path", "anchor"), LINKS)
def test_links_lead_to_pages_and_headings(path: str, anchor: str) -> None:
    assert (ROOT / path).is_file()
    assert not anchor or anchor in anchors(ROOT / path)


@pytest.mark.parametrize("target", words_after("make"))
def test_make_targets_exist(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("module", words_after(".venv/bin/python", "-m"))
def test_modules_exist(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("path", [path for path in words_after(".venv/bin/pytest") if not path.startswith("-")])
def test_tests_exist(path: str) -> None:
    first, _, rest = path.partition("/")
    assert (SOURCES[first] / first / rest if first in SOURCES else ROOT / path).exists()


@pytest.mark.parametrize("line", sorted(command for command in COMMANDS if command.startswith("stoker ")))
def test_commands_exist(line: str) -> None:
    found: click.Command = cli
    context = click.Context(cli, info_name="stoker")
    for word in shlex.split(line)[1:]:
        if not isinstance(found, click.Group):
            break
        following = found.get_command(context, word)
        assert following is not None, f"there is no command {word!r}"
        found = following


def test_the_page_names_enough_to_be_checked() -> None:
    assert len(PATHS) > 30 and len(LINKS) > 10
    assert "tests.upgrades.make_state" in words_after(".venv/bin/python", "-m")


def test_the_page_names_every_target_and_folder() -> None:
    targets = {*re.findall(r"^([a-z-]+):[^\n]*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)}
    assert targets == {*words_after("make")} & targets
    ignored = {line.strip("/\n") for line in (ROOT / ".gitignore").read_text().splitlines()}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")} - ignored
    assert {name for name in folders if f"`{name}" not in PAGE} == set()
    packages = {path.parent.name for path in ROOT.glob("packages/*/pyproject.toml")}
    assert len(packages) == 6 and {"stoker", "openstack-emulator", "stoker-foundation"} < packages
