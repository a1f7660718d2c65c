"""Hosts that can be reserved: hypervisors of the compute service, in the pool, with capabilities of the operator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.compute.rules.aggregates import RESERVATION_POOL
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.identity.rules.service_trusts import end_trust, trust_for
from openstack_emulator.reservation.records import Host, Property
from openstack_emulator.reservation.rules.calendar import Calendar
from openstack_emulator.reservation.rules.compute import Compute, Hypervisor
from openstack_emulator.reservation.rules.dates import STAMP

SERVICE_USER = "blazar"
_OWN = frozenset({"id", "name", "trust_id"})
"""Keys of a request that are no capabilities."""
_LONGEST_NAME, _LONGEST_VALUE = 64, 65535


class Hosts(Rules):
    """Hosts, and the names of their capabilities."""

    def __init__(self, records: Records, calendar: Calendar, compute: Compute) -> None:
        super().__init__(records)
        self.rows = records.table("hosts", Host, missing=_missing)
        self.properties = records.table("properties", Property, internal=True)
        self._calendar = calendar
        self._compute = compute

    def create(self, request: Request) -> Host:
        """Put a hypervisor into the pool. Raises ApiError: 404 for an unknown one, 409 for one with servers."""
        body = request.json
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        key = body.get("id") or body.get("name")
        if not isinstance(key, str):
            raise forbidden(f"Invalid values for host {body}")
        found = self._hypervisor(key)
        capabilities = _capabilities({name: value for name, value in body.items() if name not in _OWN})
        if found.number in self.rows:
            raise conflict(f"Can't add host {key}: it is in the pool already.")
        if servers := self._compute.servers_on(found.name):
            raise conflict(f"Servers [{', '.join(servers)}] found for host {key}")
        if not self._compute.has_aggregate(RESERVATION_POOL):
            raise not_found(f"The compute service has no aggregate {RESERVATION_POOL}.")
        trust, is_new = trust_for(self.cloud, request, SERVICE_USER)
        self._compute.add_hosts([found.name], RESERVATION_POOL)
        host = Host(
            id=found.number,
            hypervisor_hostname=found.name,
            hypervisor_type="QEMU",
            hypervisor_version=8000000,
            vcpus=found.vcpus,
            cpu_info="{}",
            memory_mb=found.memory_mb,
            local_gb=found.local_gb,
            service_name=self._compute.service_host(found.name),
            reservable=True,
            status=None,
            trust_id=trust,
            capabilities=capabilities,
            created_at=self.records.timestamp(STAMP),
            updated_at=None,
            trust_is_new=is_new,
        )
        self._note(capabilities)
        return self.rows.add(host)

    def change(self, host: Host, body: Any) -> None:
        """Set capabilities. Raises ApiError 409 for one that a reservation of the host requires."""
        if not isinstance(body, dict) or not body:
            raise bad_request("The request body must be a JSON object with capabilities.")
        changes = _capabilities({name: value for name, value in body.items() if name not in _OWN})
        for name, value in changes.items():
            if host.capabilities.get(name, value) != value and self._is_required(host, name):
                raise conflict(f"Capability {name} of host {host.id} is required by a reservation.")
        self._note(changes)
        host.capabilities, host.updated_at = {**host.capabilities, **changes}, self.records.timestamp(STAMP)
        self.rows.save(host)

    def remove(self, host: Host) -> None:
        """Take a host out of the pool. Raises ApiError 409 while it is reserved or has servers."""
        name = host.hypervisor_hostname
        if self._calendar.of_resource(host.id):
            raise conflict(f"Can't delete host {host.id}. The host is reserved.")
        if servers := self._compute.servers_on(name):
            raise conflict(f"Servers [{', '.join(servers)}] found for host {name}")
        self._compute.remove_hosts([name], RESERVATION_POOL)
        self.rows.remove(host)
        if host.trust_is_new:
            end_trust(self.cloud, host.trust_id)

    def has_property(self, name: str) -> bool:
        """Whether any host has a field or a capability of a name."""
        return any(name in fields_of(host) for host in self.rows)

    def _is_required(self, host: Host, name: str) -> bool:
        return any(
            f'"${name}"' in str(reservation.get(field) or "")
            for reservation in self._calendar.of_resource(host.id)
            for field in ("resource_properties", "hypervisor_properties")
        )

    def _hypervisor(self, key: str) -> Hypervisor:
        found = self._compute.hypervisor(key)
        if found is None:
            raise not_found(f"Host '{key}' not found!")
        return found

    def _note(self, capabilities: Mapping[str, object]) -> None:
        for name in capabilities:
            if name not in self.properties:
                moment = self.records.timestamp(STAMP)
                self.properties.add(Property(id=name, key=new_id(), private=False, created_at=moment, updated_at=None))


def _missing(key: str) -> ApiError:
    return not_found(f"Object with {{'host_id': '{key}'}} not found")


def fields_of(host: Host) -> dict[str, object]:
    """A host as it is shown: the capabilities are fields like the others, and cannot hide one of these."""
    own = {name: value for name, value in host.to_json().items() if name != "capabilities" and not name.startswith("_")}
    return {**host.capabilities, **own}


def _capabilities(body: Mapping[str, object]) -> dict[str, str]:
    """The capabilities of a request, as strings. Raises ApiError 400."""
    for name, value in body.items():
        if isinstance(value, dict | list) or value is None:
            raise bad_request(f"The value of the capability {name} must be a string.")
        if len(name) > _LONGEST_NAME:
            raise bad_request(f"Extra capability key too long: {name} has more than {_LONGEST_NAME} characters.")
        if len(str(value)) > _LONGEST_VALUE:
            raise bad_request(f"Extra capability value too long: {name} has more than {_LONGEST_VALUE} characters.")
    return {name: str(value) for name, value in body.items()}
