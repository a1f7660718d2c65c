"""The check of the shape of the emulated services."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from tools.checks.service_shape import SHAPED, SUBSCRIPTS, check
from tools.checks.source_tree import SourceTree, load

RULES = "from openstack_emulator.core.rules import Rules"
ROUTES = 'ROUTES = {"/a": {"GET": index}, "/b": {"GET": show}}'


def found(source: Path, modules: Mapping[str, str], shaped: tuple[str, ...] = ("shop",), bound: int = 100) -> list[str]:
    """The report on a service with these modules; `__` stands for a folder."""
    for name, text in {"__init__": "", "service": "", "routes": ROUTES, **modules}.items():
        path = source / "openstack_emulator" / "shop" / f"{name.replace('__', '/') if name != '__init__' else name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return check(load(source), shaped, {"shop": bound})


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
        ({"views": "from openstack_emulator.core.store import Record"}, "views:1 uses Record"),
        ({"views": "from openstack_emulator.core import store\nX = store.Collection"}, "views:2 uses Collection"),
        ({"rules": "def f(records):\n  records.table('goods')"}, "rules:2 calls table"),
        ({"views": "x['a']\n" * 20}, "subscripts with a string per 1,000 lines; at most 10"),
    ],
)
def test_another_shape_is_reported(tmp_path: Path, modules: dict[str, str], reported: str | None) -> None:
    lines = found(tmp_path, modules)
    assert len(lines) == (reported is not None) and all(str(reported) in line for line in lines)


@pytest.mark.parametrize(("bound", "reported"), [(100, "at most 100"), (500, None), (800, "lower its number to 500")])
def test_other_packages_keep_their_numbers_which_shrink(tmp_path: Path, bound: int, reported: str | None) -> None:
    lines = found(tmp_path, {"routes": "", "views": "x['a']\nx.b\n" * 10}, (), bound)
    assert len(lines) == (reported is not None) and all(str(reported) in line for line in lines)


def test_the_emulated_cloud_keeps_its_shape() -> None:
    assert check(SourceTree().modules) == []
    assert not SUBSCRIPTS.keys() & set(SHAPED)
