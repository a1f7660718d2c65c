"""No class has more methods than a reader can keep in mind, those of its bases included.

Counted are the names of methods and properties of a class and all of its bases that are ours. Classes over the bound
are errors, unless `tool.stoker.checks.method-bound` of pyproject.toml lists them with a reason. Exit status 1 when
there is an error, also for a listed class that keeps the bound.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tools.checks.source_tree import Module, SourceTree, dotted, resolved, show

BOUND = 50
BOUNDS = dict.fromkeys(("openstack_emulator.", "stoker.", "stoker_"), 40)
"""Smaller bounds of packages, by the beginning of their classes' names."""


class UnknownBase(Exception):
    """A base of a class that seems to be ours and is not found."""


@dataclass(frozen=True)
class Class:
    """A class: the methods of its own body, and its bases as dotted names."""

    name: str
    methods: frozenset[str]
    bases: tuple[str, ...]


def classes(modules: Mapping[str, Module]) -> dict[str, Class]:
    """All classes by their dotted names, nested ones and those inside functions too."""
    found = {}
    for module in modules.values():
        bound = module.bindings
        for name, node in definitions(module.name, module.tree):
            names = (dotted(base) for base in node.bases)
            bases = tuple(resolved(base, module.name, bound) for base in names if base is not None)
            found[name] = Class(name, frozenset(_methods(node)), bases)
    return found


def definitions(prefix: str, node: ast.AST) -> Iterator[tuple[str, ast.ClassDef]]:
    """All classes below a node with their dotted names, nested ones and those inside functions too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield f"{prefix}.{child.name}", child
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from definitions(f"{prefix}.{child.name}", child)
        else:
            yield from definitions(prefix, child)


def _methods(node: ast.ClassDef) -> Iterator[str]:
    """The functions of a class's body, those under `if` too."""
    pending: list[ast.stmt] = list(node.body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement.name
        elif isinstance(statement, ast.If):
            pending += [*statement.body, *statement.orelse]


class Counter:
    """Counts methods over a class and its bases."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._modules = modules
        self.classes = classes(modules)
        self._bound = {name: module.bindings for name, module in modules.items()}
        self._packages = {name.partition(".")[0] for name in modules}

    def methods(self, name: str) -> frozenset[str]:
        """The names of the methods of a class of ours and its bases. Raises UnknownBase."""
        return frozenset[str]().union(*(each.methods for each in self.family(name)))

    def family(self, name: str) -> Iterator[Class]:
        """A class of ours and its bases, each once. Raises UnknownBase."""
        seen, pending = set[str](), [name]
        while pending:
            current = self.classes[pending.pop()]
            if current.name not in seen:
                seen.add(current.name)
                yield current
                pending += [base for one in current.bases if (base := self._own_class(one, current.name)) is not None]

    def _own_class(self, base: str, user: str) -> str | None:
        """The class of ours that a dotted name stands for, by way of modules that import it; None for others."""
        seen: set[str] = set()
        while base not in self.classes:
            module, _, name = base.rpartition(".")
            if base in seen or base.partition(".")[0] not in self._packages:
                return None
            seen.add(base)
            if module not in self._modules:
                raise UnknownBase(f"{user} has the base {base}, which is not found.")
            if name not in self._bound[module]:
                if hasattr(builtins, name):
                    return None
                raise UnknownBase(f"{user} has the base {base}, which is not found.")
            base = self._bound[module][name]
        return base


def check(modules: Mapping[str, Module], excepted: Mapping[str, str], bound: int = BOUND) -> list[str]:
    """The lines of the report; empty when all is well."""
    counter = Counter(modules)
    counts = {name: len(counter.methods(name)) for name in counter.classes}
    return over_bound("methods", counts, lambda name: _bound_of(name, bound), excepted)


def over_bound(
    what: str, counts: Mapping[str, int], bound_of: Callable[[str], int], excepted: Mapping[str, str]
) -> list[str]:
    """The lines of the report on `what` is counted: classes over their bounds, and exceptions that are not needed."""
    over = {name: count for name, count in counts.items() if count > bound_of(name)}
    many = {name: count for name, count in over.items() if name not in excepted}
    report = [f"{name} has {count} {what}, more than {bound_of(name)}" for name, count in many.items()]
    report += [f"{name} keeps the bound: remove it from tool.stoker.checks" for name in excepted if name not in over]
    return sorted(report)


def _bound_of(name: str, bound: int) -> int:
    return min([bound, *(smaller for start, smaller in BOUNDS.items() if name.startswith(start))])


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on Stoker's classes."""
    return check(tree.modules, tree.exceptions["method-bound"])


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
