"""What requests want to be created, with values that were checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from openstack_emulator.database.records import Access, Database, User

REGION = "RegionOne"


@dataclass(frozen=True, kw_only=True)
class Flavor:
    """A flavor of the compute service, with memory in MiB."""

    id: str
    name: str
    ram: int
    vcpus: int
    disk: int
    ephemeral: int

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """The flavor that the compute service has shown."""
        names = ("id", "name", "ram", "vcpus", "disk")
        return cls(**{name: found[name] for name in names}, ephemeral=found["OS-FLV-EXT-DATA:ephemeral"])


@dataclass(frozen=True, kw_only=True)
class Nic:
    """A connection to a network: by a port that exists, or by a new one."""

    network_id: str | None
    port_id: str | None
    subnet_id: str | None
    address: str | None

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """The connection in a request, in which some fields have two names."""
        return cls(
            network_id=body.get("net-id") or body.get("network_id"),
            port_id=body.get("port-id"),
            subnet_id=body.get("subnet_id"),
            address=body.get("v4-fixed-ip") or body.get("ip_address"),
        )


@dataclass(frozen=True, kw_only=True)
class NewInstance:
    """An instance; with a fault, its creation will fail."""

    name: str
    flavor: Flavor
    volume_size: int
    volume_type: str | None
    datastore_version_id: str
    availability_zone: str | None
    region: str
    locality: str | None
    nics: tuple[Nic, ...]
    access: Access | None = None
    databases: list[Database] = field(default_factory=list)
    users: list[User] = field(default_factory=list)
    root_enabled: bool = False
    replica_of: str | None = None
    configuration_id: str | None = None
    type: str | None = None
    cluster_id: str | None = None
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewBackup:
    """A backup; without a container, it goes where the strategies say."""

    name: str
    description: str | None
    parent_id: str | None
    incremental: bool
    container: str | None


@dataclass(frozen=True, kw_only=True)
class NewVersion:
    """A version of a datastore, which is made if it is new."""

    datastore: str
    manager: str
    name: str
    is_default: bool
    active: bool = True
    version: str
    image: str | None = None
    image_tags: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
