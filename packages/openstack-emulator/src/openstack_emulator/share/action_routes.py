"""Actions on shares, snapshots, share types and share networks."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.actions import Actions, act
from openstack_emulator.core.component import on, visible
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.share import network_routes, snapshot_routes, type_routes
from openstack_emulator.share.access import AccessRules
from openstack_emulator.share.managed import BackendShares
from openstack_emulator.share.networks import ShareNetworks
from openstack_emulator.share.share_routes import METADATA
from openstack_emulator.share.shares import STATUSES, TASK_STATES, Shares
from openstack_emulator.share.snapshots import STATUSES as SNAPSHOT_STATUSES
from openstack_emulator.share.snapshots import ShareSnapshots
from openstack_emulator.share.types import ShareTypes
from openstack_emulator.share.views import SINCE_SOFT_DELETION, rule_view

ACCEPTED = 202
SINCE_METADATA = (2, 45)
"""The first microversion in which access rules have metadata, and are listed at a path of their own."""
SINCE_REVERT = (2, 27)
SINCE_TASK_STATE = (2, 22)
SINCE_FORCE = (2, 64)
"""The first microversion in which administrators can extend a share without the scheduler."""


def _arguments(name: str, arguments: Any, checks: dict[str, fields.Check], required: tuple[str, ...]) -> Record:
    fields.check_fields(arguments, checks, required, name, strict=False)
    return {key: arguments[key] for key in checks if key in arguments}


def _size(name: str, arguments: Any) -> int:
    return int(_arguments(name, arguments, {"new_size": fields.integer(1)}, ("new_size",))["new_size"])


def allow(rules: AccessRules, request: Request, share: Record, arguments: Any) -> Response:
    checks = {
        "access_type": fields.text(1),
        "access_to": fields.text(1),
        "access_level": fields.nullable(fields.text()),
    }
    if request.version >= SINCE_METADATA:
        checks["metadata"] = fields.nullable(METADATA)
    wanted = _arguments("allow_access", arguments, checks, ("access_type", "access_to"))
    rule = rules.allow(share, wanted, request.version)
    return Response({"access": {**rule_view(request, rule), "share_id": share["id"]}})


def deny(rules: AccessRules, request: Request, share: Record, arguments: Any) -> Response:
    wanted = _arguments("deny_access", arguments, {"access_id": fields.text(1)}, ("access_id",))
    rules.deny(share, wanted["access_id"])
    return Response(status=ACCEPTED)


def list_access(rules: AccessRules, request: Request, share: Record, arguments: Any) -> Response:
    if request.version >= SINCE_METADATA:
        raise bad_request("There is no such action: access_list")
    return Response({"access_list": [rule_view(request, rule) for rule in rules.of(share)]})


def extend(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    if request.version >= SINCE_FORCE and isinstance(arguments, dict) and fields.as_boolean(arguments.get("force")):
        request.context.require()
    shares.extend(share, _size("extend", arguments))
    return Response(status=ACCEPTED)


def shrink(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    shares.shrink(share, _size("shrink", arguments))
    return Response(status=ACCEPTED)


def revert(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    if request.version < SINCE_REVERT:
        raise bad_request("There is no such action: revert")
    wanted = _arguments("revert", arguments, {"snapshot_id": fields.text(1)}, ("snapshot_id",))
    shares.revert(share, wanted["snapshot_id"])
    return Response(status=ACCEPTED)


def _status(arguments: Any, statuses: tuple[str, ...]) -> str:
    return str(_arguments("reset_status", arguments, {"status": fields.one_of(*statuses)}, ("status",))["status"])


def reset(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    request.context.require()
    shares.update(share, {"status": _status(arguments, STATUSES)})
    return Response(status=ACCEPTED)


def reset_task(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    request.context.require()
    wanted = _arguments(
        "reset_task_state", arguments, {"task_state": fields.nullable(fields.one_of(*TASK_STATES))}, ("task_state",)
    )
    shares.update(share, {"task_state": wanted["task_state"]})
    return Response(status=ACCEPTED)


def force_delete(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    request.context.require()
    shares.delete(share, force=True)
    return Response(status=ACCEPTED)


def discard(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    shares.discard(share)
    return Response(status=ACCEPTED)


def restore(shares: Shares, request: Request, share: Record, arguments: Any) -> Response:
    shares.restore(share)
    return Response(status=ACCEPTED)


def unmanage(backend: BackendShares, request: Request, share: Record, arguments: Any) -> Response:
    request.context.require()
    backend.unmanage(share)
    return Response(status=ACCEPTED)


SHARE_ACTIONS: Actions = {
    "allow_access": on(AccessRules, allow),
    "deny_access": on(AccessRules, deny),
    "access_list": on(AccessRules, list_access),
    "extend": on(Shares, extend),
    "shrink": on(Shares, shrink),
    "revert": on(Shares, revert),
    "reset_status": on(Shares, reset),
    "reset_task_state": on(Shares, reset_task),
    "force_delete": on(Shares, force_delete),
    "unmanage": on(BackendShares, unmanage),
}


ONLY_FOR_ADMINISTRATORS = frozenset({"reset_status", "reset_task_state", "force_delete", "unmanage"})
BIN_ACTIONS: Actions = {"soft_delete": on(Shares, discard), "restore": on(Shares, restore)}
"""Actions since microversion 2.69; others are refused while a share is in the recycle bin."""


def share_action(shares: Shares, request: Request) -> Response:
    body = request.json
    if isinstance(body, dict) and "reset_task_state" in body and request.version < SINCE_TASK_STATE:
        raise not_found("The resource could not be found.")
    if isinstance(body, dict) and body.keys() & ONLY_FOR_ADMINISTRATORS:
        request.context.require()
    share = shares.own(request.context, request.vars["share_id"])
    recycles = request.version >= SINCE_SOFT_DELETION
    if share["is_soft_deleted"] and not (isinstance(body, dict) and body.keys() & {"restore", "force_delete"}):
        raise forbidden(f"Invalid share: share {share['id']} has been soft deleted.")
    return act({**SHARE_ACTIONS, **(BIN_ACTIONS if recycles else {})}, shares.records, request, share)


def reset_snapshot(snapshots: ShareSnapshots, request: Request, snapshot: Record, arguments: Any) -> Response:
    request.context.require()
    snapshots.rows.update(snapshot, status=_status(arguments, SNAPSHOT_STATUSES), updated_at=snapshots.moment())
    return Response(status=ACCEPTED)


def force_delete_snapshot(snapshots: ShareSnapshots, request: Request, snapshot: Record, arguments: Any) -> Response:
    request.context.require()
    snapshots.delete(snapshot, force=True)
    return Response(status=ACCEPTED)


SNAPSHOT_ACTIONS: Actions = {
    "reset_status": on(ShareSnapshots, reset_snapshot),
    "force_delete": on(ShareSnapshots, force_delete_snapshot),
}


def snapshot_action(snapshots: ShareSnapshots, request: Request) -> Response:
    request.context.require()
    return act(SNAPSHOT_ACTIONS, snapshots.records, request, snapshot_routes.found(snapshots, request))


TYPE_ACTIONS: Actions = {
    "addProjectAccess": on(ShareTypes, type_routes.add_access),
    "removeProjectAccess": on(ShareTypes, type_routes.remove_access),
}


def type_action(types: ShareTypes, request: Request) -> Response:
    return act(TYPE_ACTIONS, types.records, request, types.by_id(request.context, request.vars["type_id"]))


NETWORK_ACTIONS: Actions = {
    "add_security_service": on(ShareNetworks, network_routes.add_service),
    "remove_security_service": on(ShareNetworks, network_routes.remove_service),
}


def network_action(networks: ShareNetworks, request: Request) -> Response:
    network = visible(networks.rows, request.context, request.vars["network_id"])
    return act(NETWORK_ACTIONS, networks.records, request, network)
