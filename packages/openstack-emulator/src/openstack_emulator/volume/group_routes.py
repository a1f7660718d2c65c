"""Group types, groups and group snapshots over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.actions import act
from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.component import merged, on, using, visible
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import Filter, equal, project_rows
from openstack_emulator.core.guards import admin, since
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.specs import Specs
from openstack_emulator.core.store import Record
from openstack_emulator.volume.action_routes import status_of
from openstack_emulator.volume.group_types import GroupTypes
from openstack_emulator.volume.groups import GROUP_STATUSES, Groups, GroupSnapshots
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.type_routes import SPECS, is_public
from openstack_emulator.volume.volumes import flag

TYPES_SINCE: Version = (3, 11)
GROUPS_SINCE: Version = (3, 13)
SNAPSHOTS_SINCE: Version = (3, 14)
FREE_TEXT = fields.nullable(fields.text())
TYPE = {
    "name": fields.name(),
    "description": FREE_TEXT,
    "is_public": fields.boolean,
    "group_specs": SPECS,
}
GROUP_SPECS = Specs("group_specs", "Group Type", "specs", SPECS)
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
SNAPSHOT = {"name": FREE_TEXT, "description": FREE_TEXT, "group_id": fields.identifier}
TYPE_FILTERS: dict[str, Filter] = {"name": equal("name"), "is_public": is_public}
FILTERS: dict[str, Filter] = {name: equal(name) for name in ("id", "name", "status", "description", "group_id")}


def _kind(types: GroupTypes, request: Request) -> Record:
    return types.find(request.context, request.vars["type_id"])


def _type_view(request: Request, kind: Record) -> dict[str, Any]:
    shown = {key: kind[key] for key in ("id", "name", "description", "is_public")}
    return {**shown, "group_specs": kind["group_specs"]} if request.context.is_admin else shown


def list_types(types: GroupTypes, request: Request) -> Response:
    rows = list(types.rows)[::-1]
    if not request.context.is_admin or request.query.get("is_public") is None:
        rows = [row for row in rows if row["is_public"]]
    return listing(request, "group_types", rows, TYPE_FILTERS, lambda row: _type_view(request, row))


def create_type(types: GroupTypes, request: Request) -> Response:
    wanted = request.object("group_type")
    fields.check_fields(wanted, TYPE, ("name",), "group_type")
    public = flag(wanted.get("is_public", True), "is_public")
    specs = wanted.get("group_specs", {})
    kind = types.create(wanted["name"].strip(), wanted.get("description"), public, specs)
    return Response({"group_type": _type_view(request, kind)}, 202)


def show_type(types: GroupTypes, request: Request) -> Response:
    return Response({"group_type": _type_view(request, _kind(types, request))})


def default_type(types: GroupTypes, request: Request) -> Response:
    raise not_found("Default group type can not be found.")


def update_type(types: GroupTypes, request: Request) -> Response:
    kind, wanted = _kind(types, request), request.object("group_type")
    fields.check_fields(wanted, {key: fields.nullable(check) for key, check in TYPE.items()}, where="group_type")
    changes = {key: wanted[key] for key in ("name", "description", "is_public") if wanted.get(key) is not None}
    if not changes:
        raise bad_request("Specify group type name, description or a combination thereof.")
    return Response({"group_type": _type_view(request, types.update(kind, changes))})


def delete_type(types: GroupTypes, request: Request) -> Response:
    types.delete(_kind(types, request))
    return Response(status=202)


def list_specs(types: GroupTypes, request: Request) -> Response:
    return Response({"group_specs": _kind(types, request)["group_specs"]})


def add_specs(types: GroupTypes, request: Request) -> Response:
    wanted = request.object("group_specs")
    GROUP_SPECS.add(types.rows, _kind(types, request), wanted)
    return Response({"group_specs": wanted}, 202)


def show_spec(types: GroupTypes, request: Request) -> Response:
    return GROUP_SPECS.show(_kind(types, request), request)


def update_spec(types: GroupTypes, request: Request) -> Response:
    return GROUP_SPECS.change(types.rows, _kind(types, request), request)


def delete_spec(types: GroupTypes, request: Request) -> Response:
    GROUP_SPECS.remove(types.rows, _kind(types, request), request)
    return Response(status=202)


def _group(groups: Groups, request: Request) -> Record:
    return visible(groups.rows, request.context, request.vars["group_id"])


def _brief(record: Record) -> dict[str, Any]:
    return {"id": record["id"], "name": record["name"]}


def _group_view(groups: Groups, request: Request, group: Record) -> dict[str, Any]:
    shown = ("id", "name", "description", "status", "availability_zone", "created_at", "group_type", "volume_types")
    view = {key: group[key] for key in shown}
    if request.version >= SNAPSHOTS_SINCE:
        view |= {key: group[key] for key in ("group_snapshot_id", "source_group_id")}
    if request.version >= (3, 25) and request.query.boolean("list_volume"):
        view["volumes"] = [row["id"] for row in groups.volumes_of(group)]
    if request.version >= (3, 38):
        view["replication_status"] = "disabled"
    return view


def create_group(groups: Groups, request: Request) -> Response:
    wanted = request.object("group")
    fields.check_fields(wanted, GROUP, ("group_type", "volume_types"), "group")
    return Response({"group": _brief(groups.create(request.context, wanted))}, 202)


def create_group_from(groups: Groups, request: Request) -> Response:
    wanted = request.object("create-from-src")
    fields.check_fields(wanted, FROM_SOURCE, where="create-from-src")
    if ("group_snapshot_id" in wanted) == ("source_group_id" in wanted):
        raise bad_request("Give one of 'group_snapshot_id' and 'source_group_id' to create a group from.")
    return Response({"group": _brief(groups.create_from(request.context, wanted))}, 202)


def list_groups(groups: Groups, request: Request) -> Response:
    return listing(request, "groups", project_rows(groups.rows, request), FILTERS, _brief)


def list_groups_detail(groups: Groups, request: Request) -> Response:
    rows = project_rows(groups.rows, request)
    return listing(request, "groups", rows, FILTERS, lambda row: _group_view(groups, request, row))


def show_group(groups: Groups, request: Request) -> Response:
    return Response({"group": _group_view(groups, request, _group(groups, request))})


def update_group(groups: Groups, request: Request) -> Response:
    group, wanted = _group(groups, request), request.object("group")
    fields.check_fields(wanted, GROUP_CHANGES, where="group")
    if not any(value is not None for value in wanted.values()):
        raise bad_request("Name, description, add_volumes and remove_volumes can not all be empty.")
    changes = {key: wanted[key] for key in ("name", "description") if wanted.get(key) is not None}
    joins, leaves = (_ids(wanted.get(key)) for key in ("add_volumes", "remove_volumes"))
    groups.update(request.context, group, changes, joins, leaves)
    return Response(status=202)


def _ids(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _delete(groups: Groups, request: Request, group: Record, arguments: Any) -> Response:
    fields.check_fields(arguments, {"delete-volumes": fields.boolean}, where="delete")
    groups.delete(group, flag(arguments.get("delete-volumes", False), "delete-volumes"))
    return Response(status=202)


def _reset_group(groups: Groups, request: Request, group: Record, arguments: Any) -> Response:
    request.context.require()
    groups.rows.update(group, status=status_of("reset_status", arguments, GROUP_STATUSES))
    return Response(status=202)


OLD_GROUP_ACTIONS = {"delete": on(Groups, _delete)}
GROUP_ACTIONS = {**OLD_GROUP_ACTIONS, "reset_status": on(Groups, _reset_group)}


def group_action(groups: Groups, request: Request) -> Response:
    actions = GROUP_ACTIONS if request.version >= (3, 20) else OLD_GROUP_ACTIONS
    return act(actions, groups.records, request, _group(groups, request))


def _taken(group_snapshots: GroupSnapshots, request: Request) -> Record:
    return visible(group_snapshots.rows, request.context, request.vars["group_snapshot_id"])


def _snapshot_view(taken: Record) -> dict[str, Any]:
    shown = ("id", "name", "description", "status", "created_at", "group_id", "group_type_id")
    return {key: taken[key] for key in shown}


def create_snapshot(group_snapshots: GroupSnapshots, request: Request) -> Response:
    wanted = request.object("group_snapshot")
    fields.check_fields(wanted, SNAPSHOT, ("group_id",), "group_snapshot")
    group = visible(group_snapshots.groups.rows, request.context, wanted["group_id"])
    taken = group_snapshots.create(request.context, group, wanted)
    return Response({"group_snapshot": {**_brief(taken), "group_type_id": taken["group_type_id"]}}, 202)


def list_snapshots(group_snapshots: GroupSnapshots, request: Request) -> Response:
    return listing(request, "group_snapshots", project_rows(group_snapshots.rows, request), FILTERS, _brief)


def list_snapshots_detail(group_snapshots: GroupSnapshots, request: Request) -> Response:
    rows = project_rows(group_snapshots.rows, request)
    return listing(request, "group_snapshots", rows, FILTERS, _snapshot_view)


def show_snapshot(group_snapshots: GroupSnapshots, request: Request) -> Response:
    return Response({"group_snapshot": _snapshot_view(_taken(group_snapshots, request))})


def delete_snapshot(group_snapshots: GroupSnapshots, request: Request) -> Response:
    group_snapshots.delete(_taken(group_snapshots, request))
    return Response(status=202)


def _reset_snapshot(group_snapshots: GroupSnapshots, request: Request, taken: Record, arguments: Any) -> Response:
    request.context.require()
    group_snapshots.rows.update(taken, status=status_of("reset_status", arguments, GROUP_STATUSES))
    return Response(status=202)


SNAPSHOT_ACTIONS = {"reset_status": on(GroupSnapshots, _reset_snapshot)}


def snapshot_action(group_snapshots: GroupSnapshots, request: Request) -> Response:
    return act(SNAPSHOT_ACTIONS, group_snapshots.records, request, _taken(group_snapshots, request))


TYPE_ROUTES = using(
    GroupTypes,
    {
        "/group_types": {"GET": list_types, "POST": admin(create_type)},
        "/group_types/default": {"GET": default_type},
        "/group_types/{type_id}": {"GET": show_type, "PUT": admin(update_type), "DELETE": admin(delete_type)},
        "/group_types/{type_id}/group_specs": {"GET": admin(list_specs), "POST": admin(add_specs)},
        "/group_types/{type_id}/group_specs/{key}": {
            "GET": admin(show_spec),
            "PUT": admin(update_spec),
            "DELETE": admin(delete_spec),
        },
    },
)
GROUP_ROUTES = using(
    Groups,
    {
        "/groups": {"GET": list_groups, "POST": create_group},
        "/groups/detail": {"GET": list_groups_detail},
        "/groups/action": {"POST": since(SNAPSHOTS_SINCE, create_group_from)},
        "/groups/{group_id}": {"GET": show_group, "PUT": update_group},
        "/groups/{group_id}/action": {"POST": group_action},
    },
)
SNAPSHOT_ROUTES = using(
    GroupSnapshots,
    {
        "/group_snapshots": {"GET": list_snapshots, "POST": create_snapshot},
        "/group_snapshots/detail": {"GET": list_snapshots_detail},
        "/group_snapshots/{group_snapshot_id}": {"GET": show_snapshot, "DELETE": delete_snapshot},
        "/group_snapshots/{group_snapshot_id}/action": {"POST": since((3, 19), snapshot_action)},
    },
)


def _all_since(version: Version, routes: Routes) -> dict[str, dict[str, Handler]]:
    return {path: {name: since(version, one) for name, one in methods.items()} for path, methods in routes.items()}


ROUTES = merged(
    _all_since(TYPES_SINCE, TYPE_ROUTES),
    _all_since(GROUPS_SINCE, GROUP_ROUTES),
    _all_since(SNAPSHOTS_SINCE, SNAPSHOT_ROUTES),
)
