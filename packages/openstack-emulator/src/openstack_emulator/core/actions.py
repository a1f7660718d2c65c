"""`POST …/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import ActionHandler
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record

Actions = Mapping[str, ActionHandler]


def act(
    actions: Actions,
    records: Records,
    request: Request,
    record: Record,
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
