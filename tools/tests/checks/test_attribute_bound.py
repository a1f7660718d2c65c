"""The check for the number of public attributes of a class."""

from __future__ import annotations

from pathlib import Path

from tools.checks.attribute_bound import check, counts
from tools.checks.source_tree import load
from tools.tests.checks.test_method_bound import tree

MODULES = {
    "base": """
        from dataclasses import dataclass
        class Base:
            kind: str = ""
            def __init__(self, other):
                self.one: int = 1
                self._hidden = other
                other.elsewhere = 2
        @dataclass
        class Data:
            first: int
            second: int = 0
        @dataclass(frozen=True)
        class Frozen(Data):
            third: int = 0
    """,
    "use": """
        from pack.base import Base
        class Below(Base):
            def later(self):
                self.one, self.two = 1, 2
            @property
            def shown(self): ...
    """,
}


def test_public_attributes_count_once_each_with_those_of_bases(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))

    assert counts(modules) == {"pack.base.Base": 2, "pack.base.Data": 2, "pack.use.Below": 3}


def test_classes_over_the_bound_and_exceptions_without_a_need_are_reported(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))

    assert check(modules, {}, 2) == ["pack.use.Below has 3 attributes, more than 2"]
    assert check(modules, {"pack.use.Below": "reason"}, 2) == []
    assert check(modules, {"pack.use.Below": "reason"}, 3) == [
        "pack.use.Below keeps the bound: remove it from tool.stoker.checks"
    ]


def test_declarations_of_schema_are_not_counted(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))

    assert counts(modules, {"pack.base.Base"}) == {"pack.base.Data": 2}
