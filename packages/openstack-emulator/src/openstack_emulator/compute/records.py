"""What the compute service keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Flavor(TypedRecord):
    """A size of servers; `projects` are those that may use a private one.

    ram and swap: in MiB. disk and ephemeral: in GiB.
    """

    name: str
    ram: int
    vcpus: int
    disk: int
    ephemeral: int
    swap: int
    rxtx_factor: float
    is_public: bool
    description: str | None
    extra_specs: dict[str, str]
    projects: list[str] = field(metadata=named("_projects"))


@dataclass(slots=True, kw_only=True, eq=False)
class ServerFlavor(Part):
    """The part of a flavor that a server keeps: the flavor may be changed or deleted."""

    id: str
    name: str
    ram: int
    vcpus: int
    disk: int
    ephemeral: int
    swap: int
    extra_specs: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class Failure(Part):
    """Why a server is in error, as clients see it."""

    code: int
    created: str
    message: str


@dataclass(slots=True, kw_only=True, eq=False)
class Creator(Part):
    """The properties of a server's images that say who created the server."""

    boot_roles: str
    owner_user_name: str
    owner_project_name: str


@dataclass(slots=True, kw_only=True, eq=False)
class InjectedFile(Part):
    """A file that the user has given a server; `contents` are in base64."""

    path: str
    contents: str


@dataclass(slots=True, kw_only=True, eq=False)
class RequestedInterface(Part):
    """An interface that a new server is to get: the port `port`, or one of the network `uuid`."""

    uuid: str | None = None
    port: str | None = None
    fixed_ip: str | None = None
    tag: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class RequestedDevice(Part):
    """A volume that a new server is to get: the existing one `volume_id`, or one that `volume` asks Cinder for."""

    boot_index: int | None
    delete_on_termination: bool
    device: str | None
    tag: str | None
    volume_id: str | None = None
    volume: dict[str, object] | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class ServerPlacement(Part):
    """Where a server is and how large: before a resize or migration, or after it.

    vm_state: None for the one after it.
    """

    flavor: ServerFlavor
    host: str | None
    vm_state: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Server(TypedRecord):
    """A server.

    power_state: a number of the API, see `rules.states`. image_id: empty for a server that boots from a volume.
    failure: why it is in error. zone_asked, host_asked, networks, security_groups (ids), devices, hints: what the
    request for it named. image_name, image_properties: those of its image, when it got that. guest_password: encrypted
    by the guest. old, new, target, was_stopped, shelved_image: what the end of the operation in progress needs, or of
    the one that follows.
    """

    name: str
    project_id: str
    user_id: str
    vm_state: str
    task_state: str | None
    power_state: int
    host: str | None
    created: str
    updated: str
    launched_at: str | None
    locked_by: str | None
    locked_reason: str | None
    failure: Failure | None = field(metadata=named("fault"))
    tags: list[str]
    number: int
    image_id: str
    flavor: ServerFlavor
    key_name: str | None
    metadata: dict[str, str]
    description: str | None
    config_drive: str
    user_data: str | None
    disk_config: str
    access_ip_v4: str
    access_ip_v6: str
    trusted_image_certificates: list[str] | None
    reservation_id: str
    zone_asked: str | None
    hostname: str
    launch_index: int
    creator: Creator | None = field(metadata=named("_creator"))
    image_name: str = field(metadata=named("_image_name"))
    image_properties: dict[str, Any] = field(metadata=named("_image_properties"))
    files: list[InjectedFile] = field(metadata=named("_files"))
    host_asked: str | None = field(metadata=named("_host_asked"))
    networks: list[RequestedInterface] = field(metadata=named("_networks"))
    security_groups: list[str] = field(metadata=named("_security_groups"))
    devices: list[RequestedDevice] = field(metadata=named("_devices"))
    hints: dict[str, object] = field(metadata=named("_hints"))
    guest_password: str = field(default="", metadata=named("_guest_password"))
    old: ServerPlacement | None = field(default=None, metadata=named("_old"))
    new: ServerPlacement | None = field(default=None, metadata=named("_new"))
    target: str | None = field(default=None, metadata=named("_target"))
    was_stopped: bool = field(default=False, metadata=named("_was_stopped"))
    shelved_image: str | None = field(default=None, metadata=named("_shelved_image"))


@dataclass(slots=True, kw_only=True, eq=False)
class BlockDevice(TypedRecord):
    """A volume of a server. attachment_id: None until Cinder has made a new volume."""

    server_id: str
    tag: str | None
    delete_on_termination: bool
    boot_index: int | None
    device: str
    volume_id: str
    attachment_id: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Interface(TypedRecord):
    """A port of a server, under its id. created: the port was created for the server, and goes with it."""

    server_id: str
    created: bool
    tag: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Keypair(TypedRecord):
    """A public key; `id` is the user and the name, with a colon between them."""

    user_id: str
    name: str
    type: str
    public_key: str
    fingerprint: str
    created_at: str
    number: int


@dataclass(slots=True, kw_only=True, eq=False)
class ServerGroup(TypedRecord):
    """Servers that are to be on the same host, or on different ones; `members` are the ids of servers."""

    name: str
    policy: str
    rules: dict[str, int]
    members: list[str]
    project_id: str
    user_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class ReservedCapacity(Part):
    """For how many servers of a reservation there is room on all of its hosts, and on each."""

    total: int
    on_one_host: int


@dataclass(slots=True, kw_only=True, eq=False)
class Aggregate(TypedRecord):
    """An aggregate of hosts. reserved: for a reservation of servers, their number; None for other aggregates."""

    uuid: str
    name: str
    hosts: list[str]
    metadata: dict[str, str]
    created_at: str
    updated_at: str | None
    reserved: ReservedCapacity | None = field(default=None, metadata=named("_reserved"))


@dataclass(slots=True, kw_only=True, eq=False)
class Host(TypedRecord):
    """A compute host, under its name."""

    uuid: str
    number: int
    vcpus: int
    memory_mb: int
    local_gb: int


@dataclass(slots=True, kw_only=True, eq=False)
class ServiceProcess(TypedRecord):
    """A process of Nova on a host."""

    number: int
    binary: str
    host: str
    disabled: bool
    disabled_reason: str | None
    forced_down: bool


@dataclass(slots=True, kw_only=True, eq=False)
class Event(TypedRecord):
    """What was done to a server, under the id of the request; project and user are those of the caller."""

    server_id: str
    project_id: str | None
    server_project_id: str
    user_id: str
    action: str
    start: str
    updated: str
    finish: str | None
    result: str | None
    message: str | None
    host: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Migration(TypedRecord):
    """A move of a server between hosts; flavors are ids."""

    number: int
    server_id: str
    kind: str
    status: str
    source: str | None
    target: str
    old_flavor: str
    new_flavor: str
    project_id: str
    user_id: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Usage(TypedRecord):
    """What a server used since it was launched; `ended_at` is None while it exists. Memory is in MiB, disks in GiB."""

    instance_id: str
    tenant_id: str
    name: str
    flavor: str
    vcpus: int
    memory_mb: int
    local_gb: int
    state: str
    started_at: str
    ended_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Console(TypedRecord):
    """Access to the screen of a server, under its token; `until` is in seconds since the epoch."""

    server_id: str
    until: float


@dataclass(slots=True, kw_only=True, eq=False)
class Counter(TypedRecord):
    """The last number that was given to keypairs, servers, hosts, services, aggregates or migrations."""

    last: int
