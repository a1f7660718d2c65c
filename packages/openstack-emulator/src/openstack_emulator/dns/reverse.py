"""Names of floating IPs: PTR records in reverse zones that Designate keeps itself."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.fields import Check, integer, nullable, text
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.dns.http import LARGEST_TTL, LONGEST_DESCRIPTION, Caller, body_of, caller_of, listed
from openstack_emulator.dns.names import host_problem, reverse_name, reverse_zone
from openstack_emulator.dns.recordsets import RecordSets
from openstack_emulator.dns.zones import MANAGED_PROJECT, PRIMARY
from openstack_emulator.identity.catalog import REGION
from openstack_emulator.network.records import NetworkRecords

MAILBOX = "hostmaster@devstack.org"
_FIELDS: dict[str, Check] = {
    "ptrdname": nullable(host_problem),
    "ttl": nullable(integer(0, LARGEST_TTL)),
    "description": nullable(text(0, LONGEST_DESCRIPTION)),
}


class FloatingIpNames(Component):
    """PTR records of the network service's floating IPs. `_floating_ip` of a record set is the ID of its floating IP:
    the name does not pass to the next user of the address.
    """

    def __init__(self, records: Records, sets: RecordSets) -> None:
        super().__init__(records)
        self._sets = sets

    def floating_ips(self, caller: Caller) -> list[Record]:
        """Return the floating IPs that the caller reaches."""
        if not self.cloud.has(NetworkRecords):
            return []
        rows = self.cloud.of(NetworkRecords).floatingips.rows
        return list(rows) if caller.all_projects else rows.select(project_id=caller.project_id)

    def floating_ip(self, caller: Caller, key: str) -> Record:
        """Return the floating IP that `region:id` names. Raises ApiError 400 and 404."""
        region, separator, identifier = key.partition(":")
        if not separator:
            raise ApiError(
                400, f"{key} is not the region and the ID of a floating IP, joined by a colon", "bad_request"
            )
        found = next((row for row in self.floating_ips(caller) if row["id"] == identifier), None)
        if found is None or region != REGION:
            raise not_found(f"FloatingIP {identifier} in {region} is not associated with the project")
        return found

    def record_of(self, floating_ip: Record) -> Record | None:
        """Return the PTR record set of a floating IP."""
        rows = self._sets.rows.select(_name=reverse_name(floating_ip["floating_ip_address"]), type="PTR")
        return next((row for row in rows if row.get("_floating_ip") == floating_ip["id"]), None)

    def set(self, floating_ip: Record, fields: Record) -> Record:
        """Set the name of a floating IP, and return its record set."""
        name = reverse_name(floating_ip["floating_ip_address"])
        wanted = {"records": [fields["ptrdname"]], "ttl": fields.get("ttl"), "description": fields.get("description")}
        record = self.record_of(floating_ip)
        if record is None:
            for former in self._sets.rows.select(_name=name, type="PTR"):
                self._sets.rows.remove(former)
            zone = self._zone(floating_ip["floating_ip_address"])
            record = self._sets.put(zone, {**wanted, "name": name, "type": "PTR"}, MANAGED_PROJECT)
            self._sets.rows.update(record, _floating_ip=floating_ip["id"])
            self._sets.zones.touch(zone)
        else:
            self._sets.change(record, wanted)
        return record

    def unset(self, floating_ip: Record) -> Record | None:
        """Remove the name of a floating IP, and return its record set, if there is one."""
        record = self.record_of(floating_ip)
        if record is not None:
            self._sets.withdraw(record)
        return record

    def _zone(self, address: str) -> Record:
        """Return the reverse zone for an address; it is created for the first one."""
        zone = self._sets.zones.enclosing(reverse_name(address))
        if zone is not None and zone["type"] == PRIMARY and zone["action"] != "DELETE":
            return zone
        wanted = {"name": reverse_zone(address), "type": PRIMARY, "email": MAILBOX}
        return self._sets.zones.put(MANAGED_PROJECT, wanted)


def _view(request: Request, floating_ip: Record, record: Record | None) -> dict[str, Any]:
    key = f"{REGION}:{floating_ip['id']}"
    shown: dict[str, Any] = {"ptrdname": None, "description": None, "ttl": None, "status": "INACTIVE", "action": "NONE"}
    if record is not None:
        shown = {name: record[name] for name in ("description", "ttl", "status", "action")}
        shown["ptrdname"] = None if record["action"] == "DELETE" else record["records"][0]
    links = {"self": f"{request.base}/v2/reverse/floatingips/{key}"}
    return {"id": key, "address": floating_ip["floating_ip_address"], **shown, "links": links}


def index(names: FloatingIpNames, request: Request) -> Response:
    rows = names.floating_ips(caller_of(request))
    return listed(request, "floatingips", rows, lambda asked, row: _view(asked, row, names.record_of(row)))


def show(names: FloatingIpNames, request: Request) -> Response:
    floating_ip = names.floating_ip(caller_of(request), request.vars["floatingip_id"])
    return Response(_view(request, floating_ip, names.record_of(floating_ip)))


def update(names: FloatingIpNames, request: Request) -> Response:
    floating_ip = names.floating_ip(caller_of(request), request.vars["floatingip_id"])
    fields = body_of(request, "floatingip", _FIELDS, ("ptrdname",))
    record = names.unset(floating_ip) if fields["ptrdname"] is None else names.set(floating_ip, fields)
    return Response(_view(request, floating_ip, record), 202)


REVERSE_ROUTES = using(
    FloatingIpNames,
    {
        "/reverse/floatingips": {"GET": index},
        "/reverse/floatingips/{floatingip_id}": {"GET": show, "PATCH": update},
    },
)
