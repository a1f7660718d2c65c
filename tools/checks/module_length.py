"""No module of a package is longer than a reader can follow as one subject.

Counted are the lines up to the last statement, docstrings and comments included. Modules over the bound are errors,
unless `tool.stoker.checks.module-length` of pyproject.toml lists them with a reason. Exit status 1 when there is an
error, also for a listed module that keeps the bound.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tools.checks.method_bound import over_bound
from tools.checks.source_tree import Module, SourceTree, show

BOUND = 500


def check(modules: Mapping[str, Module], excepted: Mapping[str, str], bound: int = BOUND) -> list[str]:
    """The lines of the report; empty when all is well."""
    counts = {name: module.tree.body[-1].end_lineno or 0 for name, module in modules.items() if module.tree.body}
    return over_bound("lines", counts, lambda name: bound, excepted)


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the modules of the packages."""
    return check(tree.modules, tree.exceptions["module-length"])


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
