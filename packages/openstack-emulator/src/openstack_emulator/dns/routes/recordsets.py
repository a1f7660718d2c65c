"""Record sets over HTTP: those of a zone, and those of all zones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import integer, items, nullable, text
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.dns.records import RecordSet
from openstack_emulator.dns.routes.bodies import LARGEST_TTL, LONGEST_DESCRIPTION, body_of, uuid_of
from openstack_emulator.dns.routes.callers import caller_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.routes.zones import visible
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.rules.contents import TYPES, record_problem
from openstack_emulator.dns.rules.errors import invalid_object, problem
from openstack_emulator.dns.rules.inputs import NewRecordSet
from openstack_emulator.dns.rules.names import host_problem
from openstack_emulator.dns.views import recordset_link, recordset_view

FILTERS = ("name", "type", "ttl", "data", "description", "status", "action", "zone_id")


_CHANGEABLE: dict[str, Check] = {
    "records": items(text(maximum=None)),
    "ttl": nullable(integer(0, LARGEST_TTL)),
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
}
_FIELDS: dict[str, Check] = {**_CHANGEABLE, "name": host_problem, "type": text()}
_REQUIRED = frozenset({"name", "type", "records"})


def _found(names: DomainNames, request: Request) -> RecordSet:
    """The record set that the path names. Raises ApiError 404."""
    zone = visible(names, request)
    return names.recordsets.visible(caller_of(request), uuid_of(request, "recordset_id"), zone.id)


def _checked(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record set's fields with their types. Raises ApiError 400 for invalid records."""
    if kind not in TYPES:
        raise invalid_object(problem(f"{kind!r} is not a valid record type", ["recordset", "type"], "value", [kind]))
    records = body.get("records", ())
    wrong = [(index, record) for index, record in enumerate(records) if record_problem(kind, record) is not None]
    if wrong:
        raise invalid_object(
            *(
                problem(f"{record!r} is not a {kind!r} Record", ["records", index], "format", [kind])
                for index, record in wrong
            )
        )
    if kind == "CNAME" and len(records) > 1:
        raise bad_request("CNAME recordsets may not have more than 1 record")
    ttl = body.get("ttl")
    return dict(body) if ttl is None else {**body, "ttl": int(ttl)}


def index(names: DomainNames, request: Request) -> Response:
    zone = visible(names, request)
    rows = names.recordsets.of_zone(caller_of(request), zone)
    return list_response(request, "recordsets", rows, recordset_view, FILTERS)


def index_all(names: DomainNames, request: Request) -> Response:
    return list_response(request, "recordsets", names.recordsets.listed(caller_of(request)), recordset_view, FILTERS)


def create(names: DomainNames, request: Request) -> Response:
    caller = caller_of(request)
    body = body_of(request, "recordset", _FIELDS)
    if not body.keys() >= _REQUIRED:
        raise invalid_object()
    new_record_set = NewRecordSet.from_json(_checked(body["type"], body))
    if new_record_set.type == "SOA" and not caller.edits_managed:
        raise bad_request("Creating SOA recordsets is not allowed")
    record = names.recordsets.create(caller, visible(names, request), new_record_set)
    status = 202 if record.status == "PENDING" else 201
    return Response(recordset_view(request, record), status, {"Location": recordset_link(request, record)})


def show(names: DomainNames, request: Request) -> Response:
    return Response(recordset_view(request, _found(names, request)))


def show_elsewhere(names: DomainNames, request: Request) -> Response:
    """Redirect to the record set below its zone."""
    record = names.recordsets.visible(caller_of(request), uuid_of(request, "recordset_id"))
    return Response(status=301, headers={"Location": recordset_link(request, record)})


def update(names: DomainNames, request: Request) -> Response:
    caller, record = caller_of(request), _found(names, request)
    names.recordsets.changeable(caller, record, "update")
    changes = _checked(record.type, body_of(request, "recordset", _CHANGEABLE))
    names.recordsets.update(caller, record, changes)
    return Response(recordset_view(request, record), 202)


def delete(names: DomainNames, request: Request) -> Response:
    record = _found(names, request)
    names.recordsets.delete(caller_of(request), record)
    return Response(recordset_view(request, record), 202)
