"""Virtual interfaces (VIFs) of nodes.

A VIF is attached to a port group, or to a port that is in no group, which then names it in its `internal_info`.
"""

from __future__ import annotations

from openstack_emulator.baremetal.records import Node, Port, PortGroup
from openstack_emulator.baremetal.rules.nodes import Nodes
from openstack_emulator.baremetal.rules.ports import Ports
from openstack_emulator.core.errors import bad_request, conflict

ATTACHED = "tenant_vif_port_id"
"""The key of `internal_info` with the VIF of a port or port group."""


class Vifs:
    """The VIFs of all nodes."""

    def __init__(self, nodes: Nodes, ports: Ports) -> None:
        self._nodes = nodes
        self._ports = ports

    def attached(self, node: Node) -> dict[str, Port | PortGroup]:
        """VIF → the port or port group of a node that it is attached to."""
        found: list[Port | PortGroup] = [
            *self._ports.groups.select(node_uuid=node.uuid),
            *self._ports.rows.select(node_uuid=node.uuid),
        ]
        return {vif: row for row in found if (vif := row.internal_info.get(ATTACHED)) is not None}

    def attach(self, node: Node, vif: str) -> None:
        """Attach a VIF to what is free. Raises ApiError 400 and 409."""
        if vif in self.attached(node):
            raise conflict(f"Unable to attach VIF because VIF {vif} is already attached to node {node.uuid}.")
        free = [row for row in self._holders(node) if ATTACHED not in row.internal_info]
        if not free:
            raise bad_request(f"Unable to attach VIF {vif} to node {node.uuid}: it has no free port or port group.")
        self._set(free[0], {**free[0].internal_info, ATTACHED: vif})

    def detach(self, node: Node, vif: str) -> None:
        """Detach a VIF. Raises ApiError 400."""
        row = self.attached(node).get(vif)
        if row is None:
            raise bad_request(f"Unable to detach VIF {vif} from node {node.uuid} because it is not attached to it.")
        self._set(row, {name: value for name, value in row.internal_info.items() if name != ATTACHED})

    def _holders(self, node: Node) -> list[Port | PortGroup]:
        """What VIFs of a node can be attached to, in the order in which they get them: groups that have ports, ports
        that a node boots from, and other ports."""
        rows = self._ports.rows.select(node_uuid=node.uuid)
        used = {row.portgroup_uuid for row in rows}
        groups = [row for row in self._ports.groups.select(node_uuid=node.uuid) if row.uuid in used]
        single = sorted((row for row in rows if row.portgroup_uuid is None), key=lambda row: not row.pxe_enabled)
        return [*groups, *single]

    def _set(self, row: Port | PortGroup, internal_info: dict[str, str]) -> None:
        row.internal_info, row.updated_at = internal_info, self._nodes.now()
        if isinstance(row, Port):
            self._ports.rows.save(row)
        else:
            self._ports.groups.save(row)
