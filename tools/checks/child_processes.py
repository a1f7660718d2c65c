"""Child processes that run Python import nothing from the current directory.

In what is installed (`packages`, `contrib`), only `stoker_foundation.interpreter` knows the interpreter: every other
module takes command lines and environments from it. Scripts of `contrib` and `deploy` run `python3` with the option
`-I`. Exit status 1 when something else is found.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.checks.source_tree import SourceTree, show

HELPER = "packages/stoker-foundation/src/stoker_foundation/interpreter.py"
_PYTHON_FOLDERS = ("packages", "contrib")
_SCRIPT_FOLDERS = ("contrib", "deploy")
_SCRIPTS = {".sh", ".yml", ".yaml", ".j2", ".service", ".js", ""}
_SCRIPT_LANGUAGE = re.compile(r"(?<!FROM )\bpython3?(?:\.\d+)?\"?\}?\"? +-(?!I\b)")
_OTHER_WAYS = {"multiprocessing", "runpy", "concurrent.futures.ProcessPoolExecutor"}
_SIGNS = re.compile(r"executable|python|multiprocessing|runpy|ProcessPoolExecutor")
"""What every module that runs Python contains: all others need not be parsed."""

_INTERPRETER = re.compile(r"(.*/)?python[\d.]*")


def report(tree: SourceTree) -> list[str]:
    """The lines of the report; empty when all is well."""
    found = []
    for path in _files(tree.root, _PYTHON_FOLDERS, {".py"}):
        name = str(path.relative_to(tree.root))
        if name != HELPER:
            found += [f"{name}:{line}: {why}" for line, why in problems(tree.text(path))]
    for path in _files(tree.root, _SCRIPT_FOLDERS, _SCRIPTS):
        lines = enumerate(tree.text(path).splitlines(), 1)
        found += [
            f"{path.relative_to(tree.root)}:{number}: Python runs without -I, so code of the current directory may run"
            for number, line in lines
            if _SCRIPT_LANGUAGE.search(line)
        ]
    return sorted(found)


def _files(root: Path, folders: tuple[str, ...], suffixes: set[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root).parts
            if path.suffix in suffixes and path.is_file() and "build" not in inside and "node_modules" not in inside:
                yield path


def problems(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a module that run Python otherwise, each with the reason."""
    if not _SIGNS.search(source):
        return
    used = set()
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Name):
            used.add(node.id)
        if _names_interpreter(node):
            yield line, "use python_command of stoker_foundation.interpreter instead of sys.executable"
        for name in _imported(node):
            if name in _OTHER_WAYS:
                yield line, f"{name} starts processes that stoker_foundation.interpreter does not know"
        if isinstance(node, ast.List | ast.Tuple) and node.elts and _is_interpreter(node.elts[0]):
            yield line, "use python_command of stoker_foundation.interpreter instead of a name of Python's program"
    if "python_command" in used and "python_environment" not in used:
        yield 1, "python_command needs the environment of python_environment"


def _names_interpreter(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "sys" and any(alias.name == "executable" for alias in node.names)
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "executable"
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
    )


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _is_interpreter(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_INTERPRETER.fullmatch(node.value))


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
