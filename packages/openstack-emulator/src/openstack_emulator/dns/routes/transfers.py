"""Transfers of zones to other projects, over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import nullable, text
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.dns.records import TransferRequest
from openstack_emulator.dns.routes.bodies import LONGEST_DESCRIPTION, body_of, uuid_of
from openstack_emulator.dns.routes.callers import caller_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.routes.zones import changeable
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.rules.inputs import NewTransferRequest
from openstack_emulator.dns.views import transfer_accept_view, transfer_link, transfer_request_view

FILTERS = ("status", "zone_id")
_FIELDS: dict[str, Check] = {
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
    "target_project_id": nullable(text(1, 64)),
}
_KEY, _REQUEST = "key", "zone_transfer_request_id"
_ACCEPTED: dict[str, Check] = {_KEY: text(1, 160), _REQUEST: text(1, 36)}


def _shown(request: Request, record: TransferRequest) -> dict[str, object]:
    return transfer_request_view(caller_of(request))(request, record)


def _owned(names: DomainNames, request: Request) -> TransferRequest:
    return names.transfers.owned(caller_of(request), uuid_of(request, _REQUEST))


def create(names: DomainNames, request: Request) -> Response:
    zone = changeable(names, request)
    body = body_of(request, "zone_transfer_request", _FIELDS) if request.body.strip() not in (b"", b"null") else {}
    record = names.transfers.create(zone, NewTransferRequest.from_json(body))
    return Response(_shown(request, record), 201, {"Location": transfer_link(request, record)})


def index(names: DomainNames, request: Request) -> Response:
    caller = caller_of(request)
    rows, view = names.transfers.listed(caller), transfer_request_view(caller)
    return list_response(request, "transfer_requests", rows, view, FILTERS)


def show(names: DomainNames, request: Request) -> Response:
    found = names.transfers.visible(caller_of(request), uuid_of(request, _REQUEST))
    if found.target_project_id is not None:
        request.context.require("member")
    return Response(_shown(request, found))


def update(names: DomainNames, request: Request) -> Response:
    found, transfers = _owned(names, request), names.transfers
    changes = body_of(request, "zone_transfer_request", _FIELDS)
    transfers.requests.update(found, **changes, updated_at=transfers.moment())
    return Response(_shown(request, found))


def delete(names: DomainNames, request: Request) -> Response:
    names.transfers.requests.remove(_owned(names, request))
    return Response(status=204)


def accept(names: DomainNames, request: Request) -> Response:
    caller, body = caller_of(request), body_of(request, "zone_transfer_accept", _ACCEPTED, tuple(_ACCEPTED))
    transfer_request = names.transfers.requests.require(body[_REQUEST])
    record = names.transfers.accept(caller, transfer_request, body[_KEY])
    return Response(transfer_accept_view(request, record), 201, {"Location": transfer_link(request, record)})


def list_accepts(names: DomainNames, request: Request) -> Response:
    caller = caller_of(request)
    rows = [row for row in names.transfers.accepts if caller.may_see(row)]
    return list_response(request, "transfer_accepts", rows, transfer_accept_view, FILTERS)


def show_accept(names: DomainNames, request: Request) -> Response:
    found = names.transfers.visible_accept(caller_of(request), uuid_of(request, "zone_transfer_accept_id"))
    return Response(transfer_accept_view(request, found))
