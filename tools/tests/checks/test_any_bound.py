"""The check for the number of lines in which a type is `Any`."""

from __future__ import annotations

from pathlib import Path

from tools.checks.any_bound import check
from tools.checks.source_tree import load
from tools.tests.checks.test_method_bound import tree

MODULES = {
    "loose": """
        from typing import Any
        def first(value: Any, other: Any) -> None: ...
        def second(
            value: dict[str, Any],
        ) -> Any: ...
    """,
    "strict": """
        def third(value: object) -> str:
            return "Any"
    """,
}


def test_lines_with_any_are_counted_once_each_and_imports_and_strings_are_not(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))
    assert check(modules, {"pack": 3}) == []
    assert check(modules, {"pack": 2}) == ["pack has 3 lines with Any, more than 2: use object, or a type of its own"]
    assert check(modules, {}) == ["pack has 3 lines with Any, more than 0: use object, or a type of its own"]


def test_a_bound_that_is_too_high_is_to_be_lowered(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))
    assert check(modules, {"pack": 5}, slack=2) == []
    assert check(modules, {"pack": 6}, slack=2) == [
        "pack has 3 lines with Any: lower its bound of 6 in tool.stoker.bounds.any"
    ]
    assert check(modules, {"pack": 3, "gone": 3}, slack=2) == [
        "gone has 0 lines with Any: lower its bound of 3 in tool.stoker.bounds.any"
    ]
