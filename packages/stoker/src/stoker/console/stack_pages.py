"""The pages of one stack."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import falcon

from stoker.console.actions import RESOURCE, RESOURCE_ACTIONS, SNAPSHOT, STACK, can_update, offered
from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, segment, stack_path
from stoker.console.permissions import EXPORT, UPDATE
from stoker.console.rendering import as_yaml, split_state
from stoker.console.stacks import DELETED, STATUSES, ancestors, show_stack, show_stack_with_outputs
from stoker.console.timeline import latest_spans, recorded_events
from stoker.console.tree import linked, tree

DEPTH = 20
"""Levels of nested stacks that are requested; more than the service allows."""

_EVENTS = 100
_OPERATIONS = 50
_EVENT_ACTIONS = (
    "CREATE",
    "UPDATE",
    "DELETE",
    "CHECK",
    "SUSPEND",
    "RESUME",
    "SNAPSHOT",
    "RESTORE",
    "ROLLBACK",
    "SIGNAL",
    "MOVE",
    "LOCK",
    "UNLOCK",
)
_TABS = (
    ("resources", "Resources", ""),
    ("graph", "Graph", "/graph"),
    ("timeline", "Timeline", "/timeline"),
    ("details", "Outputs and parameters", "/details"),
    ("drift", "Drift", "/drift"),
    ("control", "Change control", "/control"),
    ("protection", "Protection", "/protection"),
    ("events", "Events", "/events"),
    ("snapshots", "Snapshots", "/snapshots"),
    ("definition", "Template and files", "/definition"),
)
"""The pages of a stack: name, label and the end of the path."""

_OF_PRESENT_STACKS = ("graph", "drift", "control", "protection", "snapshots")


def resources(exchange: Exchange) -> None:
    """Show the resources of a stack as a tree."""
    events = recorded_events(exchange, DEPTH)
    rows = tree(below(exchange, "/resources", nested_depth=DEPTH)["resources"], exchange.path["stack_id"])
    show(
        exchange,
        "resources.html",
        "resources",
        rows=rows,
        spans=latest_spans(events),
        marker=events[0]["id"] if events else "",
    )


def stream(exchange: Exchange) -> None:
    """Send the events of a stack as they are recorded."""
    marker = exchange.query("marker") or None
    exchange.send_stream(exchange.api.stream(_path(exchange, "/events"), {"nested_depth": DEPTH, "marker": marker}))


def events(exchange: Exchange) -> None:
    """Show the events of a stack, newest first; only those that the fields of the filter name."""
    marker = exchange.query("marker")
    chosen = {name: exchange.query(name).strip() for name in ("name", "status", "action", "operation")}
    rows = below(
        exchange,
        "/events",
        nested_depth=DEPTH,
        limit=_EVENTS,
        sort_dir="desc",
        marker=marker or None,
        resource_name=chosen["name"] or None,
        resource_status=chosen["status"] or None,
        resource_action=chosen["action"] or None,
        operation_id=chosen["operation"] or None,
    )["events"]
    filters = {name: value for name, value in chosen.items() if value}
    following = urlencode({**filters, "marker": rows[-1]["id"]}) if len(rows) == _EVENTS else ""
    show(
        exchange,
        "events.html",
        "events",
        events=rows,
        following=following,
        newest=urlencode(filters),
        marker=marker,
        chosen=chosen,
        statuses=STATUSES,
        event_actions=_EVENT_ACTIONS,
        operations=latest_operations(exchange),
    )


def snapshots(exchange: Exchange) -> None:
    """Show the snapshots of a stack, newest first."""
    stack = show_stack(exchange)
    rows = [] if stack["stack_status"] == DELETED else below(exchange, "/snapshots")["snapshots"]
    refusals = SNAPSHOT.refusals(exchange)
    show(exchange, "snapshots.html", "snapshots", stack=stack, snapshots=rows[::-1], snapshot_refusals=refusals)


def details(exchange: Exchange) -> None:
    """Show the outputs, the parameters and the history of a stack."""
    operations = below(exchange, "/operations", limit=20)["operations"]
    show(exchange, "details.html", "details", stack=show_stack_with_outputs(exchange), operations=operations)


def definition(exchange: Exchange) -> None:
    """Show the template, the environment and the files of a stack."""
    documents = [("Template", "template", as_yaml(below(exchange, "/template")))]
    documents.append(("Environment", "environment", as_yaml(below(exchange, "/environment"))))
    documents += [
        (name, f"files?{urlencode({'name': name})}", text) for name, text in sorted(below(exchange, "/files").items())
    ]
    refusal = exchange.permissions.refusal(*EXPORT)
    show(exchange, "definition.html", "definition", documents=documents, export_refusal=refusal)


def download(exchange: Exchange) -> None:
    """Send a part of the stack's definition, or all data for adopting it, as a file."""
    part, stack_name = exchange.path["part"], exchange.path["stack_name"]
    if part in ("template", "environment"):
        name = f"{stack_name}.yaml" if part == "template" else f"{stack_name}-{part}.yaml"
        exchange.send_file(name, as_yaml(below(exchange, f"/{part}")))
    elif part == "export":
        exchange.send_file(f"{stack_name}.json", json.dumps(below(exchange, "/export"), indent=2, ensure_ascii=False))
    else:
        files, name = below(exchange, "/files"), exchange.query("name")
        if part != "files" or name not in files:
            raise falcon.HTTPNotFound(description=f"The stack {stack_name} has no such file.")
        exchange.send_file(name.rstrip("/").rpartition("/")[2] or "file", files[name])


