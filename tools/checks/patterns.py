"""No pattern that a caller supplies is matched by an engine that backtracks.

Python's `re` takes exponential time for some patterns, and holds the interpreter's lock meanwhile: one request would
stop the process. So patterns of `re`, `fnmatch`, `glob` and SQL's LIKE are constants of the sources. Patterns that are
data belong to `stoker_foundation.patterns`, which alone uses RE2 as well. Places that compile what looks like data are
errors, unless `tool.stoker.checks.patterns` of pyproject.toml lists their function with a reason. Exit status 1 when
there is an error, also for a listed function that needs no exception.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from tools.checks.source_tree import Module, SourceTree, dotted, resolved, show

_FUNCTIONS = {
    **{f"re.{name}": 0 for name in ("compile", "match", "fullmatch", "search", "split", "sub", "subn", "findall")},
    "re.finditer": 0,
    "fnmatch.fnmatch": 1,
    "fnmatch.fnmatchcase": 1,
    "fnmatch.filter": 1,
    "fnmatch.translate": 0,
    "glob.glob": 0,
    "glob.iglob": 0,
}
"""Functions that match patterns, with the place of the pattern among their arguments."""

_METHODS = frozenset({"glob", "rglob", "like", "ilike", "not_like", "not_ilike", "regexp_match", "regexp_replace"})
"""Methods of paths and of SQL's columns whose first argument is a pattern."""

_FORBIDDEN = {
    "keystonemiddleware.auth_token._path_matches": "matches patterns of callers: use stoker.api.access_rules",
    "re2": "is used by stoker_foundation.patterns only",
}
_OWN = "stoker_foundation.patterns"


@dataclass(frozen=True)
class Finding:
    """A use that needs a reason: the dotted name of the function around it, its line, and what is wrong."""

    place: str
    line: int
    problem: str


class _Constants:
    """Which expressions are constants of the sources, by way of names of modules too."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._bound = {
            name: {key: value for key, value in module.bindings.items() if value} for name, module in modules.items()
        }
        self._assigned: dict[str, tuple[str, ast.expr]] = {}
        for name, module in modules.items():
            for target, value in _assignments(module.tree):
                self._assigned[f"{name}.{target}"] = (name, value)

    def holds(self, node: ast.expr, module: str, depth: int = 0) -> bool:
        """Return whether an expression of a module is a constant string, or is made of such."""
        inner = partial(self.holds, module=module, depth=depth + 1)
        match node:
            case ast.Constant():
                return True
            case ast.JoinedStr(values=values):
                return all(map(inner, values))
            case ast.FormattedValue(value=value):
                return inner(value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(map(inner, elements))
            case ast.Dict(keys=[*keys]):  # joined, a map is its keys
                return all(key is not None and inner(key) for key in keys)
            case ast.BinOp(left=left, right=right):
                return inner(left) and inner(right)
            case ast.Call(func=ast.Attribute(value=value, attr="replace" | "join"), args=arguments):
                return inner(value) and all(map(inner, arguments))
            case ast.Name() | ast.Attribute():
                known = self._assigned.get(self._full_name(node, module))
                return known is not None and depth < 10 and self.holds(known[1], known[0], depth + 1)
        return False

    def _full_name(self, node: ast.expr, module: str) -> str:
        name = dotted(node)
        return "" if name is None else resolved(name, module, self._bound[module])

    def function(self, node: ast.expr, module: str) -> str:
        """Return the dotted name from the root of what an expression names; empty for other expressions."""
        return self._full_name(node, module)


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _unpacked(target, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for one, its in zip(names, values, strict=True):
                yield from _unpacked(one, its)


def findings(modules: Mapping[str, Module]) -> list[Finding]:
    """Return the uses of patterns that may be data, in the order of the sources."""
    constants = _Constants(modules)
    others = (module for name, module in modules.items() if not f"{name}.".startswith(f"{_OWN}."))
    return [finding for module in others for finding in _of_module(module, constants)]


def _of_module(module: Module, constants: _Constants) -> Iterator[Finding]:
    called: set[int] = set()
    for place, node in _placed(module.name, module.tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from _imported(module, place, node)
        if isinstance(node, ast.Call):
            called.add(id(node.func))
            yield from _called(module.name, place, node, constants)
        elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in called:
            name = constants.function(node, module.name)
            if name in _FUNCTIONS:
                yield Finding(place, node.lineno, f"{name} is passed on as a function")
            elif name in _FORBIDDEN:
                yield Finding(place, node.lineno, f"{name} {_FORBIDDEN[name]}")


def _imported(module: Module, place: str, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module.absolute(node)]
    if "re2" in named:
        yield Finding(place, node.lineno, f"re2 {_FORBIDDEN['re2']}")


def _called(module: str, place: str, node: ast.Call, constants: _Constants) -> Iterator[Finding]:
    name = constants.function(node.func, module)
    if name in _FORBIDDEN:
        yield Finding(place, node.lineno, f"{name} {_FORBIDDEN[name]}")
    at = _FUNCTIONS.get(name)
    if at is None:
        if not (isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and node.args):
            return
        name, at = f".{node.func.attr}", 0
    pattern = (
        node.args[at] if len(node.args) > at else next((k.value for k in node.keywords if k.arg == "pattern"), None)
    )
    if pattern is None or not constants.holds(pattern, module):
        yield Finding(place, node.lineno, f"the pattern of {name} is not a constant")


def _placed(place: str, node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield all nodes below one, a call before its parts, with the dotted name of the function or class around each."""
    pending = [(place, child) for child in ast.iter_child_nodes(node)][::-1]
    while pending:
        around, child = pending.pop()
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            around = f"{around}.{child.name}"
        yield around, child
        pending += [(around, inner) for inner in ast.iter_child_nodes(child)][::-1]


def check(modules: Mapping[str, Module], excepted: Mapping[str, str]) -> list[str]:
    """The lines of the report; empty when all is well."""
    found = findings(modules)
    places = {finding.place for finding in found}
    lines = [f"{one.place}, line {one.line}: {one.problem}" for one in found if one.place not in excepted]
    return lines + [f"{name}: remove it from tool.stoker.checks.patterns" for name in excepted if name not in places]


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on Stoker's sources."""
    return check(tree.modules, tree.exceptions["patterns"])


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
