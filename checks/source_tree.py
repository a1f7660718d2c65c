"""The modules of a package, read without importing them: what each imports, and the classes it defines."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"


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


def load(source: Path = SOURCE, package: str = "stoker") -> dict[str, Module]:
    """The modules of a package by name. `source` is the directory that has the package."""
    modules = {}
    for path in sorted((source / package).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = Module(name, ast.parse(path.read_text(), str(path)), is_package)
    return modules


def imports(module: Module, modules: Mapping[str, Module]) -> Iterator[tuple[str, int]]:
    """The modules of the package that a module imports, with line numbers.

    All import statements count: those of functions and those for type checkers too.
    """
    for node in ast.walk(module.tree):
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


def bindings(module: Module) -> dict[str, str]:
    """What the names that a module imports or assigns stand for, as dotted names; empty for what no name stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(module.tree):
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


def settings(project: Path = ROOT / "pyproject.toml") -> dict[str, dict[str, str]]:
    """The table `tool.stoker.checks` of the project's settings: exceptions to the checks, with reasons."""
    found: dict[str, dict[str, str]] = tomllib.loads(project.read_text())["tool"]["stoker"]["checks"]
    return found