def resource(exchange: Exchange) -> None:
    """Show one resource with its attributes and events."""
    name = exchange.path["resource_name"]
    described = exchange.api.get(_path(exchange, f"/resources/{segment(name)}"))["resource"]
    events = exchange.api.get(
        _path(exchange, "/events"), {"resource_name": name, "limit": _EVENTS, "sort_dir": "desc"}
    )["events"]  # fmt: skip
    actions = {
        key: action
        for key, action in RESOURCE_ACTIONS.items()
        if key != "healthy" or described["resource_status"] == "CHECK_FAILED"
    }
    nested = linked(described, "nested")
    show(
        exchange,
        "resource.html",
        "resources",
        resource=described,
        events=events,
        resource_actions=actions,
        resource_refusals=RESOURCE.refusals(exchange),
        nested_stack=nested,
    )


def show(
    exchange: Exchange, template: str, tab: str, status: int = 200, *, stack: Answer | None = None, **values: object
) -> None:
    """Show a page of the stack in the URL, with what all of its pages have; `stack` if it is known already."""
    stack = stack or show_stack(exchange)
    state = stack["stack_status"]
    common: dict[str, object] = {
        "stack": stack,
        "tab": tab,
        "ancestors": ancestors(exchange, stack),
        "tabs": [item for item in _TABS if state != DELETED or item[0] not in _OF_PRESENT_STACKS],
        "actions": offered(stack),
        "can_update": can_update(state) and not stack.get("locked"),
        "refusals": STACK.refusals(exchange),
        "update_refusal": exchange.permissions.refusal(*UPDATE),
        "busy": split_state(state)[1] == "IN_PROGRESS",
    }
    exchange.show(template, status, **common, **values)


def below(exchange: Exchange, tail: str, **query: object) -> Answer:
    """Return what the API has below the stack in the URL."""
    answer: Answer = exchange.api.get(_path(exchange, tail), query)
    return answer


def latest_operations(exchange: Exchange) -> list[Answer]:
    """Return the latest operations of the stack in the URL, to choose from, newest first."""
    operations: list[Answer] = below(exchange, "/operations", limit=_OPERATIONS)["operations"]
    return operations


def _path(exchange: Exchange, tail: str) -> str:
    return stack_path(exchange.path["stack_name"], exchange.path["stack_id"], tail)
