"""The check for tests that assert nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.checks.assertions import functions, report, without_assertion
from tools.checks.source_tree import SourceTree

HELPERS = """
def held(value):
    assert value

class World:
    def until(self, condition):
        raise AssertionError("never")
    def call(self, name):
        assert name
        return name
"""
PROVING = (
    "assert x",
    "with pytest.raises(ValueError): x()",
    "with raises(ValueError): x()",
    "pytest.fail('x')",
    "held(x)",
    "later(x)",
    "world.until(x)",
)
SILENT = ("x()", "world.call('x')", "unknown.held_by(x)", "pass")


def found(body: str) -> list[tuple[str, int]]:
    own = f"def later(x):\n    held(x)\nasync def test_it(world):\n    {body}\n"
    return list(without_assertion(ast.parse(own), functions(ast.parse(HELPERS))))


@pytest.mark.parametrize("body", PROVING)
def test_tests_that_assert_are_not_found(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize("body", SILENT)
def test_tests_that_only_act_are_found(body: str) -> None:
    assert found(body) == [("test_it", 3)]


def test_test_without_assertion_is_reported_with_position(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "helpers.py").write_text(HELPERS)
    (tmp_path / "tests" / "test_x.py").write_text("def test_a():\n    held(1)\n\n\ndef test_b():\n    f()\n")
    assert report(SourceTree(tmp_path)) == ["tests/test_x.py:5: test_b asserts nothing"]
