"""What the shared file systems service keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class ShareType(TypedRecord):
    """A share type; `projects` are those that may use a private one."""

    name: str
    description: str | None
    is_public: bool
    extra_specs: dict[str, str]
    created_at: str
    projects: list[str] = field(metadata=named("_projects"))


@dataclass(slots=True, kw_only=True, eq=False)
class ShareCapabilities(Part):
    """What can be done with a share: that follows from its type when it is created."""

    snapshot_support: bool
    create_share_from_snapshot_support: bool
    revert_to_snapshot_support: bool
    mount_snapshot_support: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Export(Part):
    """Where clients find a share."""

    id: str
    path: str
    created_at: str
    updated_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class Share(TypedRecord):
    """A share.

    size: in GiB. scheduled_to_be_deleted_at: when the recycle bin is emptied of it. request_id: the request that
    messages about the share name.
    """

    name: str | None
    description: str | None
    size: int
    share_proto: str
    status: str
    is_public: bool
    metadata: dict[str, str]
    snapshot_id: str | None
    share_network_id: str | None
    share_type_id: str
    share_server_id: str | None
    availability_zone: str | None
    host: str
    project_id: str
    user_id: str
    progress: str
    task_state: str | None
    is_soft_deleted: bool
    scheduled_to_be_deleted_at: str | None
    created_at: str
    updated_at: str | None
    abilities: ShareCapabilities = field(metadata=named("_abilities"))
    exports: list[Export] = field(metadata=named("_exports"))
    request_id: str | None = field(metadata=named("_request_id"))


@dataclass(slots=True, kw_only=True, eq=False)
class AccessRule(TypedRecord):
    """Who may mount a share: a network, a user, a certificate's name or a Ceph ID."""

    share_id: str
    access_type: str
    access_to: str
    access_level: str
    access_key: str | None
    state: str
    metadata: dict[str, str]
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Snapshot(TypedRecord):
    """A snapshot of a share; `share_size` is that of the share when it was taken."""

    share_id: str
    name: str | None
    description: str | None
    status: str
    size: int
    share_size: int
    share_proto: str
    project_id: str
    user_id: str
    metadata: dict[str, str]
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class ShareNetwork(TypedRecord):
    """A share network; `security_services` are ids."""

    name: str | None
    description: str | None
    project_id: str
    created_at: str
    updated_at: str | None
    security_services: list[str] = field(metadata=named("_security_services"))


@dataclass(slots=True, kw_only=True, eq=False)
class Subnet(TypedRecord):
    """A subnet of a share network; the first one of a share network is its default.

    share_server_id: the server of the shares on it, which is created with the first of them. From then on, the fields
    after `neutron_subnet_id` are those of the network service.
    """

    share_network_id: str
    availability_zone: str | None
    metadata: dict[str, str]
    created_at: str
    updated_at: str | None
    neutron_net_id: str | None
    neutron_subnet_id: str | None
    network_type: str | None
    segmentation_id: int | None
    cidr: str | None
    ip_version: int | None
    gateway: str | None
    mtu: int | None
    share_server_id: str | None = field(metadata=named("_share_server_id"))


@dataclass(slots=True, kw_only=True, eq=False)
class SecurityService(TypedRecord):
    """A directory by which share servers know users; `ou` is an organizational unit."""

    name: str | None
    description: str | None
    type: str
    dns_ip: str | None
    server: str | None
    domain: str | None
    user: str | None
    password: str | None
    ou: str | None
    status: str
    project_id: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Message(TypedRecord):
    """Why an operation that had been accepted has failed; `expires_at` then it is kept."""

    project_id: str
    resource_type: str
    resource_id: str
    action_id: str
    detail_id: str
    message_level: str
    user_message: str
    request_id: str | None
    created_at: str
    expires_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class UnmanagedShare(TypedRecord):
    """What is on the back end and unknown to Manila, under the path of its export."""

    size: int
    share_proto: str
