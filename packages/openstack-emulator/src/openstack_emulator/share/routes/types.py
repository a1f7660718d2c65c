"""Share types over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.actions import ACCEPTED, act, argument_of
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.filters import Filter, holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields, invalid
from openstack_emulator.core.validation.sentences import sentence
from openstack_emulator.share.records import ShareType
from openstack_emulator.share.routes.bodies import TEXT, Actions
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.views import ACCESS, SINCE_DESCRIPTION, type_view, visible_specs

SINCE_OPTIONAL = (2, 24)
OPTIONAL = "snapshot_support"
"""An extra spec that every share type has before microversion 2.24."""
SINCE_SPEC_FILTER = (2, 43)
KEY_FORM = r"[a-zA-Z0-9_.: -]{1,255}"
SPEC_VALUE = fields.either(fields.text(1), fields.integer(), fields.boolean)
TYPE = {
    "name": fields.name(),
    "description": TEXT,
    ACCESS: fields.boolean,
    "extra_specs": fields.anything,
}


def specs(body: object) -> dict[str, object]:
    """Extra specs of a request's body; 400 for keys and values that cannot be ones."""
    if not isinstance(body, dict):
        raise invalid("extra_specs", body, f"{body!r} is not of type 'object'")
    key_check = fields.text(pattern=KEY_FORM)
    for key, value in body.items():
        if (problem := key_check(key) or SPEC_VALUE(value)) is not None:
            raise invalid("extra_specs", body, sentence(problem))
    return body


def _shown(request: Request, kind: ShareType) -> Response:
    found = type_view(request, kind)
    return Response({"share_type": found, "volume_type": found})


def _type(systems: SharedFileSystems, request: Request) -> ShareType:
    return systems.types.by_id(request.context, request.vars["type_id"])


def index(systems: SharedFileSystems, request: Request) -> Response:
    """The types: by default, an administrator sees the public ones and those of the own project only."""
    query, rows = request.query, systems.types.usable(request.context)
    value = query.get("is_public") or "true"
    if request.context.is_admin and value.lower() not in ("none", "all"):
        public = as_boolean(value)
        if public is None:
            raise bad_request(f"Invalid is_public filter [{value}]")
        own = request.context.project_id
        rows = [row for row in rows if row.is_public == public or (public and own in row.projects)]
    extra_specs = query.get("extra_specs")
    if request.version >= SINCE_SPEC_FILTER and extra_specs is not None:
        test: Filter = holds("extra_specs")
        rows = [row for row in rows if test(row, extra_specs)]
    found = [type_view(request, row) for row in rows]
    return Response({"share_types": found, "volume_types": found})


def show(systems: SharedFileSystems, request: Request) -> Response:
    return _shown(request, _type(systems, request))


def default(systems: SharedFileSystems, request: Request) -> Response:
    return _shown(request, systems.types.default())


def create(systems: SharedFileSystems, request: Request) -> Response:
    body = request.json
    member = "share_type" if isinstance(body, dict) and "share_type" in body else "volume_type"
    arguments = request.object(member)
    check_fields(arguments, TYPE, ("name",), member, strict=False)
    if arguments.get("description") is not None and request.version < SINCE_DESCRIPTION:
        raise bad_request("A share type has a description since microversion 2.41.")
    public = bool(as_boolean(arguments.get(ACCESS, True)))
    extra_specs = specs(arguments.get("extra_specs") or {})
    if request.version < SINCE_OPTIONAL:
        extra_specs = {OPTIONAL: True, **extra_specs}
    return _shown(
        request, systems.types.create(arguments["name"].strip(), arguments.get("description"), public, extra_specs)
    )


def update(systems: SharedFileSystems, request: Request) -> Response:
    kind, body = _type(systems, request), request.object("share_type")
    checks = {"name": fields.name(), "description": TEXT, ACCESS: fields.boolean}
    check_fields(body, checks, where="share_type", strict=False)
    changes: dict[str, Any] = {key: body[key] or None for key in ("name", "description") if key in body}
    if ACCESS in body:
        changes |= {"is_public": as_boolean(body[ACCESS])}
    if not changes:
        raise bad_request("Specify share type name, description, share_type_access:is_public or a combination thereof.")
    systems.types.update(kind, changes)
    return _shown(request, kind)


def delete(systems: SharedFileSystems, request: Request) -> Response:
    systems.types.delete(systems.types.rows.require(request.vars["type_id"]))
    return Response(status=202)


def list_specs(systems: SharedFileSystems, request: Request) -> Response:
    return Response({"extra_specs": visible_specs(request, _type(systems, request))})


def add_specs(systems: SharedFileSystems, request: Request) -> Response:
    kind, new_specs = _type(systems, request), specs(request.object("extra_specs"))
    if not new_specs:
        raise bad_request("Invalid input for field/attribute extra_specs. Value: {}. At least one is required.")
    return Response({"extra_specs": systems.types.add_specs(kind, new_specs)})


def show_spec(systems: SharedFileSystems, request: Request) -> Response:
    shown, key = visible_specs(request, _type(systems, request)), request.vars["key"]
    if key not in shown:
        raise not_found(f"Share Type {request.vars['type_id']} has no extra spec with key {key}.")
    return Response({key: shown[key]})


def set_spec(systems: SharedFileSystems, request: Request) -> Response:
    kind, new_specs = _type(systems, request), specs(request.json)
    if list(new_specs) != [request.vars["key"]]:
        raise bad_request("Request body and URI mismatch")
    return Response(systems.types.add_specs(kind, new_specs))


def delete_spec(systems: SharedFileSystems, request: Request) -> Response:
    key = request.vars["key"]
    if request.version < SINCE_OPTIONAL and key == OPTIONAL:
        raise forbidden(f"Extra spec '{OPTIONAL}' can't be deleted.")
    systems.types.remove_spec(_type(systems, request), key)
    return Response(status=202)


def list_access(systems: SharedFileSystems, request: Request) -> Response:
    kind = _type(systems, request)
    rows = [{"share_type_id": kind.id, "project_id": project} for project in systems.types.projects_of(kind)]
    return Response({"share_type_access": rows})


def _add_access(systems: SharedFileSystems, request: Request, kind: ShareType, arguments: object) -> Response:
    systems.types.add_access(kind, argument_of("addProjectAccess", arguments, "project", fields.text(1)))
    return Response(status=ACCEPTED)


def _remove_access(systems: SharedFileSystems, request: Request, kind: ShareType, arguments: object) -> Response:
    systems.types.remove_access(kind, argument_of("removeProjectAccess", arguments, "project", fields.text(1)))
    return Response(status=ACCEPTED)


ACTIONS: Actions[ShareType] = {"addProjectAccess": _add_access, "removeProjectAccess": _remove_access}


def act_on(systems: SharedFileSystems, request: Request) -> Response:
    return act(ACTIONS, systems, request, _type(systems, request))
