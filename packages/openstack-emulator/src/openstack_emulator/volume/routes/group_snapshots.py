"""Snapshots of groups over HTTP (since microversion 3.14)."""

from __future__ import annotations

from openstack_emulator.core.actions import act, reset_status, status_among
from openstack_emulator.core.filters import project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import GroupSnapshot
from openstack_emulator.volume.routes.acting import Actions
from openstack_emulator.volume.routes.bodies import FREE_TEXT, GROUP_FILTERS
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.groups import GROUP_STATUSES
from openstack_emulator.volume.views import group_snapshot_detail, group_summary

SNAPSHOT = {"name": FREE_TEXT, "description": FREE_TEXT, "group_id": fields.identifier}


def _found(storage: BlockStorage, request: Request) -> GroupSnapshot:
    """The snapshot that the path names. Raises ApiError 404."""
    return visible(storage.groups.snapshots.rows, request.context, request.vars["group_snapshot_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("group_snapshot")
    check_fields(body, SNAPSHOT, ("group_id",), "group_snapshot")
    group = visible(storage.groups.rules.rows, request.context, body["group_id"])
    snapshot = storage.groups.snapshots.create(request.context, group, body.get("name"), body.get("description"))
    return Response({"group_snapshot": {**group_summary(snapshot), "group_type_id": snapshot.group_type_id}}, 202)


def index(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.groups.snapshots.rows, request)
    return list_response(request, "group_snapshots", rows, GROUP_FILTERS, group_summary)


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.groups.snapshots.rows, request)
    return list_response(request, "group_snapshots", rows, GROUP_FILTERS, group_snapshot_detail)


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"group_snapshot": group_snapshot_detail(_found(storage, request))})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.groups.snapshots.delete(_found(storage, request))
    return Response(status=202)


ACTIONS: Actions[GroupSnapshot] = {
    "reset_status": reset_status(
        status_among("reset_status", GROUP_STATUSES),
        lambda storage, snapshot, status: storage.groups.snapshots.set_status(snapshot, status),
    ),
}


def act_on(storage: BlockStorage, request: Request) -> Response:
    return act(ACTIONS, storage, request, _found(storage, request))
