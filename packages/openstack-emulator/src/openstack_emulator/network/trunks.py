"""Trunks: one port of a device that carries the traffic of several, told apart by VLAN."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.store import Record
from openstack_emulator.network.attributes import NotConvertible
from openstack_emulator.network.errors import in_use, invalid_input
from openstack_emulator.network.kinds import Actor, Kind
from openstack_emulator.network.kinds_core import SUB_PORT
from openstack_emulator.network.ports import Ports
from openstack_emulator.network.table import State, Table

OWNER = "trunk:subport"


class Trunks(Table):
    """A sub port belongs to one trunk, a parent port is no sub port and no parent of another."""

    def __init__(self, state: State, kind: Kind, ports: Ports) -> None:
        super().__init__(state, kind)
        self.ports = ports

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        parent = self.ports.reach(actor, wanted["port_id"])
        if self.rows.first(port_id=parent["id"]) is not None or self.state.trunk_of_subport(parent["id"]):
            raise _parent_in_use(parent["id"])
        wanted["sub_ports"] = self._checked(actor, {**wanted, "sub_ports": []}, wanted["sub_ports"])
        wanted["status"] = "ACTIVE" if parent["status"] == "ACTIVE" else "DOWN"

    def created(self, actor: Actor, record: Record) -> None:
        self._own(record["sub_ports"], OWNER)

    def view(self, actor: Actor, record: Record) -> Record:
        parent = self.state.rows["ports"].require(record["port_id"])
        status = "ACTIVE" if parent["status"] == "ACTIVE" else "DOWN"
        return {**super().view(actor, record), "status": status}

    def forget(self, record: Record) -> None:
        self._own(record["sub_ports"], "")
        super().forget(record)

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        if self.state.rows["ports"].require(record["port_id"])["binding:host_id"]:
            raise in_use("TrunkInUse", f"Trunk {record['id']} is currently in use.")

    def add_subports(self, actor: Actor, record: Record, given: Any) -> None:
        """Let the trunk carry more ports. Raises: ApiError."""
        self._refuse_change(actor, record)
        added = self._checked(actor, record, given)
        self.change(record, {"sub_ports": record["sub_ports"] + added})
        self._own(added, OWNER)

    def remove_subports(self, actor: Actor, record: Record, given: Any) -> None:
        """Let the trunk carry fewer ports. Raises: ApiError."""
        self._refuse_change(actor, record)
        ids = [sub["port_id"] for sub in _sub_ports(given)]
        present = {sub["port_id"]: sub for sub in record["sub_ports"]}
        for port_id in ids:
            if port_id not in present:
                raise not_found(f"SubPort {port_id} on trunk {record['id']} could not be found.", "SubPortNotFound")
        self.change(record, {"sub_ports": [sub for sub in record["sub_ports"] if sub["port_id"] not in ids]})
        self._own([present[port_id] for port_id in ids], "")

    def _refuse_change(self, actor: Actor, record: Record) -> None:
        self.refuse_strangers(actor, record, "update")
        if not record["admin_state_up"]:
            raise conflict(f"Trunk {record['id']} is currently disabled.", "TrunkDisabled")

    def _checked(self, actor: Actor, record: Record, given: Any) -> list[Record]:
        taken = {(sub["segmentation_type"], sub["segmentation_id"]) for sub in record["sub_ports"]}
        checked: list[Record] = []
        for sub in _sub_ports(given):
            port = self.ports.reach(actor, sub["port_id"])
            if port["id"] == record["port_id"] or self.rows.first(port_id=port["id"]) is not None:
                raise _parent_in_use(port["id"])
            if self.state.trunk_of_subport(port["id"]) or any(port["id"] == other["port_id"] for other in checked):
                raise in_use("TrunkPortInUse", f"Port {port['id']} is in use by another trunk.")
            if port["device_id"]:
                raise in_use("SubPortBindingError", f"Port {port['id']} is bound to {port['device_id']}.")
            self._refuse_larger_mtu(port, record["port_id"])
            full = self._segmentation(port, sub)
            mark = (full["segmentation_type"], full["segmentation_id"])
            if mark in taken:
                raise conflict(
                    f"segmentation_type {mark[0]} and segmentation_id {mark[1]} already in use on trunk "
                    f"{record['id']}.",
                    "DuplicateSubPort",
                )
            taken.add(mark)
            checked.append(full)
        return checked

    def _refuse_larger_mtu(self, port: Record, parent_id: str) -> None:
        ports, networks = self.state.rows["ports"], self.state.rows["networks"]
        own = networks.require(port["network_id"])["mtu"]
        most = networks.require(ports.require(parent_id)["network_id"])["mtu"]
        if own > most:
            raise conflict(
                f"MTU {own} of subport {port['id']} cannot be greater than MTU {most} of trunk {parent_id}.",
                "SubPortMtuGreaterThanTrunkPortMtu",
            )

    def _segmentation(self, port: Record, sub: Record) -> Record:
        """A sub port in full; `inherit` takes the number of the port's network."""
        if sub.get("segmentation_type") == "inherit":
            network = self.state.rows["networks"].require(port["network_id"])
            return {**sub, "segmentation_type": "vlan", "segmentation_id": network["provider:segmentation_id"]}
        if "segmentation_type" not in sub or "segmentation_id" not in sub:
            raise bad_request(
                "Invalid input for operation: segmentation_type and segmentation_id of a sub port are required.",
                "InvalidInput",
            )
        return sub

    def _own(self, sub_ports: list[Record], owner: str) -> None:
        for sub in sub_ports:
            if (port := self.state.rows["ports"].get(sub["port_id"])) is not None:
                self.ports.change(port, {"device_owner": owner})


def _sub_ports(given: Any) -> list[Record]:
    if not isinstance(given, list):
        raise _invalid(f"'{given}' is not a list.")
    try:
        return [SUB_PORT(item) for item in given]
    except NotConvertible as error:
        raise invalid_input(str(error)) from None
    except ValueError as error:
        raise _invalid(str(error)) from None


def _parent_in_use(port_id: str) -> ApiError:
    message = f"Port {port_id} is currently in use and is not eligible for use as a parent port."
    return in_use("ParentPortInUse", message)


def _invalid(reason: str) -> ApiError:
    return bad_request(f"Invalid input for sub_ports. Reason: {reason}")
