"""Objects that Stoker has made and that belong to no stack any more: importing them, and deleting them as planned.

They are deleted as the objects of a stack of their own, which imports them without a change of any: so nobody else can
own them meanwhile, and the plan of that stack's deletion marks what loses data.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import falcon

from stoker.authoring.orphan_words import orphan_reason
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, ApiError, segment, stack_path
from stoker.console.generation import shown
from stoker.console.permissions import GENERATE, ORPHANS, REMOVE_ORPHANS

_ORPHANED = "orphaned"
_UNUSED = "unused"
"""The value of parameters that no service shows: the objects are deleted without a use of it."""

_NOTHING: Answer = {
    "resources": [],
    "left_out": [],
    "unread": [],
}
_DESCRIPTION = "Objects without an owner, imported to be deleted with this stack."


def index(exchange: Exchange) -> None:
    """List the objects. Raises ApiError if policy does not allow that."""
    exchange.permissions.require(*ORPHANS)
    _index(exchange)


def change(exchange: Exchange) -> None:
    """Show a template that imports what is marked, or import it to a stack that is to be deleted."""
    do = exchange.form("do")
    if do not in ("import", "remove"):
        raise falcon.HTTPBadRequest(description="Say what to do with the objects.")
    try:
        orphans = _chosen(exchange, exchange.fields().get("id", []))
        generated = _generated(exchange, orphans)
        if do == "import":
            left_alone = _not_in_template(orphans, generated)
            values = shown(exchange, generated) if generated["resources"] else {"generated": None}
            exchange.show("orphans_import.html", left_alone=left_alone, **values)
        else:
            _remove(exchange, orphans, generated)
    except ApiError as error:
        if error.status == 401:
            raise
        _index(exchange, error.status, error.message)


def removal(exchange: Exchange) -> None:
    """Show how far the import is, and then what can be done with the objects."""
    stack = exchange.api.get(_path(exchange), {"resolve_outputs": "false"})["stack"]
    if stack["stack_status"].startswith("DELETE_"):
        exchange.redirect(_path(exchange))
        return
    exchange.show("orphans_removal.html", stack=stack, remove_refusal=exchange.permissions.refusal(*REMOVE_ORPHANS))


def leave(exchange: Exchange) -> None:
    """Delete the stack without its objects, which have no owner again."""
    names = [resource["resource_name"] for resource in exchange.api.get(_path(exchange) + "/resources")["resources"]]
    exchange.api.send("DELETE", _path(exchange), query={"retain": names})
    exchange.redirect("/orphans")


def _remove(exchange: Exchange, orphans: Sequence[Answer], generated: Answer) -> None:
    if not generated["resources"]:
        reasons = "; ".join(f"{orphan['name']}: {orphan['reason']}" for orphan in _not_in_template(orphans, generated))
        raise ApiError(400, f"None of the objects can be imported, and so deleted as planned: {reasons}.")
    template = generated["template"]
    resources = {
        name: {key: value for key, value in body.items() if key != "deletion_policy"}
        for name, body in template["resources"].items()
    }
    environment = dict(generated["environment"])
    unused = dict.fromkeys(generated["parameters_without_value"], _UNUSED)
    body: Answer = {
        "stack_name": f"orphans-{uuid.uuid4().hex[:8]}",
        "template": {**template, "description": _DESCRIPTION, "resources": resources},
        "environment": {**environment, "parameters": {**environment.get("parameters", {}), **unused}},
        "disable_rollback": True,
    }
    stack = exchange.api.send("POST", "/stacks", body)["stack"]
    exchange.redirect(f"/orphans/{segment(body['stack_name'])}/{segment(stack['id'])}")


def _chosen(exchange: Exchange, marked: Sequence[str]) -> list[Answer]:
    """Return what is marked, as it is now. Raises ApiError for nothing, and for objects that have an owner by now."""
    present = {
        orphan["physical_id"]: orphan for orphan in exchange.api.get("/orphans")["orphans"] if _is_orphaned(orphan)
    }
    if not marked:
        raise ApiError(400, "Nothing was done: mark the objects.")
    if others := [identifier for identifier in marked if identifier not in present]:
        raise ApiError(409, f"Not known to be without an owner any more: {', '.join(others)}.")
    return [present[identifier] for identifier in dict.fromkeys(marked)]


def _generated(exchange: Exchange, orphans: Sequence[Answer]) -> Answer:
    """Return a template that imports those whose type can be imported."""
    types = exchange.api.get("/generated_template/resource_types")["resource_types"]
    selected = [orphan for orphan in orphans if orphan["type"] in types]
    if not selected:
        return _NOTHING
    query = {
        "type": sorted({orphan["type"] for orphan in selected}),
        "id": [orphan["physical_id"] for orphan in selected],
    }
    generated: Answer = exchange.api.get("/generated_template", query)["generated_template"]
    return generated


def _not_in_template(orphans: Sequence[Answer], generated: Answer) -> list[Answer]:
    """Return the orphans that are in no template, each with the reason."""
    included = {resource["physical_resource_id"] for resource in generated["resources"]}
    reasons = {left_out["physical_resource_id"]: left_out["reason"] for left_out in generated["left_out"]}
    unread = {name: entry["reason"] for entry in generated["unread"] for name in entry["resource_types"]}
    return [
        {
            **orphan,
            "reason": reasons.get(
                orphan["physical_id"],
                unread.get(orphan["type"], f"objects of the type {orphan['type']} cannot be imported"),
            ),
        }
        for orphan in orphans
        if orphan["physical_id"] not in included
    ]


def _is_orphaned(orphan: Answer) -> bool:
    return bool(orphan["status"] == _ORPHANED)


def _index(exchange: Exchange, status: int = 200, problem: str = "") -> None:
    listed: list[dict[str, Any]] = [
        {**orphan, "reason": orphan_reason(orphan), "is_orphaned": _is_orphaned(orphan)}
        for orphan in exchange.api.get("/orphans")["orphans"]
    ]
    marked = exchange.fields().get("id", []) if exchange.request.method == "POST" else []
    exchange.show(
        "orphans.html",
        status,
        orphans=listed,
        number=sum(orphan["is_orphaned"] for orphan in listed),
        marked=marked,
        problem=problem,
        import_refusal=exchange.permissions.refusal(*GENERATE),
        remove_refusal=exchange.permissions.refusal(*REMOVE_ORPHANS),
    )


def _path(exchange: Exchange) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"])
