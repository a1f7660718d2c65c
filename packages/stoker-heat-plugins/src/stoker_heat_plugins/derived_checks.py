"""What a class derived from that of one of Stoker's own types cannot do, found when it is loaded."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

from stoker_heat_plugins.built_in import BuiltIn
from stoker_heat_plugins.names import MANUAL

_REFUSED = {
    "prepare_for_replace": "Stoker's type prepares its replacement itself",
    "restore_prev_rsrc": "Stoker's type prepares its replacement itself",
    "handle_snapshot": "Stoker's type makes its snapshots itself",
    "check_snapshot_complete": "Stoker's type makes its snapshots itself",
    "handle_restore": "Stoker's type makes its snapshots itself",
    "handle_delete_snapshot": "Stoker's type makes its snapshots itself",
    "check_delete_snapshot_complete": "Stoker's type makes its snapshots itself",
    "physical_resource_name": "Stoker's type uses the recorded name; set the property for the name in handle_create",
    "child_template": "the type has no nested stack",
    "get_live_state": "Stoker's type compares itself with the service",
    "parse_live_resource_data": "Stoker's type compares itself with the service",
}
"""Methods that are not called for a derived class, with the reason."""
_NOT_IN_STOKER = frozenset({"needs_replace_failed", "is_using_neutron"})
"""Methods of the interface's base class that do not do for an own type what they do in Heat."""
_INTERFACE = frozenset({"handle_signal", "handle_metadata_reset"})


def unsupported(plugin: type[BuiltIn]) -> Iterator[str]:
    """Yield a sentence for each method of a plug-in's class that Stoker's own type cannot honour."""
    own = plugin.own_class
    for cls in plugin.__mro__[: plugin.__mro__.index(own)]:
        found = _source(cls)
        if found is None:
            continue
        tree, module = found
        used = {node.attr for node in ast.walk(module) if isinstance(node, ast.Attribute)}
        assigned = {
            node.attr
            for node in ast.walk(module)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for method in tree.body:
            if isinstance(method, ast.FunctionDef):
                yield from _problems(plugin, own, cls, method, used, assigned)


def _problems(
    plugin: type[BuiltIn],
    own: type[BuiltIn],
    cls: type[object],
    method: ast.FunctionDef,
    used: set[str],
    assigned: set[str],
) -> Iterator[str]:
    name, place = method.name, f"{cls.__name__}.{method.name}"
    instead = f"derive from Resource, or write the type for Stoker ({MANUAL})"
    known = hasattr(own, name) or name.startswith("__") or name in _INTERFACE or _is_cancel(name)
    if name in _REFUSED:
        yield f"{place} would not be called: {_REFUSED[name]}. Remove it, or {instead}"
    elif not known and name not in used:
        yield (
            f"{place} would not be called: the module does not call it, and {plugin.kind.type_name} of Stoker has no "
            f"such method. Remove it, or {instead}"
        )
    for node in ast.walk(method):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        lacking = not hasattr(own, node.attr) or node.attr in _NOT_IN_STOKER or node.attr in _REFUSED
        if _is_super(node.value) and lacking and not _in_mixin(plugin, own, node.attr):
            yield f"{place} calls super().{node.attr}, which {plugin.kind.type_name} does not offer; {instead}"
        elif (
            isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and not hasattr(plugin, node.attr)
            and node.attr not in assigned | _INSTANCE
        ):
            yield f"{place} uses self.{node.attr}, which {plugin.kind.type_name} does not offer; {instead}"


_INSTANCE = frozenset({"name", "t", "stack", "context", "properties", "attributes", "record"})
"""The attributes that the constructor of `Resource` sets."""


def _is_cancel(name: str) -> bool:
    return name.startswith("handle_") and name.endswith("_cancel")


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _in_mixin(plugin: type[BuiltIn], own: type[BuiltIn], name: str) -> bool:
    """Return whether a class between the plug-in's and Stoker's has the method."""
    between = plugin.__mro__[1 : plugin.__mro__.index(own)]
    return any(name in vars(cls) for cls in between)


def _source(cls: type[object]) -> tuple[ast.ClassDef, ast.Module] | None:
    """Return the source of a class and of its module; None if there is none."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
        module = ast.parse(inspect.getsource(inspect.getmodule(cls) or cls))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return (tree, module) if isinstance(tree, ast.ClassDef) else None
