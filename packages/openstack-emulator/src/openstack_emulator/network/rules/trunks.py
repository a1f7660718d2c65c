"""Trunks: one port of a device that carries the traffic of several, told apart by VLAN."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.core.validation.problems import wrong_type
from openstack_emulator.network.records.core import Port, SubPort, Trunk
from openstack_emulator.network.rules.attributes import NEUTRON, items
from openstack_emulator.network.rules.errors import in_use, invalid_input
from openstack_emulator.network.rules.inputs import RequestedSubPort
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.kinds.layer2 import SUB_PORT
from openstack_emulator.network.rules.ports import Ports
from openstack_emulator.network.rules.resources import Resources, State

OWNER = "trunk:subport"
SUB_PORTS = items(SUB_PORT)


class Trunks(Resources[Trunk]):
    """A sub port belongs to one trunk, a parent port is no sub port and no parent of another."""

    def __init__(self, state: State, kind: ResourceKind[Trunk], ports: Ports) -> None:
        super().__init__(state, kind)
        self.ports = ports

    def prepare_create(self, actor: Actor, draft: Trunk, values: Values) -> None:
        parent = self.ports.reach(actor, draft.port_id)
        if self.rows.first(port_id=parent.id) is not None or self.state.trunk_of_subport(parent.id):
            raise _parent_in_use(parent.id)
        draft.sub_ports = self._checked(actor, draft, values.get("sub_ports", []))
        draft.status = "ACTIVE" if parent.status == "ACTIVE" else "DOWN"

    def after_create(self, actor: Actor, record: Trunk) -> None:
        self._own(record.sub_ports, OWNER)

    def forget(self, record: Trunk) -> None:
        self._own(record.sub_ports, "")
        super().forget(record)

    def refuse_delete(self, actor: Actor, record: Trunk) -> None:
        if self.state.rows.ports.require(record.port_id).host_id:
            raise in_use("TrunkInUse", f"Trunk {record.id} is currently in use.")

    def add_subports(self, actor: Actor, record: Trunk, body: object) -> None:
        """Let the trunk carry more ports. Raises: ApiError."""
        self._refuse_change(actor, record)
        added = self._checked(actor, record, _sub_ports(body))
        self.change(record, sub_ports=record.sub_ports + added)
        self._own(added, OWNER)

    def remove_subports(self, actor: Actor, record: Trunk, body: object) -> None:
        """Let the trunk carry fewer ports. Raises: ApiError."""
        self._refuse_change(actor, record)
        ids = [sub.port_id for sub in _sub_ports(body)]
        present = {sub.port_id: sub for sub in record.sub_ports}
        for port_id in ids:
            if port_id not in present:
                raise not_found(f"SubPort {port_id} on trunk {record.id} could not be found.", "SubPortNotFound")
        self.change(record, sub_ports=[sub for sub in record.sub_ports if sub.port_id not in ids])
        self._own([present[port_id] for port_id in ids], "")

    def _refuse_change(self, actor: Actor, record: Trunk) -> None:
        self.refuse_unauthorized(actor, record, "update")
        if not record.admin_state_up:
            raise conflict(f"Trunk {record.id} is currently disabled.", "TrunkDisabled")

    def _checked(self, actor: Actor, record: Trunk, wishes: list[RequestedSubPort]) -> list[SubPort]:
        taken = {(sub.segmentation_type, sub.segmentation_id) for sub in record.sub_ports}
        checked: list[SubPort] = []
        for sub in wishes:
            port = self.ports.reach(actor, sub.port_id)
            if port.id == record.port_id or self.rows.first(port_id=port.id) is not None:
                raise _parent_in_use(port.id)
            if self.state.trunk_of_subport(port.id) or any(port.id == other.port_id for other in checked):
                raise in_use("TrunkPortInUse", f"Port {port.id} is in use by another trunk.")
            if port.device_id:
                raise in_use("SubPortBindingError", f"Port {port.id} is bound to {port.device_id}.")
            self._refuse_larger_mtu(port, record.port_id)
            full = self._segmentation(port, sub)
            mark = (full.segmentation_type, full.segmentation_id)
            if mark in taken:
                raise conflict(
                    f"segmentation_type {mark[0]} and segmentation_id {mark[1]} already in use on trunk {record.id}.",
                    "DuplicateSubPort",
                )
            taken.add(mark)
            checked.append(full)
        return checked

    def _refuse_larger_mtu(self, port: Port, parent_id: str) -> None:
        ports, networks = self.state.rows.ports, self.state.rows.networks
        own = networks.require(port.network_id).mtu
        most = networks.require(ports.require(parent_id).network_id).mtu
        if own > most:
            raise conflict(
                f"MTU {own} of subport {port.id} cannot be greater than MTU {most} of trunk {parent_id}.",
                "SubPortMtuGreaterThanTrunkPortMtu",
            )

    def _segmentation(self, port: Port, sub: RequestedSubPort) -> SubPort:
        """A sub port in full; `inherit` takes the number of the port's network."""
        if sub.segmentation_type == "inherit":
            number = self.state.rows.networks.require(port.network_id).segmentation_id
            return SubPort(port_id=sub.port_id, segmentation_type="vlan", segmentation_id=number)
        if sub.segmentation_type is None or sub.segmentation_id is None:
            raise invalid_input("segmentation_type and segmentation_id of a sub port are required.")
        return SubPort(
            port_id=sub.port_id, segmentation_type=sub.segmentation_type, segmentation_id=sub.segmentation_id
        )

    def _own(self, sub_ports: list[SubPort], owner: str) -> None:
        for sub in sub_ports:
            if (port := self.state.rows.ports.get(sub.port_id)) is not None:
                self.ports.change(port, device_owner=owner)


def _sub_ports(body: object) -> list[RequestedSubPort]:
    if body is None:
        raise NEUTRON.error("sub_ports", body, wrong_type(body, "array"))
    return NEUTRON.converted("sub_ports", body, SUB_PORTS)


def _parent_in_use(port_id: str) -> ApiError:
    message = f"Port {port_id} is currently in use and is not eligible for use as a parent port."
    return in_use("ParentPortInUse", message)
