"""The bare-metal service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Chassis, Node, VolumeConnector, VolumeTarget
from openstack_emulator.baremetal.rules.allocations import Allocations
from openstack_emulator.baremetal.rules.nodes import Nodes
from openstack_emulator.baremetal.rules.ports import Ports
from openstack_emulator.baremetal.rules.states import States
from openstack_emulator.baremetal.rules.templates import Templates
from openstack_emulator.baremetal.rules.vifs import Vifs
from openstack_emulator.baremetal.rules.volumes import Volumes
from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.core.errors import not_found


class BareMetal(Records):
    """Nodes with their ports and volumes, chassis, allocations and deploy templates."""

    service = "ironic"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.chassis = self.table(
            "chassis", Chassis, missing=lambda key: not_found(f"Chassis {key} could not be found.")
        )
        self.nodes = Nodes(self, self.chassis)
        self.states = States(self, self.nodes)
        self.ports = Ports(self, self.nodes)
        self.vifs = Vifs(self.nodes, self.ports)
        self.connectors = Volumes(
            self, self.nodes, VolumeConnector, "volume_connectors", "volume connector", ("type", "connector_id")
        )
        self.targets = Volumes(
            self, self.nodes, VolumeTarget, "volume_targets", "volume target", ("node_uuid", "boot_index")
        )
        self.templates = Templates(self)
        self.allocations = Allocations(self, self.nodes)

    def seed(self) -> None:
        """Add the nodes of a new cloud."""
        self.nodes.seed()

    def delete_node(self, node: Node) -> None:
        """Remove a node with its ports and volumes. Raises ApiError 403 and 409."""
        self.nodes.delete(node)
        self.ports.forget_node(node.uuid)
        self.connectors.forget_node(node.uuid)
        self.targets.forget_node(node.uuid)
