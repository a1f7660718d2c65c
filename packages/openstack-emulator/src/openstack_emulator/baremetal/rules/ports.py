"""Ports of nodes, and groups of ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openstack_emulator.baremetal.records import Node, Port, PortGroup
from openstack_emulator.baremetal.rules.access import may_see_node, require_unlocked
from openstack_emulator.baremetal.rules.forms import is_reference
from openstack_emulator.baremetal.rules.nodes import Nodes
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.validation.conversions import as_boolean

CONNECTIVITY = ("pxe_enabled", "portgroup_uuid", "physical_network", "local_link_connection")
_CHANGEABLE = ("enroll", "inspecting", "inspect wait", "manageable")
"""Provision states of a node in which the connectivity of its ports can be changed; in maintenance it can in all."""


class Ports(Rules):
    """All ports and port groups."""

    def __init__(self, records: Records, nodes: Nodes) -> None:
        super().__init__(records)
        self._nodes = nodes
        self.rows = records.table(
            "ports",
            Port,
            "node_uuid",
            "address",
            "portgroup_uuid",
            missing=lambda key: not_found(f"Port {key} could not be found."),
        )
        self.groups = records.table(
            "portgroups",
            PortGroup,
            "node_uuid",
            "name",
            missing=lambda key: not_found(f"Portgroup {key} could not be found."),
        )

    def reach(self, caller: Context, key: str) -> Port:
        """A port, if the caller may see its node.

        Raises ApiError 404, and 400 for what is neither a UUID nor a name, such as a MAC address.
        """
        if not is_reference(key):
            raise bad_request(f"Expected a logical name or UUID but received {key}.")
        port = self.rows.require(key)
        if not may_see_node(caller, self.node_of(port)):
            raise self.rows.missing(port.uuid)
        return port

    def group(self, caller: Context, key: str) -> PortGroup:
        """A port group, by UUID or name, if the caller may see its node. Raises ApiError 404."""
        found = self.groups.get(key) or self.groups.first(name=key)
        if found is None or not may_see_node(caller, self.node_of(found)):
            raise self.groups.missing(key)
        return found

    def node_of(self, row: Port | PortGroup) -> Node:
        """The node of a port or a group."""
        return self._nodes.rows.require(row.node_uuid)

    def require_node(self, caller: Context, key: str, policy: str) -> None:
        """Refuse a new object of a node that is not there, or is locked. Raises ApiError 400, 403 and 409.

        Outside the system, the policy asks for the owner of the node before anything else.
        """
        node = self._nodes.rows.get(key)
        if node is None and not caller.system:
            raise forbidden(f"Access was denied to the following resource: {policy}")
        if node is None:
            raise bad_request(f"Node {key} could not be found.")
        require_unlocked(node)

    def _require_new_node(self, key: str) -> None:
        """Refuse to move an object to a node that is not there, or is locked. Raises ApiError 400 and 409."""
        node = self._nodes.rows.get(key)
        if node is None:
            raise bad_request(f"Unable to apply the requested node_uuid '{key}'. Requested value was invalid.")
        require_unlocked(node)

    def create(self, key: str, values: Mapping[str, Any]) -> Port:
        """Add a port with the fields of a request. Raises ApiError 400 and 409."""
        now = self._nodes.now()
        port = Port(id=key, uuid=key, internal_info={}, created_at=now, updated_at=None, **values)
        self._check(port)
        return self.rows.add(port)

    def change(self, port: Port, changes: Mapping[str, Any]) -> None:
        """Set fields of a port as a request wants them. Raises ApiError 400 and 409."""
        after = replace(port, **changes)
        node = self.node_of(port)
        require_unlocked(node)
        if after.node_uuid != port.node_uuid:
            self._require_new_node(after.node_uuid)
        self._check(after)
        if names := {name for name in CONNECTIVITY if after.get(name) != port.get(name)}:
            _require_changeable(port, node, names)
        self.rows.update(port, **{name: after.get(name) for name in changes}, updated_at=self._nodes.now())

    def delete(self, port: Port) -> None:
        """Remove a port. Raises ApiError 409."""
        require_unlocked(self.node_of(port))
        self.rows.remove(port)

    def _check(self, port: Port) -> None:
        """Refuse a port that cannot exist, and normalize its values. Raises ApiError 400 and 409."""
        port.address = port.address.lower()
        port.pxe_enabled, port.is_smartnic = as_boolean(port.pxe_enabled), as_boolean(port.is_smartnic)
        other = self.rows.first(address=port.address)
        if other is not None and other.uuid != port.uuid:
            raise conflict(f"A port with MAC address {port.address} already exists.", CONDUCTOR)
        if port.is_smartnic and not {"hostname", "port_id"} <= port.local_link_connection.keys():
            raise bad_request("A smart NIC port needs hostname and port_id in local_link_connection.")
        if port.portgroup_uuid is None:
            return
        group = self.groups.get(port.portgroup_uuid)
        if group is None:
            raise bad_request(f"Portgroup {port.portgroup_uuid} could not be found.")
        if group.node_uuid != port.node_uuid:
            raise bad_request("Port can not be associated with a portgroup on another node.")
        if port.pxe_enabled and not group.standalone_ports_supported:
            raise conflict(
                f"Port {port.uuid} can't be PXE-enabled: its portgroup {group.uuid} doesn't support standalone ports."
            )
        others = [row for row in self.rows.select(portgroup_uuid=group.uuid) if row.uuid != port.uuid]
        if others and port.physical_network not in {other.physical_network for other in others}:
            raise conflict(f"All ports of portgroup {group.uuid} must have the same physical network.")

    def create_group(self, key: str, values: Mapping[str, Any]) -> PortGroup:
        """Add a port group with the fields of a request. Raises ApiError 409."""
        now = self._nodes.now()
        group = PortGroup(id=key, uuid=key, internal_info={}, created_at=now, updated_at=None, **values)
        self._check_group(group)
        return self.groups.add(group)

    def change_group(self, group: PortGroup, changes: Mapping[str, Any]) -> None:
        """Set fields of a port group as a request wants them. Raises ApiError 400 and 409."""
        require_unlocked(self.node_of(group))
        after = replace(group, **changes)
        if after.node_uuid != group.node_uuid:
            self._require_new_node(after.node_uuid)
            if self.rows.select(portgroup_uuid=group.uuid):
                raise conflict(f"Portgroup {group.uuid} has ports and can not get another node.")
        self._check_group(after)
        self.groups.update(group, **{name: after.get(name) for name in changes}, updated_at=self._nodes.now())

    def delete_group(self, group: PortGroup) -> None:
        """Remove a port group. Raises ApiError 400 and 409."""
        require_unlocked(self.node_of(group))
        if self.rows.select(portgroup_uuid=group.uuid):
            raise bad_request(
                f"Cannot complete the requested action because portgroup {group.uuid} contains ports.", CONDUCTOR
            )
        self.groups.remove(group)

    def _check_group(self, group: PortGroup) -> None:
        group.standalone_ports_supported = as_boolean(group.standalone_ports_supported)
        if group.address is not None:
            group.address = group.address.lower()
        for name in ("name", "address"):
            value = group.get(name)
            if value is not None and any(
                other.get(name) == value and other.uuid != group.uuid for other in self.groups
            ):
                raise conflict(f"A portgroup with {name} {value} already exists.")

    def forget_node(self, node_uuid: str) -> None:
        """Remove the ports and port groups of a node."""
        for port in self.rows.select(node_uuid=node_uuid):
            self.rows.remove(port)
        for group in self.groups.select(node_uuid=node_uuid):
            self.groups.remove(group)


def _require_changeable(port: Port, node: Node, names: set[str]) -> None:
    """Raise ApiError 409 where the connectivity of a node's ports cannot be changed."""
    if node.maintenance or node.provision_state in _CHANGEABLE:
        return
    raise conflict(
        f"Port {port.uuid} can not have any connectivity attributes ({', '.join(sorted(names))}) updated unless node "
        f"{node.uuid} is in a {', '.join(_CHANGEABLE)} state or in maintenance mode."
    )
