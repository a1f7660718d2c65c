"""What the DNS service keeps. Names of hosts and domains end with a dot; a TTL is in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named

PRIMARY, SECONDARY = "PRIMARY", "SECONDARY"
"""The types of zones: with their own record sets, and with those of their masters."""


@dataclass(slots=True, kw_only=True, eq=False)
class PropagatedRecord(TypedRecord):
    """Something whose changes reach the name servers some time later.

    status: PENDING until they have the last change, then ACTIVE, or ERROR. action: the change, or NONE.
    changes: how many there were, of which only the last one is finished.
    """

    status: str
    action: str
    version: int
    created_at: str
    updated_at: str | None
    changes: int = field(metadata=named("_change"))


@dataclass(slots=True, kw_only=True, eq=False)
class Zone(PropagatedRecord):
    """A zone; `folded_name` is its name for comparisons, `is_served` says that the name servers have it."""

    pool_id: str
    project_id: str
    name: str
    email: str
    description: str | None
    masters: list[str]
    ttl: int
    serial: int
    attributes: dict[str, str]
    type: str
    transferred_at: str | None
    folded_name: str = field(metadata=named("_name"))
    is_served: bool = field(metadata=named("_serving"))


@dataclass(slots=True, kw_only=True, eq=False)
class ZoneShare(TypedRecord):
    """A zone is shared with another project than its own."""

    zone_id: str
    project_id: str
    target_project_id: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Served(Part):
    """What the name servers have of a record set; without a `ttl`, that of its zone applies."""

    records: list[str]
    ttl: int | None


@dataclass(slots=True, kw_only=True, eq=False)
class RecordSet(PropagatedRecord):
    """The records of one type that a name has; without a `ttl`, that of its zone applies.

    folded_name: the name for comparisons. is_managed: Designate keeps the set itself. served: what the name servers
    have of it, if they have something. floating_ip: the ID of the floating IP whose name this is: the name does not
    pass to the next user of the address.
    """

    zone_id: str
    project_id: str
    name: str
    zone_name: str
    type: str
    records: list[str]
    description: str | None
    ttl: int | None
    folded_name: str = field(metadata=named("_name"))
    is_managed: bool = field(metadata=named("_managed"))
    served: Served | None = field(metadata=named("_served"))
    floating_ip: str | None = field(metadata=named("_floating_ip"))

    def get(self, name: str) -> Any:
        """The value of a field; `data`, by which lists are filtered, are the records."""
        return self.records if name == "data" else TypedRecord.get(self, name)


@dataclass(slots=True, kw_only=True, eq=False)
class TransferRequest(TypedRecord):
    """A zone is offered to a project, or to every project that knows the key."""

    zone_id: str
    zone_name: str
    project_id: str
    target_project_id: str | None
    key: str
    description: str | None
    status: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class TransferAccept(TypedRecord):
    """A zone was accepted by a project."""

    zone_id: str
    project_id: str
    zone_transfer_request_id: str
    key: str
    status: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class ZoneTask(TypedRecord):
    """An import or an export of a zone: PENDING for a while, then COMPLETE or ERROR."""

    project_id: str
    zone_id: str | None
    status: str
    message: str | None
    version: int
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class ZoneImport(ZoneTask):
    """An import; `content` is the zone file until it is read, `by_administrator` says whose it is."""

    content: str | None = field(metadata=named("_content"))
    by_administrator: bool = field(metadata=named("_admin"))


@dataclass(slots=True, kw_only=True, eq=False)
class ZoneExport(ZoneTask):
    """An export, with the place of the zone file once it is complete."""

    location: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class OperatorRecord(TypedRecord):
    """What an operator has set up."""

    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class TopLevelDomain(OperatorRecord):
    """A domain, without a dot at its end, below which zones can be created."""

    name: str
    description: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Blacklist(OperatorRecord):
    """A regular expression of names that no zone may have."""

    pattern: str
    description: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class TsigKey(OperatorRecord):
    """A key that signs transfers between name servers; `resource_id` is a pool or a zone, as the scope says."""

    name: str
    algorithm: str
    secret: str
    scope: str
    resource_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class NameServer(Part):
    """A name server of a pool."""

    hostname: str
    priority: int


@dataclass(slots=True, kw_only=True, eq=False)
class Pool(OperatorRecord):
    """Name servers that have the same zones."""

    name: str
    description: str | None
    attributes: dict[str, str] | None
    ns_records: list[NameServer]
    project_id: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class ServiceStatus(TypedRecord):
    """A process of the service."""

    service_name: str
    hostname: str
    status: str
    stats: dict[str, object]
    capabilities: dict[str, object]
    created_at: str
    updated_at: str | None
