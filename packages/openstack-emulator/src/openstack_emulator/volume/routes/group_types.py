"""Group types and their specs over HTTP (since microversion 3.11)."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import Filter, equal
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.specs import Specs
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import GroupType
from openstack_emulator.volume.routes.bodies import FREE_TEXT, SPECS, flag, is_public
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.views import group_type_view

TYPE = {
    "name": fields.name(),
    "description": FREE_TEXT,
    "is_public": fields.boolean,
    "group_specs": SPECS,
}
GROUP_SPECS = Specs("group_specs", "Group Type", "specs", SPECS)
FILTERS: dict[str, Filter] = {"name": equal("name"), "is_public": is_public}


def _kind(storage: BlockStorage, request: Request) -> GroupType:
    return storage.groups.types.find(request.context, request.vars["type_id"])


def index(storage: BlockStorage, request: Request) -> Response:
    rows = list(storage.groups.types.rows)[::-1]
    if not request.context.is_admin or request.query.get("is_public") is None:
        rows = [row for row in rows if row.is_public]
    return list_response(request, "group_types", rows, FILTERS, lambda row: group_type_view(request, row))


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("group_type")
    check_fields(body, TYPE, ("name",), "group_type")
    public = flag(body.get("is_public", True), "is_public")
    specs = body.get("group_specs", {})
    kind = storage.groups.types.create(body["name"].strip(), body.get("description"), public, specs)
    return Response({"group_type": group_type_view(request, kind)}, 202)


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"group_type": group_type_view(request, _kind(storage, request))})


def default(storage: BlockStorage, request: Request) -> Response:
    raise not_found("Default group type can not be found.")


def update(storage: BlockStorage, request: Request) -> Response:
    kind, body = _kind(storage, request), request.object("group_type")
    check_fields(body, {key: fields.nullable(check) for key, check in TYPE.items()}, where="group_type")
    changes = {key: body[key] for key in ("name", "description", "is_public") if body.get(key) is not None}
    if not changes:
        raise bad_request("Specify group type name, description or a combination thereof.")
    return Response({"group_type": group_type_view(request, storage.groups.types.update(kind, changes))})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.groups.types.delete(_kind(storage, request))
    return Response(status=202)


def list_specs(storage: BlockStorage, request: Request) -> Response:
    return Response({"group_specs": _kind(storage, request).group_specs})


def add_specs(storage: BlockStorage, request: Request) -> Response:
    body = request.object("group_specs")
    GROUP_SPECS.add(storage.groups.types.rows, _kind(storage, request), body)
    return Response({"group_specs": body}, 202)


def show_spec(storage: BlockStorage, request: Request) -> Response:
    return GROUP_SPECS.show(_kind(storage, request), request)


def update_spec(storage: BlockStorage, request: Request) -> Response:
    return GROUP_SPECS.change(storage.groups.types.rows, _kind(storage, request), request)


def delete_spec(storage: BlockStorage, request: Request) -> Response:
    GROUP_SPECS.remove(storage.groups.types.rows, _kind(storage, request), request)
    return Response(status=202)
