"""What the service for container clusters keeps. Sizes of volumes are in GB."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class ClusterTemplate(TypedRecord):
    """What the clusters that are made from it consist of."""

    uuid: str
    name: str
    project_id: str
    user_id: str
    created_at: str
    updated_at: str | None
    coe: str
    image_id: str
    flavor_id: str | None
    master_flavor_id: str | None
    keypair_id: str | None
    external_network_id: str | None
    fixed_network: str | None
    fixed_subnet: str | None
    dns_nameserver: str | None
    docker_volume_size: int | None
    docker_storage_driver: str | None
    network_driver: str
    volume_driver: str | None
    http_proxy: str | None
    https_proxy: str | None
    no_proxy: str | None
    apiserver_port: int | None
    labels: dict[str, str]
    tls_disabled: bool
    public: bool
    hidden: bool
    registry_enabled: bool
    insecure_registry: str | None
    server_type: str
    master_lb_enabled: bool
    floating_ip_enabled: bool
    tags: str | None
    driver: str | None
    cluster_distro: str


@dataclass(slots=True, kw_only=True, eq=False)
class Cluster(TypedRecord):
    """A cluster; its nodes are in its node groups. `create_timeout` is in minutes."""

    uuid: str
    name: str
    project_id: str
    user_id: str
    created_at: str
    updated_at: str | None
    cluster_template_id: str
    keypair: str | None
    discovery_url: str | None
    create_timeout: int
    labels: dict[str, str]
    merge_labels: bool
    docker_volume_size: int | None
    flavor_id: str | None
    master_flavor_id: str | None
    fixed_network: str | None
    fixed_subnet: str | None
    floating_ip_enabled: bool
    master_lb_enabled: bool
    stack_id: str
    status: str
    status_reason: str | None
    health_status: object
    health_status_reason: object
    api_address: str | None
    coe_version: str | None
    container_version: str | None
    faults: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class Nodes(Part):
    """The nodes that a node group gets back if its change fails."""

    node_count: int
    node_addresses: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class NodeGroup(TypedRecord):
    """The masters of a cluster, or some of its workers; `number` is its ID in the database of the service."""

    uuid: str
    name: str
    cluster_id: str
    project_id: str
    stack_id: str
    role: str
    is_default: bool
    node_count: int
    node_addresses: list[str]
    min_node_count: int
    max_node_count: int | None
    flavor_id: str | None
    image_id: str | None
    docker_volume_size: int | None
    labels: dict[str, str]
    merge_labels: bool
    version: str | None
    status: str
    status_reason: str | None
    created_at: str
    updated_at: str | None
    number: int = field(metadata=named("_number"))
    before: Nodes | None = field(metadata=named("_before"))


@dataclass(slots=True, kw_only=True, eq=False)
class Authority(TypedRecord):
    """A certificate authority of a cluster: its private key and its certificate, in PEM."""

    cluster_id: str
    key: str
    pem: str


@dataclass(slots=True, kw_only=True, eq=False)
class Quota(TypedRecord):
    """How many objects of a kind a project may have; `number` is its ID in the database of the service."""

    project_id: str
    resource: str
    hard_limit: int
    created_at: str
    updated_at: str | None
    number: int = field(metadata=named("_number"))
