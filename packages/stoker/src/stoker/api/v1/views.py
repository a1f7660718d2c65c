"""Convert the engine's views to the format of Heat's API.

Pure functions from a view to JSON. `stoker.operations` describes the engine's views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from stoker.api.v1.links import Links, event_url, link, resource_url
from stoker.template.template import NO_DESCRIPTION
from stoker_foundation.clock import isoformat, isoformat_milli

View: TypeAlias = Mapping[str, Any]

_NO_OUTPUT_DESCRIPTION = "No description given"


def time_text(seconds: float | None) -> str | None:
    """Return a time of a view in the format of responses; None for None."""
    return None if seconds is None else isoformat(seconds)


def state(view: View) -> str:
    """Return `<ACTION>_<STATUS>`."""
    return f"{view['action']}_{view['status']}"


def stack_links(view: View, links: Links) -> list[dict[str, str]]:
    """Return the links of a stack."""
    return [link(links.stack(view["project_id"], view["name"], view["id"]))]


def stack_created(view: View, links: Links) -> dict[str, Any]:
    """Return the response to the creation of a stack."""
    return {"id": view["id"], "links": stack_links(view, links)}


def stack_summary(view: View, links: Links) -> dict[str, object]:
    """Return a stack for a list."""
    return {
        "id": view["id"],
        "stack_name": view["name"],
        "description": "",
        "stack_status": state(view),
        "stack_status_reason": view["status_reason"],
        **_stack_lifetime(view),
        "links": stack_links(view, links),
    }


def stack(view: View, links: Links) -> dict[str, Any]:
    """Return a stack in full; without `outputs` if they were not resolved."""
    return {
        **stack_preview(view, links),
        "stack_status": state(view),
        "stack_status_reason": view["status_reason"],
        **_failure(view),
        **_last_drift_check(view),
    }


def stack_preview(view: View, links: Links) -> dict[str, object]:
    """Return a stack that does not exist yet, without its state."""
    body = {
        "id": view["id"],
        "stack_name": view["name"],
        "description": view["description"] or NO_DESCRIPTION,
        "template_description": view["template_description"] or NO_DESCRIPTION,
        **_stack_lifetime(view),
        "disable_rollback": view["disable_rollback"],
        "timeout_mins": view["timeout_mins"],
        "parameters": view["parameters"],
        "capabilities": view["capabilities"],
        "notification_topics": view["notification_topics"],
        "links": stack_links(view, links),
    }
    if view.get("outputs") is not None:
        body["outputs"] = [output(item) for item in view["outputs"]]
    return body


def output(view: View) -> dict[str, Any]:
    """Return an output; if its condition is false, without a value."""
    body = {
        **_selected(view, ("output_key", "output_value")),
        "description": view["description"] or _NO_OUTPUT_DESCRIPTION,
    }
    if view.get("output_error") is not None:
        body["output_error"] = view["output_error"]
    return body


def validated(view: View) -> dict[str, object]:
    """Return the parameters of a validated template."""
    body = {**view, "Description": view["Description"] or NO_DESCRIPTION}
    if "NestedParameters" in view:
        body["NestedParameters"] = {name: validated(below) for name, below in view["NestedParameters"].items()}
    return body


def _stack_lifetime(view: View) -> dict[str, object]:
    return {
        "creation_time": time_text(view["created_at"]),
        "updated_time": time_text(view["updated_at"]),
        "deletion_time": time_text(view["deleted_at"]),
        "stack_owner": view["user_name"],
        "parent": view["parent_id"],
        "stack_user_project_id": view["stack_user_project_id"],
        "tags": view["tags"],
        **lock(view),
    }


def lock(view: View) -> dict[str, object]:
    """Return the lock of a stack as a part of its data; nothing for a stack without one."""
    locked = view.get("locked")
    if locked is None:
        return {}
    since = time_text(locked["since"])
    return {"locked": {**_selected(locked, ("reason", "user_id", "user_name")), "since": since}}


_RESOURCE_DETAIL = ("attributes", "description")
_RESOURCE_RAW_DETAIL = (*_RESOURCE_DETAIL, "metadata", "properties")


@dataclass(frozen=True, slots=True)
class StackLinks:
    """The position of the resources of one stack, computed once for all of them. `holder` is the resource of the nested
    stack; `link` leads to the stack.
    """

    links: Links
    project_id: str
    stack: str
    holder: str | None
    link: Mapping[str, str]

    @classmethod
    def of(cls, view: View, links: Links) -> StackLinks:
        """Return the position in a view, which is that of a position or of a resource with its position."""
        stack = links.stack(view["project_id"], view["stack_name"], view["stack_id"])
        return cls(links, view["project_id"], stack, view["parent_resource"], link(stack, "stack"))


def resource_in_detail(view: View, place: StackLinks) -> dict[str, object]:
    """Return a resource in full."""
    return {**resource(view, place), **_selected(view, _RESOURCE_DETAIL)}


def resource(view: View, place: StackLinks) -> dict[str, Any]:
    """Return a resource for a list."""
    name, created_at, updated_at = view["name"], view["created_at"], view["updated_at"]
    links: list[Mapping[str, str]] = [{"href": resource_url(place.stack, name), "rel": "self"}, place.link]
    if view["nested_id"]:
        nested = place.links.stack(place.project_id, view["nested_name"], view["nested_id"])
        links.append(link(nested, "nested"))
    created = time_text(created_at)
    body: dict[str, Any] = {  # complete at once: a list makes a thousand of them
        "resource_name": name,
        "logical_resource_id": name,
        "resource_type": view["type"],
        "resource_status": f"{view['action']}_{view['status']}",
        "resource_status_reason": view["status_reason"],
        "physical_resource_id": view["physical_id"] or "",
        "creation_time": created,
        "updated_time": created if updated_at is None or updated_at == created_at else time_text(updated_at),
        "required_by": view["required_by"],
        "links": links,
    }
    if place.holder:
        body["parent_resource"] = place.holder
    if view.get("failure"):
        body |= _failure(view)
    return body


def found_resource(view: View, links: Links) -> dict[str, object]:
    """Return a resource that was found, with its path from the root of its tree of stacks."""
    project_id = view["project_id"]
    root = links.stack(project_id, view["stack_name"], view["stack_id"])
    nested = links.stack(project_id, view["nested_stack_name"], view["nested_stack_id"])
    return {
        "id": view["id"],
        "path": view["path"],
        "resource_name": view["name"],
        "resource_type": view["type"],
        "resource_status": state(view),
        "physical_resource_id": view["physical_id"] or "",
        "owns": view["owns"],
        "stack_name": view["stack_name"],
        "stack_id": view["stack_id"],
        "project": project_id,
        "links": [link(resource_url(nested, view["name"])), link(root, "stack")],
    }


def drift_detection(view: View) -> dict[str, Any]:
    """Return how far a detection of drift is, or its result."""
    known = {"resources": None, "compared": 0, "differing": [], **(view.get("progress") or {})}
    return {**_selected(view, ("id", "status", "reason", "drift")), **known, "time": isoformat(view["time"])}


def drift_watch(view: View) -> dict[str, object]:
    """Return what is done about drift, and the last look; ages are whole seconds."""
    age, time = view["age"], view["time"]
    moment = {"time": isoformat(time) if time is not None else None, "age": round(age) if age is not None else None}
    return {**view, **moment}


def _last_drift_check(view: View) -> dict[str, object]:
    """Return the key with the drift at the last look; nothing without one."""
    look = view.get("last_look")
    return {"drift": {"status": look["status"], "time": isoformat(look["time"])}} if look else {}


def _failure(view: View) -> dict[str, object]:
    """Return the key of the failed resource's failure; nothing if no resource has failed, or only a reason is known."""
    failure = view.get("failure")
    return {"failure": _selected(failure, ("kind", "path", "message"))} if failure and failure["path"] else {}


