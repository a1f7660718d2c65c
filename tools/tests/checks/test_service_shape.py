"""The check of the shape of the emulated services."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from tools.checks.service_shape import check
from tools.checks.source_tree import load

RULES = "from openstack_emulator.core.rules import Rules"
ROUTES = 'ROUTES = {"/a": {"GET": index}, "/b": {"GET": show}}'


def found(source: Path, modules: Mapping[str, str], package: str = "shop") -> list[str]:
    """The report on a service with these modules; `__` stands for a folder."""
    for name, text in {"__init__": "", "service": "", "routes": ROUTES, **modules}.items():
        path = source / "openstack_emulator" / package / f"{name.replace('__', '/') if name != '__init__' else name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return check(load(source))


def test_a_service_of_this_shape_passes(tmp_path: Path) -> None:
    assert found(tmp_path, {"records": "", "views": "", "rules__goods": RULES}) == []


@pytest.mark.parametrize(
    ("modules", "reported"),
    [
        ({"helpers": ""}, "shop.helpers is none of the rooms"),
        ({"routes": ""}, "has 0 tables of routes"),
        ({"routes": ROUTES, "views": ROUTES, "records": ""}, None),
        ({"routes": 'ROUTES = {"/b": {}, "/a": {}}'}, "/a follows /b"),
        ({"routes": 'ROUTES = {**FIRST, "/a": {}}'}, "must be written as one table"),
        ({"routes": "ROUTES = merged(FIRST, SECOND)"}, "must be written as one table"),
        ({"views": "x['a']\n" * 20}, "subscripts with a string per 1,000 lines; 10 are allowed"),
    ],
)
def test_another_shape_is_reported(tmp_path: Path, modules: dict[str, str], reported: str | None) -> None:
    lines = found(tmp_path, modules)
    assert len(lines) == (reported is not None) and all(str(reported) in line for line in lines)


def test_packages_that_are_no_services_have_other_rooms_and_as_few_subscripts(tmp_path: Path) -> None:
    assert found(tmp_path, {"routes": "", "helpers": ""}, "core") == []
    [line] = found(tmp_path, {"routes": "", "helpers": "x['a']\nx.b\n" * 10}, "core")
    assert line == "openstack_emulator.core has 500.0 subscripts with a string per 1,000 lines; 10 are allowed"
