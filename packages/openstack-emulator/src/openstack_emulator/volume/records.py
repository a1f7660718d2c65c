"""What the block-storage service keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Volume(TypedRecord):
    """A volume.

    size: in GiB. previous: the status to return to. request_id: the request that messages about the volume name.
    content: what the volume is a copy of (`GuestDriver.copy_content`).
    """

    name: str | None
    description: str | None
    status: str
    size: int
    project_id: str
    user_id: str
    volume_type_id: str
    availability_zone: str
    created_at: str
    updated_at: str | None
    snapshot_id: str | None
    source_volid: str | None
    bootable: bool
    encrypted: bool
    multiattach: bool
    metadata: dict[str, str]
    image_metadata: dict[str, str]
    migration_status: str | None
    group_id: str | None
    previous: str | None = field(metadata=named("_previous"))
    request_id: str | None = field(metadata=named("_request_id"))
    content: str | None = field(metadata=named("_content"))


@dataclass(slots=True, kw_only=True, eq=False)
class Attachment(TypedRecord):
    """A volume attached to a server (`instance`) or a host.

    connector: what the host says of itself, as JSON.
    """

    volume_id: str
    project_id: str
    instance: str | None
    status: str
    attach_mode: str
    device: str | None
    host_name: str | None
    connector: dict[str, object] | None
    attached_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Snapshot(TypedRecord):
    """A snapshot of a volume; `previous` is the status to return to."""

    name: str | None
    description: str | None
    status: str
    progress: str
    size: int
    volume_id: str
    volume_type_id: str
    project_id: str
    user_id: str
    metadata: dict[str, str]
    group_snapshot_id: str | None
    created_at: str
    updated_at: str | None
    previous: str | None = field(metadata=named("_previous"))


@dataclass(slots=True, kw_only=True, eq=False)
class VolumeProperties(Part):
    """What a backup contains of its volume. Not that it is bootable: that follows from an image's metadata."""

    name: str | None
    description: str | None
    metadata: dict[str, str]
    image_metadata: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class Backup(TypedRecord):
    """A backup of a volume or of its snapshot; with a `parent_id`, an incremental one.

    volume_properties: None for an imported backup whose record had none.
    """

    project_id: str
    user_id: str
    created_at: str
    updated_at: str | None
    data_timestamp: str
    fail_reason: str | None
    object_count: int
    volume_properties: VolumeProperties | None
    name: str | None
    description: str | None
    status: str
    size: int
    volume_id: str
    snapshot_id: str | None
    container: str | None
    metadata: dict[str, str]
    parent_id: str | None
    availability_zone: str


@dataclass(slots=True, kw_only=True, eq=False)
class Transfer(TypedRecord):
    """An offer of a volume to whoever knows the key."""

    name: str | None
    volume_id: str
    project_id: str
    created_at: str
    source_project_id: str
    destination_project_id: str | None
    accepted: bool
    no_snapshots: bool
    auth_key: str = field(metadata=named("_auth_key"))


@dataclass(slots=True, kw_only=True, eq=False)
class Encryption(Part):
    """How the volumes of a type are encrypted."""

    volume_type_id: str
    encryption_id: str
    cipher: str | None
    key_size: int | None
    control_location: str
    provider: str
    created_at: str
    updated_at: str | None
    deleted_at: str | None
    deleted: bool


@dataclass(slots=True, kw_only=True, eq=False)
class VolumeType(TypedRecord):
    """A volume type; `projects` are those that may use a private one."""

    name: str
    description: str | None
    is_public: bool
    extra_specs: dict[str, str]
    qos_specs_id: str | None
    projects: list[str] = field(metadata=named("_projects"))
    encryption: Encryption | None = field(metadata=named("_encryption"))


@dataclass(slots=True, kw_only=True, eq=False)
class Qos(TypedRecord):
    """QoS specs."""

    name: str
    consumer: str
    specs: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class GroupType(TypedRecord):
    """A type of volume groups."""

    name: str
    description: str | None
    is_public: bool
    group_specs: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class Group(TypedRecord):
    """A group of volumes; `group_type` and `volume_types` are ids."""

    name: str | None
    description: str | None
    status: str
    project_id: str
    user_id: str
    group_type: str
    volume_types: list[str]
    availability_zone: str
    group_snapshot_id: str | None
    source_group_id: str | None
    created_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class GroupSnapshot(TypedRecord):
    """Snapshots of all volumes of a group."""

    name: str | None
    description: str | None
    status: str
    project_id: str
    user_id: str
    group_id: str
    group_type_id: str
    created_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class Message(TypedRecord):
    """Why a request failed after it had been accepted; `guaranteed_until` then it is kept."""

    project_id: str
    request_id: str
    resource_type: str
    resource_uuid: str
    event_id: str
    message_level: str
    user_message: str
    created_at: str
    guaranteed_until: str


@dataclass(slots=True, kw_only=True, eq=False)
class BackendObject(TypedRecord):
    """What is on the back end and unknown to Cinder, under its name there.

    source: the name of the volume of a snapshot; None for a volume.
    """

    size: int
    source: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class ServiceProcess(TypedRecord):
    """A process of Cinder on a host; a frozen back end gets no new volumes."""

    binary: str
    host: str
    zone: str
    disabled: bool
    disabled_reason: str | None
    frozen: bool
