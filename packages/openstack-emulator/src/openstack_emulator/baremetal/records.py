"""What the bare-metal service keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class BareMetalRecord(TypedRecord):
    """What all objects have."""

    uuid: str
    created_at: str
    updated_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class BootDevice(Part):
    """What a node boots from: next time, or always."""

    boot_device: str
    persistent: bool | None


@dataclass(slots=True, kw_only=True, eq=False)
class Node(BareMetalRecord):
    """A machine. `reservation` is the conductor that does something to it, `recorded_fault` why it is in
    maintenance."""

    name: str | None
    driver: str
    driver_info: dict[str, object]
    driver_internal_info: dict[str, object]
    properties: dict[str, Any]
    extra: dict[str, Any]
    chassis_uuid: str | None
    instance_uuid: str | None
    instance_info: dict[str, object]
    power_state: str | None
    target_power_state: str | None
    provision_state: str
    target_provision_state: str | None
    provision_updated_at: str | None
    last_error: str | None
    reservation: str | None
    maintenance: bool | None
    maintenance_reason: object
    console_enabled: bool
    inspection_finished_at: str | None
    inspection_started_at: str | None
    clean_step: dict[str, object]
    deploy_step: dict[str, object]
    raid_config: dict[str, object]
    target_raid_config: dict[str, object]
    resource_class: str | None
    bios_interface: str | None
    boot_interface: str | None
    console_interface: str | None
    deploy_interface: str | None
    inspect_interface: str | None
    management_interface: str | None
    network_interface: str | None
    power_interface: str | None
    raid_interface: str | None
    rescue_interface: str | None
    storage_interface: str | None
    vendor_interface: str | None
    traits: list[str]
    conductor_group: str
    automated_clean: bool | None
    protected: bool | None
    protected_reason: str | None
    conductor: str
    owner: str | None
    description: str | None
    allocation_uuid: str | None
    retired: bool | None
    retired_reason: str | None
    lessee: str | None
    network_data: dict[str, object]
    boot_mode: str | None
    secure_boot: bool | None
    recorded_fault: str | None = field(metadata=named("fault"))
    boot_device: BootDevice = field(metadata=named("_boot_device"))


@dataclass(slots=True, kw_only=True, eq=False)
class VifHolder(BareMetalRecord):
    """What VIFs are attached to; `internal_info` names the VIF."""

    node_uuid: str
    internal_info: dict[str, str]
    extra: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class Port(VifHolder):
    """A network interface of a node."""

    address: str
    pxe_enabled: bool | None
    local_link_connection: dict[str, str]
    portgroup_uuid: str | None
    physical_network: str | None
    is_smartnic: bool | None


@dataclass(slots=True, kw_only=True, eq=False)
class PortGroup(VifHolder):
    """Ports of a node that are used as one."""

    name: str | None
    address: str | None
    standalone_ports_supported: bool | None
    mode: str
    properties: dict[str, Any]


@dataclass(slots=True, kw_only=True, eq=False)
class Chassis(BareMetalRecord):
    """Nodes in one enclosure."""

    description: str | None
    extra: dict[str, Any]


@dataclass(slots=True, kw_only=True, eq=False)
class Allocation(BareMetalRecord):
    """A request for a node, and the node that it was given."""

    name: str | None
    node_uuid: str | None
    state: str
    last_error: str | None
    resource_class: str
    traits: list[str]
    candidate_nodes: list[str]
    extra: dict[str, object]
    owner: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class NodeVolume(BareMetalRecord):
    """What connects a node to a volume."""

    node_uuid: str
    extra: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class VolumeConnector(NodeVolume):
    """A connector, by which a node reaches a storage network."""

    type: str
    connector_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class VolumeTarget(NodeVolume):
    """A volume of a node."""

    volume_type: str
    boot_index: int | str
    volume_id: str
    properties: dict[str, Any]


@dataclass(slots=True, kw_only=True, eq=False)
class DeployTemplate(BareMetalRecord):
    """Steps that a node with their trait takes when it is deployed."""

    name: str
    steps: list[dict[str, Any]]
    extra: dict[str, Any]
