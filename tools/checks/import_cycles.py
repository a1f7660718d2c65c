"""Import cycles between modules, and between packages; imports for type checkers and inside functions count.

Modules that import each other can only be understood together, and so can packages, even if no two of their modules
import each other. A cycle is an error, unless all of its modules lie in
one of the packages that `tool.stoker.checks.import-cycles` of pyproject.toml lists with a reason; that list is to
become empty. Exit status 1 when there is an error, also for a listed package without a cycle.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from tools.checks.source_tree import Module, SourceTree, imports, show

Graph = Mapping[str, Mapping[str, int]]
"""By module: the modules that it imports, each with the line of the first import."""


def graph(modules: Mapping[str, Module]) -> dict[str, dict[str, int]]:
    """Who imports whom."""
    found: dict[str, dict[str, int]] = {}
    for name, module in modules.items():
        lines = found[name] = {}
        for target, line in imports(module, modules):
            if target != name:
                lines.setdefault(target, line)
    return found


def cycles(edges: Graph) -> list[list[str]]:
    """The groups of modules that import each other, directly or by way of others (strongly connected components with
    more than one member; Tarjan's algorithm, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    found: list[list[str]] = []
    for start in edges:
        if start in order:
            continue
        pending = [(start, iter(edges[start]))]
        order[start] = low[start] = len(order)
        path.append(start)
        on_path.add(start)
        while pending:
            node, targets = pending[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    path.append(target)
                    on_path.add(target)
                    pending.append((target, iter(edges[target])))
                    break
                if target in on_path:
                    low[node] = min(low[node], order[target])
            else:
                pending.pop()
                if pending:
                    low[pending[-1][0]] = min(low[pending[-1][0]], low[node])
                if low[node] == order[node]:
                    at = path.index(node)
                    group = path[at:]
                    del path[at:]
                    on_path.difference_update(group)
                    if len(group) > 1:
                        found.append(sorted(group))
    return sorted(found)


def package_of(group: Iterable[str], packages: Iterable[str]) -> str | None:
    """The package of the list in which all modules of a cycle lie."""
    return next((one for one in packages if all(f"{name}.".startswith(f"{one}.") for name in group)), None)


def described(group: list[str], edges: Graph) -> list[str]:
    """The lines of a report on a cycle: each module with what it imports of the others."""
    lines = [f"{len(group)} modules import each other:"]
    for name in group:
        others = (f"{target} (line {line})" for target, line in edges[name].items() if target in group)
        lines.append(f"  {name} imports {', '.join(others)}")
    return lines


def check(edges: Graph, excepted: Mapping[str, str]) -> list[str]:
    """The lines of the report; empty when all is well."""
    report: list[str] = []
    needed: set[str] = set()
    for group in cycles(edges):
        package = package_of(group, excepted)
        if package is None:
            report += described(group, edges)
        else:
            needed.add(package)
    report += [f"{one} has no import cycle: remove it from tool.stoker.checks" for one in excepted if one not in needed]
    return report


def parts(edges: Graph) -> Iterator[tuple[str, dict[str, dict[str, tuple[str, str]]]]]:
    """Each package with its parts, packages and modules: which part imports which, each with an import as example."""
    packages = {name.rpartition(".")[0] for name in edges} - {""}
    for package in sorted(packages):
        inside = f"{package}."
        between: dict[str, dict[str, tuple[str, str]]] = {}
        for source in (name for name in edges if name.startswith(inside)):
            part = _part(source, inside)
            between.setdefault(part, {})
            for target in (name for name in edges[source] if name.startswith(inside)):
                if (other := _part(target, inside)) != part:
                    between[part].setdefault(other, (source, target))
                    between.setdefault(other, {})
        yield package, between


def _part(module: str, inside: str) -> str:
    """The part of a package that a module belongs to; `inside` is the package's name with a dot."""
    return inside + module.removeprefix(inside).partition(".")[0]


def between_packages(edges: Graph) -> list[str]:
    """The lines of the report on cycles of packages; those of modules alone are left to `check`."""
    report: list[str] = []
    for package, between in parts(edges):
        for group in cycles({name: dict.fromkeys(targets, 0) for name, targets in between.items()}):
            examples = [between[one][other] for one in group for other in group if other in between[one]]
            if all(name in group for pair in examples for name in pair):
                continue
            report.append(f"{len(group)} parts of {package} import each other:")
            report += [f"  {source} imports {target} (line {edges[source][target]})" for source, target in examples]
    return report


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the modules of all distributions."""
    edges = graph(tree.modules)
    return [*check(edges, tree.exceptions["import-cycles"]), *between_packages(edges)]


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
