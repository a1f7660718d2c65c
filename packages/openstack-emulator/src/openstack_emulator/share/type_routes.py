"""Share types over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.filters import Filter, holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.share.types import DEFAULT_TYPE, SERVERS, SHOWN_TO_ALL, ShareTypes
from openstack_emulator.share.views import ABILITIES_SINCE

ACCESS = "share_type_access:is_public"
SINCE_DESCRIPTION = (2, 41)
SINCE_OPTIONAL = (2, 24)
OPTIONAL = "snapshot_support"
"""An extra spec that every share type has before microversion 2.24."""
SINCE_SPEC_FILTER = (2, 43)
SINCE_DEFAULT = (2, 46)
KEY_FORM = r"[a-zA-Z0-9_.: -]{1,255}"
SPEC_VALUE = fields.either(fields.text(1), fields.integer(), fields.boolean)
TYPE = {
    "name": fields.name(),
    "description": fields.nullable(fields.text()),
    ACCESS: fields.boolean,
    "extra_specs": fields.anything,
}


def specs(wanted: Any) -> dict[str, Any]:
    """Extra specs of a request's body; 400 for keys and values that cannot be ones."""
    if not isinstance(wanted, dict):
        raise fields.invalid("extra_specs", wanted, f"{wanted!r} is not of type 'object'")
    key_check = fields.text(pattern=KEY_FORM)
    for key, value in wanted.items():
        if (problem := key_check(key) or SPEC_VALUE(value)) is not None:
            raise fields.invalid("extra_specs", wanted, problem)
    return wanted


def view(request: Request, kind: Record) -> dict[str, Any]:
    """A share type as the caller sees it.

    Other users than administrators see some of its extra specs, and always what can be done with shares of the type,
    as far as the microversion knows it.
    """
    shown = kind["extra_specs"]
    if not request.context.is_admin:
        visible = {name: value for name, value in shown.items() if name in SHOWN_TO_ALL}
        shown = {name: "False" for since, name in ABILITIES_SINCE if request.version >= since} | visible
    found = {
        "id": kind["id"],
        "name": kind["name"],
        "extra_specs": shown,
        "required_extra_specs": {SERVERS: kind["extra_specs"][SERVERS]},
        ACCESS: kind["is_public"],
    }
    if request.version >= SINCE_DESCRIPTION:
        found["description"] = kind["description"]
    if request.version >= SINCE_DEFAULT:
        found["is_default"] = kind["name"] == DEFAULT_TYPE
    return found


def _shown(request: Request, kind: Record) -> Response:
    found = view(request, kind)
    return Response({"share_type": found, "volume_type": found})


def _type(types: ShareTypes, request: Request) -> Record:
    return types.by_id(request.context, request.vars["type_id"])


def index(types: ShareTypes, request: Request) -> Response:
    """The types: by default, an administrator sees the public ones and those of the own project only."""
    query, rows = request.query, types.usable(request.context)
    wanted = query.get("is_public") or "true"
    if request.context.is_admin and wanted.lower() not in ("none", "all"):
        public = fields.as_boolean(wanted)
        if public is None:
            raise bad_request(f"Invalid is_public filter [{wanted}]")
        own = request.context.project_id
        rows = [row for row in rows if row["is_public"] == public or (public and own in row["_projects"])]
    asked = query.get("extra_specs")
    if request.version >= SINCE_SPEC_FILTER and asked is not None:
        test: Filter = holds("extra_specs")
        rows = [row for row in rows if test(row, asked)]
    found = [view(request, row) for row in rows]
    return Response({"share_types": found, "volume_types": found})


def show(types: ShareTypes, request: Request) -> Response:
    return _shown(request, _type(types, request))


def default(types: ShareTypes, request: Request) -> Response:
    return _shown(request, types.default())


def create(types: ShareTypes, request: Request) -> Response:
    body = request.json
    member = "share_type" if isinstance(body, dict) and "share_type" in body else "volume_type"
    wanted = request.object(member)
    fields.check_fields(wanted, TYPE, ("name",), member, strict=False)
    if wanted.get("description") is not None and request.version < SINCE_DESCRIPTION:
        raise bad_request("A share type has a description since microversion 2.41.")
    public = bool(fields.as_boolean(wanted.get(ACCESS, True)))
    extra_specs = specs(wanted.get("extra_specs") or {})
    if request.version < SINCE_OPTIONAL:
        extra_specs = {OPTIONAL: True, **extra_specs}
    return _shown(request, types.create(wanted["name"].strip(), wanted.get("description"), public, extra_specs))


def update(types: ShareTypes, request: Request) -> Response:
    kind, wanted = _type(types, request), request.object("share_type")
    checks = {"name": fields.name(), "description": fields.nullable(fields.text()), ACCESS: fields.boolean}
    fields.check_fields(wanted, checks, where="share_type", strict=False)
    changes: dict[str, Any] = {key: wanted[key] or None for key in ("name", "description") if key in wanted}
    if ACCESS in wanted:
        changes["is_public"] = fields.as_boolean(wanted[ACCESS])
    if not changes:
        raise bad_request("Specify share type name, description, share_type_access:is_public or a combination thereof.")
    types.update(kind, changes)
    return _shown(request, kind)


def delete(types: ShareTypes, request: Request) -> Response:
    types.delete(types.rows.require(request.vars["type_id"]))
    return Response(status=202)


def list_specs(types: ShareTypes, request: Request) -> Response:
    return Response({"extra_specs": view(request, _type(types, request))["extra_specs"]})


def add_specs(types: ShareTypes, request: Request) -> Response:
    kind, wanted = _type(types, request), specs(request.object("extra_specs"))
    if not wanted:
        raise bad_request("Invalid input for field/attribute extra_specs. Value: {}. At least one is required.")
    return Response({"extra_specs": types.add_specs(kind, wanted)})


def show_spec(types: ShareTypes, request: Request) -> Response:
    shown, key = view(request, _type(types, request))["extra_specs"], request.vars["key"]
    if key not in shown:
        raise not_found(f"Share Type {request.vars['type_id']} has no extra spec with key {key}.")
    return Response({key: shown[key]})


def set_spec(types: ShareTypes, request: Request) -> Response:
    kind, wanted = _type(types, request), specs(request.json)
    if list(wanted) != [request.vars["key"]]:
        raise bad_request("Request body and URI mismatch")
    return Response(types.add_specs(kind, wanted))


def delete_spec(types: ShareTypes, request: Request) -> Response:
    if request.version < SINCE_OPTIONAL and request.vars["key"] == OPTIONAL:
        raise forbidden(f"Extra spec '{OPTIONAL}' can't be deleted.")
    types.remove_spec(_type(types, request), request.vars["key"])
    return Response(status=202)


def list_access(types: ShareTypes, request: Request) -> Response:
    kind = _type(types, request)
    rows = [{"share_type_id": kind["id"], "project_id": one} for one in types.projects_of(kind)]
    return Response({"share_type_access": rows})


def _project(arguments: Any, name: str) -> str:
    fields.check_fields(arguments, {"project": fields.text(1)}, ("project",), name)
    return str(arguments["project"])


def add_access(types: ShareTypes, request: Request, kind: Record, arguments: Any) -> Response:
    types.add_access(kind, _project(arguments, "addProjectAccess"))
    return Response(status=202)


def remove_access(types: ShareTypes, request: Request, kind: Record, arguments: Any) -> Response:
    types.remove_access(kind, _project(arguments, "removeProjectAccess"))
    return Response(status=202)
