"""Names of floating IPs: PTR records in reverse zones that Designate keeps itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.dns.records import PRIMARY, RecordSet, Zone
from openstack_emulator.dns.rules.callers import Caller
from openstack_emulator.dns.rules.inputs import NewName, NewRecordSet, NewZone
from openstack_emulator.dns.rules.names import reverse_name, reverse_zone
from openstack_emulator.dns.rules.recordsets import RecordSets
from openstack_emulator.dns.rules.zones import MANAGED_PROJECT
from openstack_emulator.identity.rules.catalog import REGION
from openstack_emulator.network.rules.composition import NetworkService

MAILBOX = "hostmaster@devstack.org"


@dataclass(frozen=True)
class FloatingIp:
    """A floating IP of the network service."""

    id: str
    address: str
    created_at: str | None
    updated_at: str | None

    def get(self, name: str) -> Any:
        """The value of a field; None for an unknown name. For names that requests give."""
        return getattr(self, name, None)


class FloatingIpNames(Rules):
    """PTR records of the network service's floating IPs."""

    def __init__(self, records: Records, sets: RecordSets) -> None:
        super().__init__(records)
        self._sets = sets

    def floating_ips(self, caller: Caller) -> list[FloatingIp]:
        """Return the floating IPs that the caller reaches."""
        if not self.cloud.has(NetworkService):
            return []
        rows = self.cloud.of(NetworkService).floatingips.rows
        found = list(rows) if caller.all_projects else rows.select(project_id=caller.project_id)
        return [FloatingIp(row.id, row.floating_ip_address, row.created_at, row.updated_at) for row in found]

    def floating_ip(self, caller: Caller, key: str) -> FloatingIp:
        """Return the floating IP that `region:id` names. Raises ApiError 400 and 404."""
        region, separator, identifier = key.partition(":")
        if not separator:
            raise ApiError(
                400, f"{key} is not the region and the ID of a floating IP, joined by a colon", "bad_request"
            )
        found = next((row for row in self.floating_ips(caller) if row.id == identifier), None)
        if found is None or region != REGION:
            raise not_found(f"FloatingIP {identifier} in {region} is not associated with the project")
        return found

    def record_of(self, floating_ip: FloatingIp) -> RecordSet | None:
        """Return the PTR record set of a floating IP."""
        return self._sets.rows.first(
            folded_name=reverse_name(floating_ip.address), type="PTR", floating_ip=floating_ip.id
        )

    def set(self, floating_ip: FloatingIp, new_name: NewName) -> RecordSet:
        """Set the name of a floating IP, and return its record set."""
        record = self.record_of(floating_ip)
        if record is None:
            return self._create(floating_ip, new_name)
        changes = {"records": [new_name.host], "ttl": new_name.ttl, "description": new_name.description}
        self._sets.change(record, changes)
        return record

    def unset(self, floating_ip: FloatingIp) -> RecordSet | None:
        """Remove the name of a floating IP, and return its record set, if there is one."""
        record = self.record_of(floating_ip)
        if record is not None:
            self._sets.withdraw(record)
        return record

    def _create(self, floating_ip: FloatingIp, new_name: NewName) -> RecordSet:
        """Name a floating IP in place of a former one with its address."""
        name = reverse_name(floating_ip.address)
        for former in self._sets.rows.select(folded_name=name, type="PTR"):
            self._sets.rows.remove(former)
        zone = self._zone(floating_ip.address)
        new = NewRecordSet(
            name=name, type="PTR", records=[new_name.host], ttl=new_name.ttl, description=new_name.description
        )
        record = self._sets.put(zone, new, MANAGED_PROJECT)
        record.floating_ip = floating_ip.id
        self._sets.rows.save(record)
        self._sets.zones.touch(zone)
        return record

    def _zone(self, address: str) -> Zone:
        """Return the reverse zone for an address; it is created for the first one."""
        zone = self._sets.zones.enclosing(reverse_name(address))
        if zone is not None and zone.type == PRIMARY and zone.action != "DELETE":
            return zone
        return self._sets.zones.put(MANAGED_PROJECT, NewZone(name=reverse_zone(address), type=PRIMARY, email=MAILBOX))
