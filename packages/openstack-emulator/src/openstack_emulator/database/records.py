"""What the database service keeps. Sizes of volumes are in GiB, memory is in MiB."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Datastore(TypedRecord):
    """A kind of database servers; `default_version` is the id of one."""

    name: str
    default_version: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class DatastoreVersion(TypedRecord):
    """A version of a datastore; the manager decides which parameters there are."""

    datastore_id: str
    name: str
    manager: str
    active: bool
    version: str | None
    image: str | None
    image_tags: list[str]
    packages: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class Database(Part):
    """A database on the server of an instance."""

    name: str
    character_set: str
    collate: str


@dataclass(slots=True, kw_only=True, eq=False)
class User(Part):
    """A user of the server of an instance, known by name and host (`%` means any), and the databases it may use."""

    name: str
    host: str
    password: str
    databases: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class Address(Part):
    """An address of an instance; `network` is the ID of its network."""

    address: str
    type: str
    network: str


@dataclass(slots=True, kw_only=True, eq=False)
class Access(Part):
    """Who may reach an instance from outside."""

    is_public: bool
    allowed_cidrs: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class Failure(Part):
    """Why an instance is in ERROR."""

    message: str
    created: str
    details: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Instance(TypedRecord):
    """A database server.

    type: what it is in its cluster. ports: those that are deleted with it, given_ports: those that are released then.
    """

    cluster_id: str | None
    type: str | None
    replica_of: str | None
    configuration_id: str | None
    databases: list[Database]
    users: list[User]
    root_enabled: bool
    addresses: list[Address]
    name: str
    flavor_id: str
    volume_size: int
    volume_type: str | None
    datastore_version_id: str
    availability_zone: str | None
    region: str
    locality: str | None
    access: Access | None
    project_id: str
    hostname: str
    status: str
    created: str
    updated: str
    failure: Failure | None = field(metadata=named("fault"))
    ram: int = field(metadata=named("_ram"))
    ports: list[str] = field(metadata=named("_ports"))
    given_ports: list[str] = field(metadata=named("_given_ports"))
    is_deleting: bool = field(metadata=named("_deleting"))


@dataclass(slots=True, kw_only=True, eq=False)
class Contents(Part):
    """What a backup contains."""

    databases: list[Database]
    users: list[User]


@dataclass(slots=True, kw_only=True, eq=False)
class Backup(TypedRecord):
    """A backup of an instance; an incremental one builds on its parent."""

    project_id: str
    name: str
    description: str | None
    instance_id: str
    parent_id: str | None
    datastore_version_id: str
    location: str = field(metadata=named("locationRef"))
    size: int
    status: str
    created: str
    updated: str
    contents: Contents = field(metadata=named("_contents"))


@dataclass(slots=True, kw_only=True, eq=False)
class BackupStrategy(TypedRecord):
    """The container of the backups of an instance, or, without one (`""`), of a project."""

    project_id: str
    instance_id: str
    swift_container: str


@dataclass(slots=True, kw_only=True, eq=False)
class Configuration(TypedRecord):
    """A configuration group: values of parameters by name."""

    project_id: str
    name: str
    description: str | None
    values: dict[str, Any]
    datastore_version_id: str
    created: str
    updated: str


@dataclass(slots=True, kw_only=True, eq=False)
class Cluster(TypedRecord):
    """A cluster of instances, and what is being done to it."""

    project_id: str
    name: str
    datastore_version_id: str
    locality: str | None
    task: str
    created: str
    updated: str
