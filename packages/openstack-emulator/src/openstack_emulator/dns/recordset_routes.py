"""Record sets over HTTP: those of a zone, and those of all zones."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.fields import Check, nullable, text
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record, public
from openstack_emulator.dns.http import (
    LARGEST_TTL,
    LONGEST_DESCRIPTION,
    Caller,
    body_of,
    caller_of,
    invalid_object,
    listed,
    number,
    problem,
    uuid_of,
)
from openstack_emulator.dns.names import host_problem
from openstack_emulator.dns.records import TYPES, record_problem
from openstack_emulator.dns.recordsets import RecordSets

FILTERS = ("name", "type", "ttl", "data", "description", "status", "action", "zone_id")


def _list_problem(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"{value!r} is not of type 'array'"
    return next((f"{one!r} is not of type 'string'" for one in value if not isinstance(one, str)), None)


_CHANGEABLE: dict[str, Check] = {
    "records": _list_problem,
    "ttl": nullable(number("ttl", 0, LARGEST_TTL)),
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
}
_FIELDS: dict[str, Check] = {**_CHANGEABLE, "name": host_problem, "type": text()}

_REQUIRED = frozenset({"name", "type", "records"})


def recordset_view(request: Request, record: Record) -> dict[str, Any]:
    """Return a record set as the API shows it."""
    place = f"{request.base}/v2/zones/{record['zone_id']}/recordsets/{record['id']}"
    return {**public(record), "links": {"self": place}}


def _listed(request: Request, rows: list[Record]) -> Response:
    """Return a list; its filter `data` compares records."""
    return listed(request, "recordsets", [{**row, "data": row["records"]} for row in rows], _without_data, FILTERS)


def _without_data(request: Request, row: Record) -> dict[str, Any]:
    return recordset_view(request, {name: value for name, value in row.items() if name != "data"})


def _checked(kind: str, body: Record) -> Record:
    """Return a record set's fields with their types. Raises ApiError 400 for invalid records."""
    if kind not in TYPES:
        raise invalid_object(problem(f"{kind!r} is not a valid record type", ["recordset", "type"], "value", [kind]))
    records = body.get("records", ())
    wrong = [(at, one) for at, one in enumerate(records) if record_problem(kind, one) is not None]
    if wrong:
        raise invalid_object(
            *(problem(f"{one!r} is not a {kind!r} Record", ["records", at], "format", [kind]) for at, one in wrong)
        )
    if kind == "CNAME" and len(records) > 1:
        raise bad_request("CNAME recordsets may not have more than 1 record")
    return body if body.get("ttl") is None else {**body, "ttl": int(body["ttl"])}


def index(sets: RecordSets, request: Request) -> Response:
    caller = caller_of(request)
    return _listed(request, sets.of_zone(caller, sets.zones.visible(caller, uuid_of(request, "zone_id"))))


def index_all(sets: RecordSets, request: Request) -> Response:
    return _listed(request, sets.listed(caller_of(request)))


def create(sets: RecordSets, request: Request) -> Response:
    caller = caller_of(request)
    body = body_of(request, "recordset", _FIELDS)
    if not body.keys() >= _REQUIRED:
        raise invalid_object()
    body = _checked(body["type"], body)
    if body["type"] == "SOA" and not caller.edits_managed:
        raise bad_request("Creating SOA recordsets is not allowed")
    zone = sets.zones.visible(caller, uuid_of(request, "zone_id"))
    record = sets.create(caller, zone, body)
    shown = recordset_view(request, record)
    return Response(shown, 202 if record["status"] == "PENDING" else 201, {"Location": shown["links"]["self"]})


def _named(sets: RecordSets, request: Request) -> tuple[Caller, Record]:
    """Return the record set that the path names."""
    caller = caller_of(request)
    zone = sets.zones.visible(caller, uuid_of(request, "zone_id"))
    return caller, sets.visible(caller, uuid_of(request, "recordset_id"), zone["id"])


def show(sets: RecordSets, request: Request) -> Response:
    return Response(recordset_view(request, _named(sets, request)[1]))


def show_elsewhere(sets: RecordSets, request: Request) -> Response:
    """Redirect to the record set below its zone."""
    record = sets.visible(caller_of(request), uuid_of(request, "recordset_id"))
    return Response(status=301, headers={"Location": recordset_view(request, record)["links"]["self"]})


def update(sets: RecordSets, request: Request) -> Response:
    caller, record = _named(sets, request)
    sets.changeable(caller, record, "update")
    body = body_of(request, "recordset", _CHANGEABLE)
    sets.update(caller, record, _checked(record["type"], body))
    return Response(recordset_view(request, record), 202)


def delete(sets: RecordSets, request: Request) -> Response:
    caller, record = _named(sets, request)
    sets.delete(caller, record)
    return Response(recordset_view(request, record), 202)


RECORDSET_ROUTES = using(
    RecordSets,
    {
        "/zones/{zone_id}/recordsets": {"GET": index, "POST": create},
        "/zones/{zone_id}/recordsets/{recordset_id}": {"GET": show, "PUT": update, "DELETE": delete},
        "/recordsets": {"GET": index_all},
        "/recordsets/{recordset_id}": {"GET": show_elsewhere},
    },
)
