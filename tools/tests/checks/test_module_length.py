"""The check for the length of modules."""

from __future__ import annotations

from pathlib import Path

from tools.checks.module_length import check
from tools.checks.source_tree import load
from tools.tests.checks.test_method_bound import tree

MODULES = {
    "short": "first = 1\nsecond = 2\n",
    "long": '"""Three lines."""\nfirst = 1\nsecond = 2\n',
}


def test_longer_modules_are_errors_unless_they_are_excepted(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))
    assert check(modules, {}, bound=2) == ["pack.long has 3 lines, more than 2"]
    assert check(modules, {"pack.long": "a reason"}, bound=2) == []


def test_exceptions_that_are_not_needed_are_errors(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))
    assert check(modules, {"pack.short": "a reason"}, bound=3) == [
        "pack.short keeps the bound: remove it from tool.stoker.checks"
    ]
