"""The project's files as the checks see them: each file is read once, and each module of Stoker parsed once.

Modules are read without importing them: what each imports, and the classes it defines.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """A parsed module; `is_package` says that it is the `__init__` of a package."""

    name: str
    tree: ast.Module
    is_package: bool

    def absolute(self, node: ast.ImportFrom) -> str:
        """The module that a `from … import` names, with leading dots resolved."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        package = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*package, *([node.module] if node.module else [])])

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def bindings(self) -> dict[str, str]:
        """What names that the module imports or assigns stand for, as dotted names; empty for other values."""
        return _bindings(self)


PACKAGES = "packages/*/src"
"""The directories that have the packages of the distributions."""


def load(source: Path, text: Callable[[Path], str] = Path.read_text) -> dict[str, Module]:
    """The modules of the packages in a directory by name. `text` reads a file."""
    modules = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = Module(name, ast.parse(text(path), str(path)), is_package)
    return modules


def imports(module: Module, modules: Mapping[str, Module]) -> Iterator[tuple[str, int]]:
    """The modules of the package that a module imports, with line numbers.

    All import statements count: those of functions and those for type checkers too.
    """
    for node in module.nodes:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module.absolute(node)
            found = [name if (name := f"{base}.{alias.name}") in modules else base for alias in node.names]
        else:
            continue
        yield from ((name, node.lineno) for name in dict.fromkeys(found) if name in modules)


def dotted(node: ast.expr | None) -> str | None:
    """The dotted name that an expression is, without type arguments; None for other expressions."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def resolved(name: str, module: str, bound: Mapping[str, str]) -> str:
    """A dotted name of a module as one from the root: an imported or assigned name, or one of the module."""
    first, dot, rest = name.partition(".")
    return f"{bound[first]}{dot}{rest}" if first in bound else f"{module}.{name}"


def _bindings(module: Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            base = module.absolute(node)
            found |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign):
            targets, value = statement.targets, dotted(statement.value)
        elif isinstance(statement, ast.AnnAssign):
            targets, value = [statement.target], dotted(statement.value)
        else:
            continue
        stands_for = "" if value is None else resolved(value, module.name, found)
        found |= {target.id: stands_for for target in targets if isinstance(target, ast.Name)}
    return found


class SourceTree:
    """The project's directory, whose files are read when they are first asked for, and then kept."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._texts: dict[Path, str] = {}

    def text(self, path: Path) -> str:
        """The content of a file. Raises OSError."""
        if path not in self._texts:
            self._texts[path] = path.read_text()
        return self._texts[path]

    @cached_property
    def modules(self) -> dict[str, Module]:
        """The modules of all distributions by name."""
        return {
            name: module
            for source in sorted(self.root.glob(PACKAGES))
            for name, module in load(source, text=self.text).items()
        }

    @cached_property
    def exceptions(self) -> Mapping[str, dict[str, str]]:
        """The table `tool.stoker.checks` of the project's settings: by check, what it excepts with the reason."""
        found: dict[str, dict[str, str]] = self._settings["checks"]
        return found

    @cached_property
    def bounds(self) -> Mapping[str, dict[str, int]]:
        """The table `tool.stoker.bounds` of the project's settings: by check, the bounds of what it counts."""
        found: dict[str, dict[str, int]] = self._settings["bounds"]
        return found

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        return tomllib.loads(self.text(self.root / "pyproject.toml"))["tool"]["stoker"]  # type: ignore[no-any-return]


def show(report: Iterable[str]) -> int:
    """Print the lines of a report and return the exit status: 1 when there are any."""
    lines = list(report)
    for line in lines:
        print(line)
    return 1 if lines else 0
