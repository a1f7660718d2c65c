"""What all services of the emulated cloud have is defined in one module of its core, and not again in a service.

- The body of an error (`error_body` of a service) is made by `core/error_bodies.py` or `core/errors.py`.
- A version document (`"status": "CURRENT"`) is made by `core/versions.py`.
- JSON patches are read and applied by `core/json_patch.py`: no other module imports the library, or lists the
  operations.

Exit status 1 when there is an error.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping

from tools.checks.source_tree import Module, SourceTree, dotted, resolved, show

PACKAGE = "openstack_emulator"
CORE = f"{PACKAGE}.core"
BODIES = (f"{CORE}.error_bodies.", f"{CORE}.errors.")
PATCHES = f"{CORE}.json_patch"
LIBRARIES = frozenset({"jsonpatch", "jsonpointer"})
OPERATIONS = frozenset({"add", "remove", "replace"})
STATUSES = frozenset({"CURRENT", "SUPPORTED", "DEPRECATED", "EXPERIMENTAL"})


def check(modules: Mapping[str, Module]) -> list[str]:
    """The lines of the report; empty when all is well."""
    ours = [module for name, module in modules.items() if name.partition(".")[0] == PACKAGE]
    return sorted(line for module in ours for node in module.nodes for line in _flaws(module, node))


def _flaws(module: Module, node: ast.AST) -> Iterator[str]:
    where = f"{module.name}:{getattr(node, 'lineno', 0)}"
    if isinstance(node, ast.keyword) and node.arg in ("error_body", "token_error_body"):
        made_by = dotted(node.value)
        if made_by is None or not resolved(made_by, module.name, module.bindings).startswith(BODIES):
            yield f"{where} defines the body of an error: define it in {CORE}.error_bodies"
    if isinstance(node, ast.Dict) and not module.name.startswith(f"{CORE}.") and _is_version(node):
        yield f"{where} makes a version document: use {CORE}.versions"
    if module.name != PATCHES and _is_patch(node):
        yield f"{where} reads JSON patches: use {PATCHES}"


def _is_version(node: ast.Dict) -> bool:
    pairs = zip(node.keys, node.values, strict=True)
    members = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
    status = members.get("status")
    return "links" in members and isinstance(status, ast.Constant) and status.value in STATUSES


def _is_patch(node: ast.AST) -> bool:
    """Whether a node imports the library, or lists all operations."""
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in LIBRARIES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in LIBRARIES
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return {one.value for one in node.elts if isinstance(one, ast.Constant)} >= OPERATIONS
    return False


def report(tree: SourceTree) -> list[str]:
    """The lines of the report on the emulated cloud."""
    return check(tree.modules)


if __name__ == "__main__":
    sys.exit(show(report(SourceTree())))
