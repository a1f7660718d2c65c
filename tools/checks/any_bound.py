"""The packages use `Any` in no more lines than recorded, and the record only goes down.

`Any` switches the type checker off. A value that is passed on, compared or written as JSON is an `object`; one that is
looked into has a type of its own. Counted are the lines of a package's modules in which a type is `Any`, not imports.
`tool.stoker.bounds.any` of pyproject.toml has the bound of each package. Exit status 1 when a package is above its
bound, or so far below that the bound must be lowered.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Mapping

from tools.checks.source_tree import Module, SourceTree, show

SLACK = 50
"""Lines that a package may be below its bound."""


def lines(module: Module) -> int:
    """The number of a module's lines in which a type is `Any`."""
    return len({node.lineno for node in module.nodes if isinstance(node, ast.Name) and node.id == "Any"})


def check(modules: Mapping[str, Module], bounds: Mapping[str, int], slack: int = SLACK) -> list[str]:
    """The lines of the report; empty when all is well. `bounds` are those of top-level packages, 0 for others."""
    counts = Counter[str]()
    for name, module in modules.items():
        counts[name.partition(".")[0]] += lines(module)
    report = []
    for package in sorted(counts.keys() | bounds.keys()):
        count, bound = counts[package], bounds.get(package, 0)
        if count > bound:
            report.append(f"{package} has {count} lines with Any, more than {bound}: use object, or a type of its own")
        elif count < bound - slack:
            report.append(f"{package} has {count} lines with Any: lower its bound of {bound} in tool.stoker.bounds.any")
    return report


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the packages."""
    return check(tree.modules, tree.bounds["any"])


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
