"""What the reservation service keeps. Dates are as `rules.dates.written` writes them; such strings sort by time."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.core.typed import TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class TimestampedRecord(TypedRecord):
    """What was created and changed at some time."""

    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Lease(TimestampedRecord):
    """A lease, whose reservations begin and end with it; `trust_is_new` if the trust was made for it."""

    name: str
    project_id: str
    user_id: str
    start_date: str
    end_date: str
    before_end_date: str
    status: str
    degraded: bool
    trust_id: str
    trust_is_new: bool = field(metadata=named("_trust_is_new"))


@dataclass(slots=True, kw_only=True, eq=False)
class Reservation(TimestampedRecord):
    """A reservation of some type; fields that only others have are None."""

    lease_id: str
    resource_id: str
    resource_type: str
    status: str
    missing_resources: bool
    resources_changed: bool
    hypervisor_properties: str | None = None
    resource_properties: str | None = None
    min: int | None = None
    max: int | None = None
    before_end: str | None = None
    aggregate_id: int | None = None
    vcpus: int | None = None
    memory_mb: int | None = None
    disk_gb: int | None = None
    amount: int | None = None
    affinity: bool | None = None
    flavor_id: str | None = None
    server_group_id: str | None = None
    network_id: object = None
    required_floatingips: list[str] | None = None
    extra_specs: dict[str, str] | None = field(default=None, metadata=named("_extra_specs"))


@dataclass(slots=True, kw_only=True, eq=False)
class Allocation(TypedRecord):
    """A resource (a host, or an address) that a reservation has, until it ends."""

    reservation_id: str
    resource_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Event(TimestampedRecord):
    """An event of a lease; its status is UNDONE, DONE or ERROR."""

    lease_id: str
    event_type: str
    time: str
    status: str


@dataclass(slots=True, kw_only=True, eq=False)
class Host(TimestampedRecord):
    """A host that can be reserved; `trust_is_new` if the trust was made for it."""

    hypervisor_hostname: str
    hypervisor_type: str
    hypervisor_version: int
    vcpus: int
    cpu_info: str
    memory_mb: int
    local_gb: int
    service_name: str
    reservable: bool
    status: str | None
    trust_id: str
    capabilities: dict[str, str]
    trust_is_new: bool = field(metadata=named("_trust_is_new"))


@dataclass(slots=True, kw_only=True, eq=False)
class Property(TimestampedRecord):
    """The name of a capability, which is its `id`; `key` is the ID that clients see."""

    private: bool
    key: str = field(metadata=named("_key"))


@dataclass(slots=True, kw_only=True, eq=False)
class Address(TimestampedRecord):
    """A floating IP that can be reserved."""

    floating_network_id: str
    subnet_id: str
    floating_ip_address: str
    reservable: bool
