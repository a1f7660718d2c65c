"""Transfers of zones from one project to another: requests with a key, and their acceptance."""

from __future__ import annotations

import hmac
import secrets
import string
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.fields import Check, nullable, text
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.dns.http import (
    LONGEST_DESCRIPTION,
    Caller,
    body_of,
    caller_of,
    listed,
    missing,
    uuid_of,
)
from openstack_emulator.dns.recordsets import RecordSets

KEY_LENGTH = 8
_FIELDS: dict[str, Check] = {
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
    "target_project_id": nullable(text(1, 64)),
}
_ACCEPTED: dict[str, Check] = {"key": text(1, 160), "zone_transfer_request_id": text(1, 36)}


class Transfers(Component):
    """Requests `{zone_id, project_id, target_project_id, key, status}`, and their accepts; they outlive zones."""

    def __init__(self, records: Records, sets: RecordSets) -> None:
        super().__init__(records)
        self.sets = sets
        self.requests = records.collection("transfer_requests", ("zone_id",), missing("Zone Transfer Request"))
        self.accepts = records.collection("transfer_accepts", missing=missing("Zone Transfer Accept"))

    def visible(self, caller: Caller, key: str) -> Record:
        """Return a request of the caller, for the caller's project, or for every project. Raises ApiError 404."""
        request = self.requests.require(key)
        target = request["target_project_id"]
        if target not in (None, caller.project_id) and not caller.may_see(request):
            raise self.requests.missing(key)
        return request

    def owned(self, caller: Caller, key: str) -> Record:
        """Return a request of the caller. Raises ApiError 404, or 403 for one that is only meant for the caller."""
        request = self.visible(caller, key)
        if not caller.may_see(request):
            raise forbidden("")
        return request

    def create(self, caller: Caller, zone: Record, fields: Record) -> Record:
        """Create a request. Raises ApiError 409 when the zone has one."""
        if self.requests.first(zone_id=zone["id"], status="ACTIVE") is not None:
            raise ApiError(409, "", "duplicate_zone_transfer_request")
        letters = string.ascii_uppercase + string.digits
        return self.requests.add(
            {
                "id": new_id(),
                "zone_id": zone["id"],
                "zone_name": zone["name"],
                "project_id": zone["project_id"],
                "target_project_id": fields.get("target_project_id"),
                "key": "".join(secrets.choice(letters) for _ in range(KEY_LENGTH)),
                "description": fields.get("description"),
                "status": "ACTIVE",
                "created_at": self.moment(),
                "updated_at": None,
            }
        )

    def accept(self, caller: Caller, request: Record, key: str) -> Record:
        """Give the zone of a request to the caller. Raises ApiError 403 for a wrong key or project."""
        if not hmac.compare_digest(key.encode(), request["key"].encode()):
            raise ApiError(403, "Key does not match stored key for request", "invalid_key")
        if request["target_project_id"] not in (None, caller.project_id):
            raise forbidden("")
        if request["status"] != "ACTIVE":
            raise ApiError(400, "The zone transfer request is complete", "invalid_zone_transfer_request")
        moment = self.moment()
        self.sets.give(self.sets.zones.rows.require(request["zone_id"]), caller.project_id)
        self.requests.update(request, status="COMPLETE", updated_at=moment)
        return self.accepts.add(
            {
                "id": new_id(),
                "zone_id": request["zone_id"],
                "project_id": caller.project_id,
                "zone_transfer_request_id": request["id"],
                "key": key,
                "status": "COMPLETE",
                "created_at": moment,
                "updated_at": None,
            }
        )


def _view(request: Request, record: Record) -> dict[str, Any]:
    """Return a request as the API shows it: the key to its owner only."""
    shown = {**record, "links": {"self": f"{request.base}/v2/zones/tasks/transfer_requests/{record['id']}"}}
    if not caller_of(request).may_see(record):
        for name in ("key", "project_id"):
            del shown[name]
    return shown


def _accept_view(request: Request, record: Record) -> dict[str, Any]:
    links = {
        "self": f"{request.base}/v2/zones/tasks/transfer_accepts/{record['id']}",
        "zone": f"{request.base}/v2/zones/{record['zone_id']}",
    }
    return {**record, "links": links}


def _created(shown: dict[str, Any]) -> Response:
    return Response(shown, 201, {"Location": shown["links"]["self"]})


def create(transfers: Transfers, request: Request) -> Response:
    caller = caller_of(request)
    zone = transfers.sets.zones.changeable(caller, uuid_of(request, "zone_id"))
    fields = body_of(request, "zone_transfer_request", _FIELDS) if request.body.strip() not in (b"", b"null") else {}
    return _created(_view(request, transfers.create(caller, zone, fields)))


def index(transfers: Transfers, request: Request) -> Response:
    caller = caller_of(request)
    rows = [row for row in transfers.requests
            if caller.may_see(row) or row["target_project_id"] == caller.project_id]  # fmt: skip
    return listed(request, "transfer_requests", rows, _view, ("status", "zone_id"))


def show(transfers: Transfers, request: Request) -> Response:
    found = transfers.visible(caller_of(request), uuid_of(request, "zone_transfer_request_id"))
    if found["target_project_id"] is not None:
        request.context.require("member")
    return Response(_view(request, found))


def update(transfers: Transfers, request: Request) -> Response:
    found = transfers.owned(caller_of(request), uuid_of(request, "zone_transfer_request_id"))
    transfers.requests.update(
        found, **body_of(request, "zone_transfer_request", _FIELDS), updated_at=transfers.moment()
    )
    return Response(_view(request, found))


def delete(transfers: Transfers, request: Request) -> Response:
    transfers.requests.remove(transfers.owned(caller_of(request), uuid_of(request, "zone_transfer_request_id")))
    return Response(status=204)


def accept(transfers: Transfers, request: Request) -> Response:
    caller, body = caller_of(request), body_of(request, "zone_transfer_accept", _ACCEPTED, tuple(_ACCEPTED))
    wanted = transfers.requests.require(body["zone_transfer_request_id"])
    return _created(_accept_view(request, transfers.accept(caller, wanted, body["key"])))


def list_accepts(transfers: Transfers, request: Request) -> Response:
    caller = caller_of(request)
    rows = [row for row in transfers.accepts if caller.may_see(row)]
    return listed(request, "transfer_accepts", rows, _accept_view, ("status", "zone_id"))


def show_accept(transfers: Transfers, request: Request) -> Response:
    caller, key = caller_of(request), uuid_of(request, "zone_transfer_accept_id")
    found = transfers.accepts.require(key)
    if not caller.may_see(found):
        raise transfers.accepts.missing(key)
    return Response(_accept_view(request, found))


_REQUESTS, _ACCEPTS = "/zones/tasks/transfer_requests", "/zones/tasks/transfer_accepts"
TRANSFER_ROUTES = using(
    Transfers,
    {
        "/zones/{zone_id}/tasks/transfer_requests": {"POST": create},
        _REQUESTS: {"GET": index},
        f"{_REQUESTS}/{{zone_transfer_request_id}}": {"GET": show, "PATCH": update, "DELETE": delete},
        _ACCEPTS: {"GET": list_accepts, "POST": accept},
        f"{_ACCEPTS}/{{zone_transfer_accept_id}}": {"GET": show_accept},
    },
)
