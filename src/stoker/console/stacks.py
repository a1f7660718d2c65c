"""The list of stacks, and actions on a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import falcon

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, ApiError, segment, stack_path
from stoker.console.rendering import split_state

_PAGE = 50
STATUSES = ("IN_PROGRESS", "COMPLETE", "FAILED")


@dataclass(frozen=True, slots=True)
class Action:
    """An action on a stack: its `label`, what it does, and whether it destroys something.

    `busy` says for which stacks it is offered: those with an operation in progress, those without, or all (None).
    """

    label: str
    effect: str
    busy: bool | None = False
    danger: bool = False


ACTIONS: Mapping[str, Action] = {
    "check": Action("Check", "Stoker asks the cloud for each resource of the stack, and records which are unhealthy."),
    "suspend": Action("Suspend", "Stoker suspends the servers and other resources of the stack that support it."),
    "resume": Action("Resume", "Stoker resumes the suspended resources of the stack."),
    "cancel_update": Action("Cancel", "Stoker cancels the update and returns to the former template.", busy=True),
    "retry": Action("Retry", "Stoker continues the action that failed."),
    "delete": Action("Delete", "Stoker deletes the stack and all of its resources.", busy=None, danger=True),
}
"""The actions by the name in the URL; except for `delete`, that is the name in the REST API."""


def offered(state: str) -> dict[str, Action]:
    """Return the actions that are possible for a stack in this state."""
    action, status = split_state(state)
    busy = status == "IN_PROGRESS"
    hidden = {"resume"} if action != "SUSPEND" else {"suspend"}
    hidden |= {"retry"} if status != "FAILED" else set()
    hidden |= {"cancel_update"} if action not in ("UPDATE", "CREATE") else set()
    hidden |= set(ACTIONS) if state == "DELETE_COMPLETE" else set()
    return {name: item for name, item in ACTIONS.items() if item.busy in (None, busy) and name not in hidden}


def index(exchange: Exchange) -> None:
    """Show the stacks of the project, page by page."""
    name, status, marker = exchange.query("name").strip(), exchange.query("status"), exchange.query("marker")
    query = {
        "limit": _PAGE,
        "marker": marker or None,
        "name": name or None,
        "status": status if status in STATUSES else None,
        "with_count": "true",
    }
    answer = exchange.api.get("/stacks", query)
    found = answer["stacks"]
    following = ""
    if len(found) == _PAGE:
        kept = {"name": name, "status": status, "marker": found[-1]["id"]}
        following = urlencode({key: value for key, value in kept.items() if value})
    exchange.show(
        "stacks.html",
        stacks=found,
        count=answer.get("count"),
        following=following,
        name=name,
        status=status,
        statuses=STATUSES,
        marker=marker,
    )


def confirm(exchange: Exchange) -> None:
    """Ask whether an action is to be done."""
    _ask(exchange, 200, "")


def act(exchange: Exchange) -> None:
    """Start an action on a stack."""
    name, identifier, action = (exchange.path[key] for key in ("stack_name", "stack_id", "action"))
    _known(action)
    try:
        if action == "delete":
            exchange.api.send("DELETE", stack_path(name, identifier))
        else:
            exchange.api.send("POST", stack_path(name, identifier, "/actions"), {action: None})
    except ApiError as error:
        if error.status == 401:
            raise
        _ask(exchange, error.status, error.message)
        return
    exchange.redirect(f"/stacks/{segment(name)}/{segment(identifier)}")


def _known(action: str) -> Action:
    if action not in ACTIONS:
        raise falcon.HTTPNotFound(description=f"There is no action {action}.")
    return ACTIONS[action]


def _ask(exchange: Exchange, status: int, problem: str) -> None:
    stack = show_stack(exchange)
    action = exchange.path["action"]
    exchange.show("confirm.html", status, stack=stack, name=action, action=_known(action), problem=problem)


def show_stack(exchange: Exchange) -> Answer:
    """Return the stack in the URL, without its outputs."""
    return _shown(exchange, "false")


def show_stack_with_outputs(exchange: Exchange) -> Answer:
    """Return the stack in the URL; its outputs are evaluated for this."""
    return _shown(exchange, "true")


def _shown(exchange: Exchange, resolve_outputs: str) -> Answer:
    path = stack_path(exchange.path["stack_name"], exchange.path["stack_id"])
    stack: Answer = exchange.api.get(path, {"resolve_outputs": resolve_outputs})["stack"]
    return stack
