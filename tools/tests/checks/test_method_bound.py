"""The check for the number of methods of a class."""

from __future__ import annotations

import inspect
from pathlib import Path
from textwrap import dedent

import pytest

from openstack_emulator.compute.service import COMPUTE
from openstack_emulator.volume.service import VOLUME
from tools.checks.method_bound import Counter, UnknownBase, check
from tools.checks.source_tree import ROOT, load


def tree(source: Path, **modules: str) -> Path:
    """A package `pack` with these modules."""
    for name, text in {"__init__": "", **modules}.items():
        path = source / "pack" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return source


MODULES = {
    "base": """
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Base(Generic[T]):
            def one(self): ...
            @property
            def two(self): ...
        Renamed = Base
    """,
    "shop": "from pack.base import Base, Renamed as Other\n",
    "use": """
        import json
        import pack.base
        from pack import shop
        from pack.shop import Base as Imported, Other
        class Right(pack.base.Base[int]):
            def three(self): ...
        class Left(Imported, json.JSONDecoder):
            def three(self): ...
            if True:
                async def four(self): ...
        class Both(Left, Right, Other[str]):
            def one(self): ...
            five = 5
            class Inner(shop.Base, Exception):
                def six(self): ...
    """,
}


def test_methods_of_bases_count_once_by_whatever_name_a_base_is_imported(tmp_path: Path) -> None:
    counter = Counter(load(tree(tmp_path, **MODULES)))

    assert counter.methods("pack.use.Both") == {"one", "two", "three", "four"}
    assert counter.methods("pack.use.Both.Inner") == {"one", "two", "six"}


def test_classes_over_the_bound_are_reported_unless_excepted(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, **MODULES))

    assert check(modules, {}, bound=3) == [
        "pack.use.Both has 4 methods, more than 3",
        "pack.use.Left has 4 methods, more than 3",
    ]
    assert check(modules, {"pack.use.Both": "a reason", "pack.use.Left": "a reason"}, bound=3) == []
    assert check(modules, {"pack.use.Left": "a reason"}, bound=4) == [
        "pack.use.Left keeps the bound: remove it from tool.stoker.checks"
    ]


def test_an_own_base_class_that_is_not_found_is_an_error(tmp_path: Path) -> None:
    modules = load(tree(tmp_path, a="from pack.b import Gone\nclass A(Gone): ...\n", b=""))

    with pytest.raises(UnknownBase, match=r"pack\.a\.A has the base pack\.b\.Gone"):
        check(modules, {})


def test_the_count_without_importing_equals_that_of_imported_classes() -> None:
    counter = Counter(load(ROOT / "packages" / "openstack-emulator" / "src"))
    kinds: tuple[type, ...] = (COMPUTE.records, VOLUME.records)
    for kind in kinds:
        ours = [base for base in kind.__mro__ if base is not object]

        found = {attribute for base in ours for attribute, value in vars(base).items() if inspect.isfunction(value)}

        assert counter.methods(f"{kind.__module__}.{kind.__name__}") == found