def resource_raw(view: View | Sequence[Any]) -> dict[str, object] | list[object]:
    """Return a resource of a preview; a list for a nested stack."""
    if not isinstance(view, Mapping):
        return [resource_raw(item) for item in view]
    project_id, stack_name, stack_id = view["project_id"], view["stack_name"], view["stack_id"]
    body = {
        **_resource_common(view, view["parent_resource"]),
        "resource_action": view["action"],
        "resource_status": view["status"],
        "resource_identity": identity(project_id, stack_name, stack_id, f"/resources/{view['name']}"),
        "stack_identity": identity(project_id, stack_name, stack_id),
        "stack_name": stack_name,
        **_selected(view, _RESOURCE_RAW_DETAIL),
    }
    if view["nested_id"]:
        body["nested_stack_id"] = identity(project_id, view["nested_name"], view["nested_id"])
    return body


def _resource_common(view: View, holder: str | None) -> dict[str, Any]:
    created_at, updated_at = view["created_at"], view["updated_at"]
    created = time_text(created_at)
    body: dict[str, Any] = {
        "resource_name": view["name"],
        "resource_type": view["type"],
        "resource_status_reason": view["status_reason"],
        "physical_resource_id": view["physical_id"] or "",
        "creation_time": created,
        "updated_time": created if updated_at is None or updated_at == created_at else time_text(updated_at),
        "required_by": view["required_by"],
    }
    if holder:
        body["parent_resource"] = holder
    return body


