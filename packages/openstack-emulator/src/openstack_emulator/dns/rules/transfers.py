"""Transfers of zones from one project to another: requests with a key, and their acceptance."""

from __future__ import annotations

import hmac
import secrets
import string

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.rules import Rules
from openstack_emulator.dns.records import TransferAccept, TransferRequest, Zone
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.errors import missing
from openstack_emulator.dns.rules.inputs import NewTransferRequest
from openstack_emulator.dns.rules.recordsets import RecordSets

KEY_LENGTH = 8


class Transfers(Rules):
    """Requests and their accepts, which outlive zones."""

    def __init__(self, records: Records, sets: RecordSets) -> None:
        super().__init__(records)
        self._sets = sets
        self.requests = records.table(
            "transfer_requests", TransferRequest, "zone_id", missing=missing("Zone Transfer Request")
        )
        self.accepts = records.table("transfer_accepts", TransferAccept, missing=missing("Zone Transfer Accept"))

    def visible(self, caller: Caller, key: str) -> TransferRequest:
        """Return a request of the caller, for the caller's project, or for every project. Raises ApiError 404."""
        request = self.requests.require(key)
        if request.target_project_id not in (None, caller.project_id) and not caller.may_see(request):
            raise self.requests.missing(key)
        return request

    def owned(self, caller: Caller, key: str) -> TransferRequest:
        """Return a request of the caller. Raises ApiError 404, or 403 for one that is only meant for the caller."""
        request = self.visible(caller, key)
        if not caller.may_see(request):
            raise forbidden("")
        return request

    def listed(self, caller: Caller) -> list[TransferRequest]:
        """Return the requests of the caller, and those for the caller's project."""
        return [row for row in self.requests if caller.may_see(row) or row.target_project_id == caller.project_id]

    def visible_accept(self, caller: Caller, key: str) -> TransferAccept:
        """Return an accept by the caller's project. Raises ApiError 404."""
        found = self.accepts.require(key)
        if not caller.may_see(found):
            raise self.accepts.missing(key)
        return found

    def create(self, zone: Zone, new_transfer_request: NewTransferRequest) -> TransferRequest:
        """Create a request. Raises ApiError 409 when the zone has one."""
        if self.requests.first(zone_id=zone.id, status="ACTIVE") is not None:
            raise ApiError(409, "", "duplicate_zone_transfer_request")
        letters = string.ascii_uppercase + string.digits
        return self.requests.add(
            TransferRequest(
                id=new_id(),
                zone_id=zone.id,
                zone_name=zone.name,
                project_id=zone.project_id,
                target_project_id=new_transfer_request.target_project_id,
                key="".join(secrets.choice(letters) for _ in range(KEY_LENGTH)),
                description=new_transfer_request.description,
                status="ACTIVE",
                created_at=self.moment(),
                updated_at=None,
            )
        )

    def accept(self, caller: Caller, request: TransferRequest, key: str) -> TransferAccept:
        """Give the zone of a request to the caller. Raises ApiError 403 for a wrong key or project."""
        if not hmac.compare_digest(key.encode(), request.key.encode()):
            raise ApiError(403, "Key does not match stored key for request", "invalid_key")
        if request.target_project_id not in (None, caller.project_id):
            raise forbidden("")
        if request.status != "ACTIVE":
            raise ApiError(400, "The zone transfer request is complete", "invalid_zone_transfer_request")
        moment = self.moment()
        self._sets.transfer(self._sets.zones.rows.require(request.zone_id), caller.project_id)
        request.status, request.updated_at = "COMPLETE", moment
        self.requests.save(request)
        return self.accepts.add(
            TransferAccept(
                id=new_id(),
                zone_id=request.zone_id,
                project_id=caller.project_id,
                zone_transfer_request_id=request.id,
                key=key,
                status="COMPLETE",
                created_at=moment,
                updated_at=None,
            )
        )
