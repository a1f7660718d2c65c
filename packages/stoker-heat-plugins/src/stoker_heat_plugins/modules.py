"""Import of the modules in the directories of `plugin_dirs`, and what is wrong with them.

A module is imported as `heat.engine.plugins.<n>.<path>`, where n counts the directories, so that equal names in two
directories are two modules. Modules that were written for Python 2 are helped where this is safe: an import that finds
no module is tried beside the importing one, and `unicode`, `basestring`, `long` and `xrange` exist.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from stoker_heat_plugins import dependencies
from stoker_heat_plugins.names import MANUAL
from stoker_heat_plugins.stacks import Stack

PACKAGE = "heat.engine.plugins"
_SKIPPED = frozenset({"test", "tests", "__pycache__"})


class _Loader(SourceFileLoader):
    """Executes a module with the names of Python 2 among its built-in ones."""

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), **_PYTHON_2, "__import__": _import}
        super().exec_module(module)


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Import a module; one that does not exist is looked for beside the importing module, as Python 2 did first."""
    try:
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    except ModuleNotFoundError as error:
        if level or error.name != name.partition(".")[0]:
            raise
        try:
            return builtins.__import__(name, globals, locals, fromlist or (), 1)
        except ImportError:
            raise error from None


_PYTHON_2: Mapping[str, object] = {"unicode": str, "basestring": str, "long": int, "xrange": range, "unichr": chr}


class _Finder(MetaPathFinder):
    """Finds the modules in the directories."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{PACKAGE}."):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, str(spec.loader.path))
        return spec


_FINDER = _Finder()
_NUMBERS: dict[Path, int] = {}


def modules(directories: Sequence[Path], problems: list[str]) -> Iterator[ModuleType]:
    """Import all modules in the directories; those that cannot be imported are added to `problems`."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    _package(PACKAGE, [])
    for directory in directories:
        if directory.is_dir():
            top = f"{PACKAGE}.directory_{_NUMBERS.setdefault(directory, len(_NUMBERS))}"
            _package(top, [str(directory)])
            yield from _below(directory, top, problems)


def _package(name: str, path: list[str]) -> None:
    if name not in sys.modules:
        module = ModuleType(name)
        module.__path__ = path
        sys.modules[name] = module


def _below(directory: Path, package: str, problems: list[str]) -> Iterator[ModuleType]:
    for place in sorted(directory.iterdir()):
        name = f"{package}.{place.stem}"
        if place.name in _SKIPPED or place.name.startswith((".", "test_")):
            continue
        if place.is_dir() and "." not in place.name:
            if not (place / "__init__.py").exists():
                _package(name, [str(place)])
            elif _imported(name, place / "__init__.py", problems) is None:
                continue
            yield from _below(place, name, problems)
        elif place.suffix == ".py" and place.stem not in ("__init__", "setup"):
            module = _imported(name, place, problems)
            if module is not None:
                yield module


def _imported(name: str, place: Path, problems: list[str]) -> ModuleType | None:
    try:
        module = importlib.import_module(name)
    except Exception as error:
        problems.append(f"{place}: {_reason(error)}")
        return None
    problems.extend(f"{place}: {problem}" for problem in unknown_names(place))
    return module


def _reason(error: Exception) -> str:
    missing = error.name if isinstance(error, ImportError) else None
    if missing is not None and missing.split(".")[0] == "heat":
        return (
            f"stoker-heat-plugins does not offer what the module imports: {error}. Move it out of plugin_dirs, or "
            f"write the type for Stoker ({MANUAL} lists what is offered)"
        )
    if isinstance(error, ModuleNotFoundError):
        return f"the module needs {missing!r}: install the package that contains it beside Stoker ({error})"
    return f"the module cannot be imported: {type(error).__name__}: {error}"


def unknown_names(place: Path) -> Iterator[str]:
    """Yield a sentence for each name of the interface that a module uses, and that does not exist."""
    tree = ast.parse(place.read_bytes())
    known: dict[str, Callable[[str], bool]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "heat":
            for name in node.names:
                module = sys.modules.get(f"{node.module}.{name.name}")
                if module is not None:
                    known[name.asname or name.name] = _has(module)
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.asname and name.name.split(".")[0] == "heat" and name.name in sys.modules:
                    known[name.asname] = _has(sys.modules[name.name])
    assigned = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    offered = {*vars(Stack), *_STACK_FIELDS}
    if any(isinstance(node, ast.FunctionDef) and node.name in dependencies.METHODS for node in ast.walk(tree)):
        offered |= set(dir(dependencies.Resources))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        owner = ast.unparse(node.value)
        if owner in known and owner not in assigned and not known[owner](node.attr):
            yield f"line {node.lineno} uses {owner}.{node.attr}, which stoker-heat-plugins does not offer ({MANUAL})"
        elif owner == "self.stack" and node.attr not in offered:
            yield f"line {node.lineno} uses self.stack.{node.attr}, which stoker-heat-plugins does not offer ({MANUAL})"


def _has(module: ModuleType) -> Callable[[str], bool]:
    return lambda name: hasattr(module, name)


_STACK_FIELDS = frozenset(
    {
        "context", "clients", "id", "t", "name", "tenant_id", "action", "status", "created_time", "timeout_mins",
        "disable_rollback", "stack_user_project_id",
    }
)  # fmt: skip
"""The attributes that the constructor of `Stack` sets."""
