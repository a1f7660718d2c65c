"""Every test asserts something: itself, or by a function of the tests that asserts.

Tests are the functions `test_…` of the files `test_*.py`. What counts are `assert`, `pytest.raises` and its like, and
calls of functions that have one of them, which are known by their names. Exit status 1 when a test has nothing of that.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools.checks.source_tree import SourceTree, dotted, show

_FOLDERS = ("tests", "testing", "tools")
_STATES = "tests/upgrades/states"
"""Recorded states of released versions, with their sources."""
_PYTEST = {"raises", "fail", "warns", "deprecated_call"}
_TEST = re.compile(r"^ *(?:async )?def test_", re.MULTILINE)
_ASSERTS = re.compile(r"\bassert\b|\bpytest\.(?:raises|fail|warns)\b")
"""What nearly every test contains: files of which all tests do need not be parsed."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def report(tree: SourceTree) -> list[str]:
    """The lines of the report; empty when all is well."""
    tests, helpers = [], list[ast.Module]()
    for path in _files(tree.root):
        text = tree.text(path)
        if path.name.startswith("test_"):
            tests.append((path, text))
        elif _ASSERTS.search(text) or "AssertionError" in text:
            helpers.append(ast.parse(text))
    shared = [function for module in helpers for function in functions(module)]
    return [
        f"{path.relative_to(tree.root)}:{line}: {name} asserts nothing"
        for path, text in tests
        if _is_suspect(text)
        for name, line in without_assertion(ast.parse(text), shared)
    ]


def without_assertion(module: ast.Module, shared: Iterable[Function]) -> Iterator[tuple[str, int]]:
    """The tests of a module that assert nothing, with their lines; `shared` are functions of other modules."""
    own = list(functions(module))
    known: dict[str, list[Function]] = {}
    for function in (*shared, *own):
        known.setdefault(function.name, []).append(function)
    proving = _proving(known)
    for function in own:
        if function.name.startswith("test_") and function.name not in proving:
            yield function.name, function.lineno


def _files(root: Path) -> Iterator[Path]:
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if not path.is_relative_to(root / _STATES):
                yield path


def _is_suspect(text: str) -> bool:
    """Whether a part of the content that begins with a test has no assertion."""
    return any(not _ASSERTS.search(part) for part in _TEST.split(text)[1:])


def functions(module: ast.Module) -> Iterator[Function]:
    """The functions of a module and the methods of its classes."""
    for node in module.body:
        inner: Iterable[ast.stmt] = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (each for each in inner if isinstance(each, Function))


def _proving(known: Mapping[str, list[Function]]) -> set[str]:
    """The names of functions that assert, or call one that does. `known` are those of a name."""
    calls = {name: set[str]().union(*(_calls(each, known) for each in found)) for name, found in known.items()}
    proving = {name for name, found in known.items() if calls[name] & _PYTEST or any(map(_asserts, found))}
    while more := {name for name, called in calls.items() if name not in proving and called & proving}:
        proving |= more
    return proving


def _asserts(function: Function) -> bool:
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Raise) and "AssertionError" in ast.dump(node))
        for node in ast.walk(function)
    )


def _calls(function: Function, known: Mapping[str, list[Function]]) -> set[str]:
    """The names of what a function calls. A method counts if one of that name returns nothing: it is there to assert,
    rather than called for its result.
    """
    found = set()
    for node in ast.walk(function):
        name = dotted(node.func) if isinstance(node, ast.Call) else None
        owner, dot, last = (name or "").rpartition(".")
        if name and (not dot or owner == "pytest" or not all(map(_returns, known.get(last, ())))):
            found.add(last)
    return found


def _returns(function: Function) -> bool:
    return any(isinstance(node, ast.Return | ast.Yield) and node.value for node in ast.walk(function))


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
