"""Groups of volumes over HTTP (since microversion 3.13)."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.actions import act, reset_status, status_among
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.filters import project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Group
from openstack_emulator.volume.routes.acting import Actions
from openstack_emulator.volume.routes.bodies import FREE_TEXT, GROUP_FILTERS, flag
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.groups import GROUP_STATUSES
from openstack_emulator.volume.rules.inputs import NewGroup
from openstack_emulator.volume.views import group_detail, group_summary

GROUP = {
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "group_type": fields.text(1),
    "volume_types": fields.items(fields.text(1), unique=True),
    "availability_zone": FREE_TEXT,
}
FROM_SOURCE = {
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "group_snapshot_id": fields.identifier,
    "source_group_id": fields.identifier,
}
GROUP_CHANGES = {"name": FREE_TEXT, "description": FREE_TEXT, "add_volumes": FREE_TEXT, "remove_volumes": FREE_TEXT}


def _group(storage: BlockStorage, request: Request) -> Group:
    return visible(storage.groups.rules.rows, request.context, request.vars["group_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("group")
    check_fields(body, GROUP, ("group_type", "volume_types"), "group")
    return Response({"group": group_summary(storage.groups.rules.create(request.context, NewGroup(**body)))}, 202)


def create_from(storage: BlockStorage, request: Request) -> Response:
    body = request.object("create-from-src")
    check_fields(body, FROM_SOURCE, where="create-from-src")
    if ("group_snapshot_id" in body) == ("source_group_id" in body):
        raise bad_request("Give one of 'group_snapshot_id' and 'source_group_id' to create a group from.")
    return Response({"group": group_summary(storage.groups.rules.create_from(request.context, NewGroup(**body)))}, 202)


def index(storage: BlockStorage, request: Request) -> Response:
    return list_response(
        request, "groups", project_rows(storage.groups.rules.rows, request), GROUP_FILTERS, group_summary
    )


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.groups.rules.rows, request)
    return list_response(request, "groups", rows, GROUP_FILTERS, lambda row: group_detail(storage, request, row))


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"group": group_detail(storage, request, _group(storage, request))})


def update(storage: BlockStorage, request: Request) -> Response:
    group, body = _group(storage, request), request.object("group")
    check_fields(body, GROUP_CHANGES, where="group")
    if not any(value is not None for value in body.values()):
        raise bad_request("Name, description, add_volumes and remove_volumes can not all be empty.")
    changes = {key: body[key] for key in ("name", "description") if body.get(key) is not None}
    joins, leaves = (_ids(body.get(key)) for key in ("add_volumes", "remove_volumes"))
    storage.groups.rules.update(request.context, group, changes, joins, leaves)
    return Response(status=202)


def _ids(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _delete(storage: BlockStorage, request: Request, group: Group, arguments: Any) -> Response:
    check_fields(arguments, {"delete-volumes": fields.boolean}, where="delete")
    storage.groups.rules.delete(group, flag(arguments.get("delete-volumes", False), "delete-volumes"))
    return Response(status=202)


OLD_ACTIONS: Actions[Group] = {"delete": _delete}
ACTIONS: Actions[Group] = {
    **OLD_ACTIONS,
    "reset_status": reset_status(
        status_among("reset_status", GROUP_STATUSES),
        lambda storage, group, status: storage.groups.rules.set_status(group, status),
    ),
}


def act_on(storage: BlockStorage, request: Request) -> Response:
    actions = ACTIONS if request.version >= (3, 20) else OLD_ACTIONS
    return act(actions, storage, request, _group(storage, request))
