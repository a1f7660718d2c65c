"""Configuration groups over HTTP."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.database.records import Configuration
from openstack_emulator.database.routes.bodies import key_of
from openstack_emulator.database.routes.lists import list_response
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.creation import DATASTORE_FORMS
from openstack_emulator.database.rules.validation import check
from openstack_emulator.database.views import configuration_summary, configuration_view

_TEXT = fields.nullable(fields.text(0, 255))
_CHANGES: Mapping[str, Check] = {
    "name": fields.text(1, 255),
    "description": _TEXT,
    "values": fields.mapping,
}
_FORMS = {**_CHANGES, "datastore": fields.mapping}
_DATASTORE_FORMS = dict.fromkeys(DATASTORE_FORMS, _TEXT)


def _found(service: DatabaseService, request: Request) -> Configuration:
    return visible(service.configurations.rows, request.context, key_of(request))


def index(service: DatabaseService, request: Request) -> Response:
    rows = service.configurations.rows.select(project_id=request.context.project)
    return list_response(request, "configurations", rows, lambda row: configuration_summary(service, row))


def create(service: DatabaseService, request: Request) -> Response:
    body = check("configuration", request.object("configuration"), _FORMS, ("name", "values"), open=True)
    version = service.datastores.chosen(check("datastore", body.get("datastore") or {}, _DATASTORE_FORMS))
    configuration = service.configurations.create(
        request.context.project, body["name"], body.get("description"), body["values"], version
    )
    return Response({"configuration": configuration_view(service, configuration)})


def show(service: DatabaseService, request: Request) -> Response:
    return Response({"configuration": configuration_view(service, _found(service, request))})


def list_instances(service: DatabaseService, request: Request) -> Response:
    rows = service.configurations.used_by(_found(service, request))
    return list_response(request, "instances", rows, lambda row: {"id": row.id, "name": row.name})


def _change(service: DatabaseService, request: Request, keep: bool) -> Configuration:
    record = _found(service, request)
    body = check("configuration", request.object("configuration"), _CHANGES)
    named = {name: value for name, value in body.items() if name != "values"}
    service.configurations.change(record, named, body.get("values", record.values if keep else {}), keep)
    return record


def edit(service: DatabaseService, request: Request) -> Response:
    """Set some values; the others stay."""
    return Response({"configuration": configuration_view(service, _change(service, request, keep=True))})


def replace(service: DatabaseService, request: Request) -> Response:
    """Set all values."""
    _change(service, request, keep=False)
    return Response(status=202)


def delete(service: DatabaseService, request: Request) -> Response:
    service.configurations.delete(_found(service, request))
    return Response(status=202)
