"""Scheduler hints that name the stack an object belongs to (option stack_scheduler_hints)."""

from __future__ import annotations

from stoker.plugins.resource import Call


def scheduler_hints(call: Call) -> dict[str, object]:
    """Return the template's hints and, if the operator has enabled them, those of the stack.

    `heat_path_in_stack` lists the root stack's name, then `resource,stack` for each nested stack down to this one.
    """
    given = dict(call.properties.get("scheduler_hints") or {})
    stack = call.stack
    if not stack.options.get("stack_scheduler_hints"):
        return given
    return given | {
        "heat_root_stack_id": stack.root_id,
        "heat_stack_id": stack.id,
        "heat_stack_name": stack.name,
        "heat_path_in_stack": [",".join(part) for part in _path(call)],
        "heat_resource_name": call.resource.name,
        "heat_resource_uuid": call.resource.uuid,
    }


def _path(call: Call) -> list[tuple[str, ...]]:
    """Derive the path from names: a nested stack is named `<parent>-<resource>-<suffix>`."""
    names, stack_name = [], call.stack.name
    for resource in reversed(call.stack.path):
        names.append((resource, stack_name))
        stack_name = stack_name.rpartition(f"-{resource}-")[0] or stack_name
    return [(stack_name,), *reversed(names)]
