"""No option is accepted and then ignored: the program reads each registered option."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from oslo_config import cfg
from oslo_middleware import cors, healthcheck, http_proxy_to_wsgi

import stoker
from stoker.base.options import OPTIONS, SERVICE_USER_OPTIONS
from stoker.cloud.services import OPENSTACK
from stoker.cloud.settings import CloudSettings

PACKAGE = Path(stoker.__file__).parent
SETTINGS = {"config", "settings", "_settings", "options"}
"""Names of objects that options are read from: oslo.config's, the dataclasses of settings, resource types' options."""

LIBRARIES: dict[str, Sequence[cfg.Opt]] = {
    "cors": cors.CORS_OPTS,
    "healthcheck": [*healthcheck.opts.HEALTHCHECK_OPTS, *healthcheck.opts.DISABLE_BY_FILE_OPTS],
    "oslo_middleware": http_proxy_to_wsgi.OPTS,
}
"""Sections that are passed on as a whole: the library that declares their options reads them."""

CLIENT_SETTINGS = {"client", "own", "common"}
CLIENTS = [group for group in OPTIONS if group.startswith("clients_")]


@dataclass
class Reads:
    """Return the options that a piece of code reads: `(object, name)`, and names that are built from a pattern."""

    names: set[tuple[str, str]] = field(default_factory=set)
    patterns: list[re.Pattern[str]] = field(default_factory=list)

    def add(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=holder, attr=name, ctx=ast.Load()):
                    self.names.add((_last(holder), name))
                case ast.Subscript(value=holder, slice=ast.Constant(value=str(name))):
                    self.names.add((_last(holder), name))
                case ast.Subscript(value=holder, slice=ast.JoinedStr(values=parts)) if _last(holder) in SETTINGS:
                    self.patterns.append(re.compile("".join(_pattern(part) for part in parts)))
                case ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[ast.Constant(value=str(name)), *_]):
                    self.names.add((_last(holder), name))

    def __contains__(self, place: tuple[str, str]) -> bool:
        group, name = place
        holders = SETTINGS if group == "DEFAULT" else {group, "options"}
        if group.startswith("clients"):
            holders |= CLIENT_SETTINGS
        made = group == "DEFAULT" and any(pattern.fullmatch(name) for pattern in self.patterns)
        return made or any((holder, name) in self.names for holder in holders)


def _last(node: ast.AST) -> str:
    """Return the last name of an expression: `settings` of `self.engine.settings`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _pattern(part: ast.AST) -> str:
    return re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+"


def reads_of(*sources: str) -> Reads:
    reads = Reads()
    for source in sources:
        reads.add(ast.parse(source))
    return reads


def program() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        if PACKAGE / "emulator" not in path.parents:
            yield path.read_text(encoding="utf-8")


def ignored(options: dict[str, list[cfg.Opt]], reads: Reads) -> list[str]:
    return [
        f"[{group}] {option.dest}"
        for group in options
        for option in options[group]
        if (group, option.dest) not in reads
    ]


def test_every_option_is_read() -> None:
    ours = {group: list(options) for group, options in OPTIONS.items() if group not in LIBRARIES}
    assert ignored(ours, reads_of(*program())) == []


def test_stoker_registers_no_options_in_sections_of_libraries() -> None:
    for group, own in LIBRARIES.items():
        assert {option.name for option in OPTIONS[group]} <= {option.name for option in own}


def test_every_section_for_a_service_is_for_one_that_is_called() -> None:
    assert [group for group in CLIENTS if group.removeprefix("clients_") not in OPENSTACK] == []


def test_every_option_of_the_service_user_is_a_setting() -> None:
    assert set(SERVICE_USER_OPTIONS) <= {field.name for field in CloudSettings.__dataclass_fields__.values()}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = config.host", True),
        ("x = self.engine.settings.host", True),
        ("x = call.stack.options.get('host', 1)", True),
        ("x = config[f'h{letter}st']", True),
        ("config.host = 1", False),
        ("x = url.host", False),
        ("x = 'host'", False),
        ("config.set_default('host', 1)", False),
    ],
)
def test_the_scan_distinguishes_reading_from_mentioning(source: str, found: bool) -> None:
    assert ignored({"DEFAULT": [cfg.StrOpt("host")]}, reads_of(source)) == ([] if found else ["[DEFAULT] host"])


def test_the_same_name_elsewhere_does_not_count_as_reading_an_option() -> None:
    options: dict[str, list[cfg.Opt]] = {"yaql": [cfg.IntOpt("memory_quota")]}
    assert ignored(options, reads_of("settings.memory_quota")) == ["[yaql] memory_quota"]
    assert ignored(options, reads_of("config.yaql.memory_quota")) == []
