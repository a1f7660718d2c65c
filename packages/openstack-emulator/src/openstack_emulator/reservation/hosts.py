"""Hosts that can be reserved: hypervisors of the compute service, in the pool, with capabilities of the operator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.compute.hosts import RESERVATION_POOL, Aggregates
from openstack_emulator.compute.hosts import Hosts as Hypervisors
from openstack_emulator.compute.records import ComputeRecords
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.identity.service_trusts import end_trust, trust_for
from openstack_emulator.reservation.calendar import Calendar
from openstack_emulator.reservation.dates import STAMP

SERVICE_USER = "blazar"
_OWN = frozenset({"id", "name", "trust_id"})
"""Keys of a request that are no capabilities."""
_LONGEST_NAME, _LONGEST_VALUE = 64, 65535


class Hosts(Component):
    """Hosts: `{id, hypervisor_hostname, vcpus, …, capabilities}`, and the names of capabilities.

    properties: `{id (name), private, created_at, updated_at}`.
    """

    def __init__(self, records: Records, calendar: Calendar) -> None:
        super().__init__(records)
        self.rows = records.collection("hosts", missing=_missing)
        self.properties = records.collection("properties", internal=True)
        self._calendar = calendar

    @property
    def aggregates(self) -> Aggregates:
        """The aggregates of the compute service."""
        return self.cloud.of(ComputeRecords).component(Aggregates)

    @property
    def _hypervisors(self) -> Hypervisors:
        return self.cloud.of(ComputeRecords).hosts

    def seed(self) -> None:
        """Create the aggregate of the hosts in the pool, which an operator creates with the service."""
        if self.aggregates.rows.first(name=RESERVATION_POOL) is None:
            self.aggregates.create(RESERVATION_POOL, None)

    def create(self, request: Request) -> Record:
        """Put a hypervisor into the pool. Raises ApiError: 404 for an unknown one, 409 for one with servers."""
        given = request.json
        if not isinstance(given, dict):
            raise bad_request("The request body must be a JSON object.")
        key = given.get("id") or given.get("name")
        if not isinstance(key, str):
            raise forbidden(f"Invalid values for host {given}")
        found = self._hypervisor(key)
        capabilities = _capabilities({name: value for name, value in given.items() if name not in _OWN})
        if str(found["number"]) in self.rows:
            raise conflict(f"Can't add host {key}: it is in the pool already.")
        if servers := self._hypervisors.servers_on(found["id"]):
            names = ", ".join(server["id"] for server in servers)
            raise conflict(f"Servers [{names}] found for host {key}")
        pool = self.aggregates.rows.first(name=RESERVATION_POOL)
        if pool is None:
            raise not_found(f"The compute service has no aggregate {RESERVATION_POOL}.")
        service = self._hypervisors.service_of(found["id"])
        trust, is_new = trust_for(self.cloud, request, SERVICE_USER)
        self.aggregates.add_host(pool, found["id"])
        host = {
            "id": str(found["number"]),
            "hypervisor_hostname": found["id"],
            "hypervisor_type": "QEMU",
            "hypervisor_version": 8000000,
            "vcpus": found["vcpus"],
            "cpu_info": "{}",
            "memory_mb": found["memory_mb"],
            "local_gb": found["local_gb"],
            "service_name": found["id"] if service is None else service["host"],
            "reservable": True,
            "status": None,
            "trust_id": trust,
            "capabilities": capabilities,
            "created_at": self.records.timestamp(STAMP),
            "updated_at": None,
            "_trust_is_new": is_new,
        }
        self._note(capabilities)
        return self.rows.add(host)

    def change(self, host: Record, given: Any) -> None:
        """Set capabilities. Raises ApiError 409 for one that a reservation of the host requires."""
        if not isinstance(given, dict) or not given:
            raise bad_request("The request body must be a JSON object with capabilities.")
        changes = _capabilities({name: value for name, value in given.items() if name not in _OWN})
        for name, value in changes.items():
            if host["capabilities"].get(name, value) != value and self._is_required(host, name):
                raise conflict(f"Capability {name} of host {host['id']} is required by a reservation.")
        self._note(changes)
        merged = {**host["capabilities"], **changes}
        self.rows.update(host, capabilities=merged, updated_at=self.records.timestamp(STAMP))

    def remove(self, host: Record) -> None:
        """Take a host out of the pool. Raises ApiError 409 while it is reserved or has servers."""
        name = host["hypervisor_hostname"]
        if self._calendar.of_resource(host["id"]):
            raise conflict(f"Can't delete host {host['id']}. The host is reserved.")
        if servers := self._hypervisors.servers_on(name):
            names = ", ".join(server["id"] for server in servers)
            raise conflict(f"Servers [{names}] found for host {name}")
        pool = self.aggregates.rows.first(name=RESERVATION_POOL)
        if pool is not None and name in pool["hosts"]:
            self.aggregates.remove_host(pool, name)
        self.rows.remove(host)
        if host["_trust_is_new"]:
            end_trust(self.cloud, host["trust_id"])

    def has_property(self, name: str) -> bool:
        """Whether any host has a field or a capability of a name."""
        return any(name in fields_of(host) for host in self.rows)

    def _is_required(self, host: Record, name: str) -> bool:
        return any(
            f'"${name}"' in str(reservation.get(field) or "")
            for reservation in self._calendar.of_resource(host["id"])
            for field in ("resource_properties", "hypervisor_properties")
        )

    def _hypervisor(self, key: str) -> Record:
        for row in self._hypervisors.rows:
            if key in (row["id"], str(row["number"]), row["uuid"]):
                return row
        raise not_found(f"Host '{key}' not found!")

    def _note(self, capabilities: Mapping[str, Any]) -> None:
        for name in capabilities:
            if name not in self.properties:
                moment = self.records.timestamp(STAMP)
                row = {"id": name, "_key": new_id(), "private": False, "created_at": moment, "updated_at": None}
                self.properties.add(row)


def _missing(key: str) -> ApiError:
    return not_found(f"Object with {{'host_id': '{key}'}} not found")


def fields_of(host: Record) -> dict[str, Any]:
    """A host as it is shown: the capabilities are fields like the others, and cannot hide one of these."""
    own = {name: value for name, value in host.items() if name != "capabilities" and not name.startswith("_")}
    return {**host["capabilities"], **own}


def _capabilities(given: Mapping[str, Any]) -> dict[str, str]:
    """The capabilities of a request, as strings. Raises ApiError 400."""
    for name, value in given.items():
        if isinstance(value, dict | list) or value is None:
            raise bad_request(f"The value of the capability {name} must be a string.")
        if len(name) > _LONGEST_NAME:
            raise bad_request(f"Extra capability key too long: {name} has more than {_LONGEST_NAME} characters.")
        if len(str(value)) > _LONGEST_VALUE:
            raise bad_request(f"Extra capability value too long: {name} has more than {_LONGEST_VALUE} characters.")
    return {name: str(value) for name, value in given.items()}
