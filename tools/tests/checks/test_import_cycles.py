"""The check for import cycles."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from tools.checks.import_cycles import between_packages, check, cycles, graph
from tools.checks.source_tree import load


def tree(source: Path, **modules: str) -> Path:
    """A package `pack` whose modules (`a`, `inner__b` for `inner/b`) have these sources."""
    for name, text in {"__init__": "", "inner____init__": "", **modules}.items():
        path = source / "pack" / f"{name.replace('inner__', 'inner/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return source


def test_imports_for_type_checkers_and_inside_functions_make_cycles(tmp_path: Path) -> None:
    source = tree(
        tmp_path,
        a="""
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from pack.inner import b
        """,
        inner__b="""
            def late():
                from ..c import value
        """,
        c="import pack.a\nvalue = 1\n",
        d="from pack import a, c\n",
    )

    assert cycles(graph(load(source))) == [["pack.a", "pack.c", "pack.inner.b"]]


def test_imports_in_one_direction_make_no_cycle(tmp_path: Path) -> None:
    source = tree(
        tmp_path, a="from pack.inner.b import x\nimport pack.c\n", inner__b="from pack.c import y as x\n", c="y = 1\n"
    )

    assert cycles(graph(load(source))) == []


def test_the_report_names_each_import_of_a_cycle_with_its_line(tmp_path: Path) -> None:
    source = tree(tmp_path, a="\nfrom pack import c\n", c="from pack.a import x\n")

    assert check(graph(load(source)), {}) == [
        "2 modules import each other:",
        "  pack.a imports pack.c (line 2)",
        "  pack.c imports pack.a (line 1)",
    ]


def test_a_cycle_is_excepted_only_when_all_of_it_lies_in_the_package(tmp_path: Path) -> None:
    inside = tree(tmp_path / "one", inner__a="from pack.inner import b\n", inner__b="from pack.inner import a\n")
    across = tree(tmp_path / "two", inner__a="import pack.b\n", b="import pack.inner.a\n")

    assert check(graph(load(inside)), {"pack.inner": "for now"}) == []
    assert check(graph(load(across)), {"pack.inner": "for now"})[0] == "2 modules import each other:"


def test_packages_that_import_each_other_are_reported_even_if_no_two_of_their_modules_do(tmp_path: Path) -> None:
    source = tree(tmp_path, inner__a="import pack.b\n", inner__c="x = 1\n", b="import os\nfrom pack.inner import c\n")

    assert cycles(graph(load(source))) == []
    assert between_packages(graph(load(source))) == [
        "2 parts of pack import each other:",
        "  pack.b imports pack.inner.c (line 2)",
        "  pack.inner.a imports pack.b (line 1)",
    ]


def test_modules_that_import_each_other_are_not_reported_twice(tmp_path: Path) -> None:
    source = tree(tmp_path, a="from pack import c\n", c="from pack.a import x\n")

    assert between_packages(graph(load(source))) == []


def test_an_exception_that_is_not_needed_is_an_error(tmp_path: Path) -> None:
    source = tree(tmp_path, a="")

    assert check(graph(load(source)), {"pack.inner": "for now"}) == [
        "pack.inner has no import cycle: remove it from tool.stoker.checks"
    ]


def test_two_cycles_that_share_no_module_are_distinguished(tmp_path: Path) -> None:
    source = tree(
        tmp_path,
        a="import pack.b\n",
        b="import pack.a\nimport pack.c\n",
        c="import pack.d\n",
        d="import pack.c\n",
    )

    assert cycles(graph(load(source))) == [["pack.a", "pack.b"], ["pack.c", "pack.d"]]
