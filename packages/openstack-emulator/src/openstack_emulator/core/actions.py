"""`POST …/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from openstack_emulator.core.component import ActionHandler
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response

Actions = Mapping[str, ActionHandler]
S = TypeVar("S")
R = TypeVar("R")


def act(
    actions: Mapping[str, Callable[[S, Request, R, Any], Response]],
    records: S,
    request: Request,
    record: R,
    unknown: str = "There is no such action: {name}",
) -> Response:
    """Do what the body names.

    unknown: the message of the ApiError 400 for an unknown action.
    """
    body = request.json
    if not isinstance(body, dict) or len(body) != 1:
        raise bad_request("The body of an action must be an object with the name of the action as its only key.")
    [(name, arguments)] = body.items()
    action = actions.get(name)
    if action is None:
        raise bad_request(unknown.format(name=name))
    return action(records, request, record, arguments)