def identity(project_id: str, stack_name: str, stack_id: str, path: str = "") -> dict[str, str]:
    """Return the identity of a stack, or with `path` of one of its resources."""
    return {"tenant": project_id, "stack_name": stack_name, "stack_id": stack_id, "path": path}


def resource_changes(changes: View) -> dict[str, object]:
    """Return the resources that an update would affect, by the effect."""
    kinds = ("unchanged", "updated", "replaced", "added", "deleted")
    return {kind: [resource_raw(view) for view in changes[kind]] for kind in kinds}


def event_summary(view: View, links: Links, *, with_root: bool = False) -> dict[str, object]:
    """Return an event for a list; `with_root` adds a link to the root stack."""
    project_id, name = view["project_id"], view["resource_name"]
    stack = links.stack(project_id, view["stack_name"], view["stack_id"])
    resource = resource_url(stack, name)
    body = {
        "id": view["id"],
        "event_time": time_text(view["time"]),
        "timestamp": isoformat_milli(view["time"]),
        "resource_name": name,
        "logical_resource_id": name,
        "physical_resource_id": view["physical_id"],
        "resource_status": state(view),
        "resource_status_reason": view["status_reason"],
        "links": [
            link(event_url(resource, view["id"])),
            link(resource, "resource"),
            link(stack, "stack"),
        ],
    }
    within, itself = view.get("within"), view["physical_id"] == view["stack_id"]
    if within is not None:
        body["path"] = [*within] if itself else [*within, name]
        if (cause := view.get("cause")) is not None:
            body["cause"] = [*within, *cause]
    if (hook := view.get("hook")) is not None:
        body["hook"] = {"name": hook, "held": view["hook_held"]}
    if (code := view.get("reason_code")) is not None:
        body["reason_code"] = code
    if with_root and view["root_stack_id"]:
        root = links.stack(project_id, view["root_stack_name"], view["root_stack_id"])
        body["links"].append(link(root, "root_stack"))
    return body


def event(view: View, links: Links) -> dict[str, object]:
    """Return an event in full."""
    return {
        **event_summary(view, links),
        "resource_type": view["resource_type"],
        "resource_properties": view["resource_properties"],
    }


def snapshot(view: View) -> dict[str, Any]:
    """Return a snapshot of a stack."""
    keys = ("id", "name", "action", "status", "status_reason", "data")
    return {**_selected(view, keys), "creation_time": time_text(view["created_at"])}


def software_config(view: View) -> dict[str, object]:
    """Return a software config in full."""
    keys = ("id", "name", "group", "config", "inputs", "outputs", "options")
    return {**_selected(view, keys), "creation_time": time_text(view["created_at"])}


def software_config_summary(view: View, *, with_project: bool = False) -> dict[str, object]:
    """Return a software config for a list; `with_project` is for administrators."""
    body = {**_selected(view, ("id", "name", "group")), "creation_time": time_text(view["created_at"])}
    return {**body, "project": view["project_id"]} if with_project else body


def software_deployment(view: View) -> dict[str, object]:
    """Return a software deployment."""
    keys = (
        "id", "config_id", "server_id", "input_values", "output_values", "action", "status", "status_reason",
    )  # fmt: skip
    body = {**_selected(view, keys), "creation_time": time_text(view["created_at"])}
    if view["updated_at"] is not None:
        body["updated_time"] = time_text(view["updated_at"])
    return body


def service(view: View) -> dict[str, Any]:
    """Return an engine process."""
    keys = ("id", "host", "hostname", "binary", "topic", "engine_id", "status", "report_interval")
    return {
        **_selected(view, keys),
        "created_at": time_text(view["created_at"]),
        "updated_at": time_text(view["updated_at"]),
        "deleted_at": time_text(view["deleted_at"]),
    }


def _selected(view: View, keys: tuple[str, ...]) -> dict[str, object]:
    return {key: view[key] for key in keys if key in view}
