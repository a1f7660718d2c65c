"""`POST /shares/{share_id}/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.actions import (
    ACCEPTED,
    act,
    argument_of,
    arguments_of,
    for_administrators,
    reset_status,
    status_among,
)
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.share.records import Share
from openstack_emulator.share.routes.bodies import METADATA, Actions
from openstack_emulator.share.routes.shares import own
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.inputs import NewRule
from openstack_emulator.share.rules.shares import STATUSES, TASK_STATES
from openstack_emulator.share.views import SINCE_SOFT_DELETION, rule_view

SINCE_METADATA = (2, 45)
"""The first microversion in which access rules have metadata, and are listed at a path of their own."""
SINCE_REVERT = (2, 27)
SINCE_TASK_STATE = (2, 22)
SINCE_FORCE = (2, 64)
"""The first microversion in which administrators can extend a share without the scheduler."""


def allow(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    checks = {
        "access_type": fields.text(1),
        "access_to": fields.text(1),
        "access_level": fields.nullable(fields.text()),
    }
    if request.version >= SINCE_METADATA:
        checks |= {"metadata": fields.nullable(METADATA)}
    body = arguments_of("allow_access", arguments, checks, ("access_type", "access_to"), strict=False)
    new = NewRule(
        access_type=body["access_type"],
        access_to=body["access_to"],
        access_level=body.get("access_level"),
        metadata=body.get("metadata") or {},
    )
    rule = systems.access_rules.allow(share, new, request.version)
    return Response({"access": {**rule_view(request, rule), "share_id": share.id}})


def deny(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    rule_id = argument_of("deny_access", arguments, "access_id", fields.text(1), strict=False)
    systems.access_rules.deny(share, rule_id)
    return Response(status=ACCEPTED)


def list_access(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    if request.version >= SINCE_METADATA:
        raise bad_request("There is no such action: access_list")
    return Response({"access_list": [rule_view(request, rule) for rule in systems.access_rules.of(share)]})


def extend(systems: SharedFileSystems, request: Request, share: Share, arguments: Any) -> Response:
    if request.version >= SINCE_FORCE and isinstance(arguments, dict) and as_boolean(arguments.get("force")):
        request.context.require()
    systems.shares.extend(share, int(argument_of("extend", arguments, "new_size", fields.integer(1), strict=False)))
    return Response(status=ACCEPTED)


def shrink(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    systems.shares.shrink(share, int(argument_of("shrink", arguments, "new_size", fields.integer(1), strict=False)))
    return Response(status=ACCEPTED)


def revert(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    if request.version < SINCE_REVERT:
        raise bad_request("There is no such action: revert")
    systems.shares.revert(share, argument_of("revert", arguments, "snapshot_id", fields.text(1), strict=False))
    return Response(status=ACCEPTED)


def reset_task(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    request.context.require()
    check = fields.nullable(fields.one_of(*TASK_STATES))
    share.task_state = argument_of("reset_task_state", arguments, "task_state", check, strict=False)
    systems.shares.save(share)
    return Response(status=ACCEPTED)


def discard(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    systems.shares.discard(share)
    return Response(status=ACCEPTED)


def restore(systems: SharedFileSystems, request: Request, share: Share, arguments: object) -> Response:
    systems.shares.restore(share)
    return Response(status=ACCEPTED)


INSTANCE_ACTIONS: Actions[Share] = {
    "reset_status": reset_status(
        status_among("reset_status", STATUSES, strict=False),
        lambda systems, share, status: systems.shares.set_status(share, status),
    ),
    "force_delete": for_administrators(lambda systems, share: systems.shares.delete(share, force=True)),
}
"""The actions that an instance of a share has too."""
ACTIONS: Actions[Share] = {
    **INSTANCE_ACTIONS,
    "allow_access": allow,
    "deny_access": deny,
    "access_list": list_access,
    "extend": extend,
    "shrink": shrink,
    "revert": revert,
    "reset_task_state": reset_task,
    "unmanage": for_administrators(lambda systems, share: systems.unmanaged.unmanage(share)),
}
BIN_ACTIONS: Actions[Share] = {**ACTIONS, "soft_delete": discard, "restore": restore}
"""Actions since microversion 2.69, when shares can be in the recycle bin."""
ONLY_FOR_ADMINISTRATORS = frozenset({"reset_status", "reset_task_state", "force_delete", "unmanage"})


def act_on(systems: SharedFileSystems, request: Request) -> Response:
    names = request.json.keys() if isinstance(request.json, dict) else set()
    if "reset_task_state" in names and request.version < SINCE_TASK_STATE:
        raise not_found("The resource could not be found.")
    if names & ONLY_FOR_ADMINISTRATORS:
        request.context.require()
    share = own(systems, request)
    if share.is_soft_deleted and not names & {"restore", "force_delete"}:
        raise forbidden(f"Invalid share: share {share.id} has been soft deleted.")
    return act(BIN_ACTIONS if request.version >= SINCE_SOFT_DELETION else ACTIONS, systems, request, share)
