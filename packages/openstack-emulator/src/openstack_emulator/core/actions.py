"""`POST …/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check

S = TypeVar("S")
R = TypeVar("R")
ACCEPTED = 202


def act(
    actions: Mapping[str, Callable[[S, Request, R, object], Response]],
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


def arguments_of(
    name: str,
    arguments: Any,
    checks: Mapping[str, Check],
    required: Collection[str] = (),
    strict: bool = True,
) -> dict[str, Any]:
    """The known arguments of an action, checked; others are refused if `strict`. Raises ApiError 400."""
    check_fields(arguments, checks, required, name, strict)
    return {key: arguments[key] for key in checks if key in arguments}


def argument_of(name: str, arguments: Any, key: str, check: Check, strict: bool = True) -> Any:
    """An argument that an action must have, checked. Raises ApiError 400."""
    return arguments_of(name, arguments, {key: check}, (key,), strict)[key]


def status_among(name: str, statuses: Collection[str], strict: bool = True) -> Callable[[object], str]:
    """What reads the new status out of the arguments of an action. It raises ApiError 400 for one that is none."""
    check = fields.one_of(*statuses)
    return lambda arguments: str(argument_of(name, arguments, "status", check, strict))


def for_administrators(change: Callable[[S, R], None]) -> Callable[[S, Request, R, object], Response]:
    """The action of administrators that makes a change, whatever its arguments are."""

    def serve(records: S, request: Request, record: R, arguments: object) -> Response:
        request.context.require()
        change(records, record)
        return Response(status=ACCEPTED)

    return serve


def reset_status(
    status: Callable[[object], str], change: Callable[[S, R, str], None]
) -> Callable[[S, Request, R, object], Response]:
    """The action of administrators that sets any status; `status` reads it out of the arguments, or raises ApiError."""

    def serve(records: S, request: Request, record: R, arguments: object) -> Response:
        request.context.require()
        change(records, record, status(arguments))
        return Response(status=ACCEPTED)

    return serve
