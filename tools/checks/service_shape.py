"""The services of the emulated cloud have one shape, which docs/contributing/emulated-services.md describes.

Checked of the services in `SHAPED`:

- The rooms are `records`, `rules`, `views`, `routes` and `service`, and there are no others.
- Records are typed: JSON objects as records, and collections of them, are not used.
- All routes are in one table, `ROUTES`, in the order of their paths; its keys are strings.
- There are at most 10 subscripts with a string (`record["name"]`) per 1,000 lines: at the edge, where JSON comes from
  requests and from other services.

Other packages may have no more subscripts than in `SUBSCRIPTS`, which only shrinks. Exit status 1 when there is an
error.
"""

from __future__ import annotations

import ast
import itertools
import math
import sys
from collections.abc import Iterable, Iterator, Mapping

from tools.checks.source_tree import Module, SourceTree, dotted, resolved, show

PACKAGE = "openstack_emulator"
SHAPED = (
    "alarming",
    "baremetal",
    "catalog",
    "compute",
    "container",
    "container_infra",
    "database",
    "dns",
    "identity",
    "image",
    "keymanager",
    "loadbalancer",
    "messaging",
    "metric",
    "network",
    "objectstore",
    "placement",
    "policy",
    "reservation",
    "share",
    "volume",
    "workflow",
)
"""The services that have the shape. A service that gets it is added here, and leaves `SUBSCRIPTS`."""
ROOMS = frozenset({"records", "rules", "views", "routes", "service"})
NEEDED = frozenset({"routes", "service"})
"""The rooms of a service that keeps nothing."""
MOST = 10
"""Subscripts with a string per 1,000 lines of a service that has the shape."""
SUBSCRIPTS: Mapping[str, int] = {
    "core": 11,
    "guests": 9,
}
"""Subscripts with a string per 1,000 lines of the other packages."""
SLACK = 5
"""By how much a package may have fewer before its number must be lowered."""
UNTYPED = frozenset(f"{PACKAGE}.core.store.{name}" for name in ("Record", "Collection"))
METHODS = frozenset({"collection", "table"})
"""Methods of `Records` that make collections of JSON objects."""


def check(
    modules: Mapping[str, Module], shaped: Iterable[str] = SHAPED, others: Mapping[str, int] = SUBSCRIPTS
) -> list[str]:
    """The lines of the report; empty when all is well."""
    packages: dict[str, list[Module]] = {}
    for name, module in modules.items():
        root, _, rest = name.partition(".")
        if root == PACKAGE and rest and (module.is_package or "." in rest):
            packages.setdefault(rest.partition(".")[0], []).append(module)
    lines = [line for name in shaped for line in _flaws(f"{PACKAGE}.{name}", packages.get(name, []))]
    for name, found in packages.items():
        if name not in shaped:
            lines.extend(_over(f"{PACKAGE}.{name}", _rate(found), others.get(name, MOST)))
    return sorted(lines)


def _over(name: str, rate: float, bound: int) -> Iterator[str]:
    if rate > bound:
        yield f"{name} has {rate:.1f} subscripts with a string per 1,000 lines; at most {bound} are allowed"
    elif rate < bound - SLACK and bound > MOST:
        yield f"{name} has only {rate:.1f} subscripts with a string: lower its number to {math.ceil(rate)}"


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
    if (rate := _rate(modules)) > MOST:
        yield f"{name} has {rate:.1f} subscripts with a string per 1,000 lines; at most {MOST} are allowed"
    tables = []
    for module in modules:
        yield from _untyped(module)
        if module.name.startswith(f"{name}.routes"):
            tables += [(module, value) for value in _tables(module.tree)]
    if len(tables) != 1:
        yield f"{name} has {len(tables)} tables of routes (ROUTES); it must have one, in its routes"
    for module, table in tables:
        yield from _disorder(module, table)


def _untyped(module: Module) -> Iterator[str]:
    for node in module.nodes:
        where = f"{module.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ImportFrom):
            base = module.absolute(node)
            for alias in node.names:
                if f"{base}.{alias.name}" in UNTYPED:
                    yield f"{where} uses {alias.name}, which services with typed records do not need"
        elif isinstance(node, ast.Attribute) and _meant(node, module) in UNTYPED:
            yield f"{where} uses {node.attr}, which services with typed records do not need"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            yield f"{where} calls {node.func.attr}, which services with typed records do not need"


def _meant(node: ast.expr, module: Module) -> str | None:
    """The dotted name from the root that an expression is; None for other expressions."""
    name = dotted(node)
    return None if name is None else resolved(name, module.name, module.bindings)


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
