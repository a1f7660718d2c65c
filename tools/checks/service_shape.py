"""The services of the emulated cloud have one shape, which docs/contributing/emulated-services.md describes.

Checked of every service, that is, of every package but those in `OTHERS`:

- The rooms are `records`, `rules`, `views`, `routes` and `service`, and there are no others.
- All routes are in one table, `ROUTES`, in the order of their paths; its keys are strings.
- There are at most 10 subscripts with a string (`record["name"]`) per 1,000 lines: at the edge, where JSON comes from
  requests and from other services.

Other packages, too, may have no more subscripts. That records are typed is seen to by the type checker: there are no
tables of others. Exit status 1 when there is an error.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping

from tools.checks.source_tree import Module, SourceTree, show

PACKAGE = "openstack_emulator"
OTHERS = frozenset({"core", "guests"})
"""The packages that are no services."""
ROOMS = frozenset({"records", "rules", "views", "routes", "service"})
NEEDED = frozenset({"routes", "service"})
"""The rooms of a service that keeps nothing."""
MOST = 10
"""Subscripts with a string per 1,000 lines of a package."""


def check(modules: Mapping[str, Module]) -> list[str]:
    """The lines of the report; empty when all is well."""
    packages: dict[str, list[Module]] = {}
    for name, module in modules.items():
        root, _, rest = name.partition(".")
        if root == PACKAGE and rest and (module.is_package or "." in rest):
            packages.setdefault(rest.partition(".")[0], []).append(module)
    lines: list[str] = []
    for name, found in packages.items():
        if (rate := _rate(found)) > MOST:
            lines.append(
                f"{PACKAGE}.{name} has {rate:.1f} subscripts with a string per 1,000 lines; {MOST} are allowed"
            )
        if name not in OTHERS:
            lines.extend(_flaws(f"{PACKAGE}.{name}", found))
    return sorted(lines)


def _rate(modules: Iterable[Module]) -> float:
    """Subscripts with a string per 1,000 lines."""
    count = lines = 0
    for module in modules:
        lines += max((node.end_lineno or 0 for node in module.tree.body), default=0)
        count += sum(_is_text(node.slice) for node in module.nodes if isinstance(node, ast.Subscript))
    return 1000 * count / max(lines, 1)


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _flaws(name: str, modules: Iterable[Module]) -> Iterator[str]:
    rooms = {module.name.removeprefix(f"{name}.").partition(".")[0] for module in modules if module.name != name}
    for room in sorted(NEEDED - rooms):
        yield f"{name} has no {room}"
    for room in sorted(rooms - ROOMS):
        yield f"{name}.{room} is none of the rooms of a service: {', '.join(sorted(ROOMS))}"
    tables = []
    for module in modules:
        if module.name.startswith(f"{name}.routes"):
            tables += [(module, value) for value in _tables(module.tree)]
    if len(tables) != 1:
        yield f"{name} has {len(tables)} tables of routes (ROUTES); it must have one, in its routes"
    for module, table in tables:
        yield from _disorder(module, table)


def _tables(tree: ast.Module) -> Iterator[ast.expr | None]:
    """The values that the module assigns to ROUTES."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "ROUTES" for target in targets):
            yield getattr(node, "value", None)


def _disorder(module: Module, table: ast.expr | None) -> Iterator[str]:
    if not isinstance(table, ast.Dict) or not all(_is_text(key) for key in table.keys):
        yield f"{module.name}: ROUTES must be written as one table, path by path"
        return
    paths = [str(key.value) for key in table.keys if isinstance(key, ast.Constant)]
    for before, after in itertools.pairwise(paths):
        if not before < after:
            yield f"{module.name}: {after} follows {before}: routes are in the order of their paths"


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the emulated cloud."""
    return check(tree.modules)


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
