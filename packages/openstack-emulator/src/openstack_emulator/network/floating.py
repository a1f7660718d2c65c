"""Floating IPs and their port forwardings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.store import Record
from openstack_emulator.network.attributes import address_of
from openstack_emulator.network.errors import in_use, invalid_input
from openstack_emulator.network.kinds import Actor, Kind
from openstack_emulator.network.networks import EXTERNAL
from openstack_emulator.network.ports import Ports
from openstack_emulator.network.routers import Routers
from openstack_emulator.network.table import State, Table

OWNER = "network:floatingip"
SETTLE_SECONDS = 0.05
NO_MAC = "00:00:00:00:00:00"
DETAILS = ("name", "network_id", "mac_address", "admin_state_up", "status", "device_id", "device_owner")
SIDES = ("internal", "external")
FORWARDED = ("protocol", "internal_ip_address", "internal_port", "external_port", "internal_port_id")


class FloatingIps(Table):
    """An address of an external network, held by a port of its own, leading to a port behind a router."""

    def __init__(self, state: State, kind: Kind, ports: Ports, routers: Routers) -> None:
        super().__init__(state, kind)
        self.ports = ports
        self.routers = routers

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        network = self.state.rows["networks"].require(wanted["floating_network_id"])
        if not network[EXTERNAL]:
            raise _bad(f"Network {network['id']} is not a valid external network")
        wanted["_fixed"] = self._choose_address(wanted)
        wanted["floating_ip_address"] = wanted["_fixed"]["ip_address"]
        if wanted["fixed_ip_address"] and not wanted["port_id"]:
            raise _bad("fixed_ip_address cannot be specified without a port_id")
        wanted.update(self._association(actor, wanted))

    def created(self, actor: Actor, record: Record) -> None:
        fixed = record.pop("_fixed")
        self.ports.put_service_port(record["floating_network_id"], OWNER, record["id"], [fixed])
        self.rows.save(record)
        self.later(SETTLE_SECONDS, self.settle, record["id"])

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        if (
            "fixed_ip_address" in changes
            and changes["fixed_ip_address"]
            and not changes.get("port_id", record["port_id"])
        ):
            raise _bad("fixed_ip_address cannot be specified without a port_id")
        if "port_id" not in changes and "fixed_ip_address" not in changes:
            return
        if self.state.rows["port_forwardings"].first(floatingip_id=record["id"]) is not None:
            raise in_use("FipInUseByPortForwarding", f"Floating IP {record['id']} in use by Port Forwarding resources.")
        wish = {**record, "fixed_ip_address": None, **changes}
        changes.update(self._association(actor, wish))

    def change(self, record: Record, changes: Mapping[str, Any]) -> None:
        super().change(record, changes)
        if "router_id" in changes:
            self.later(SETTLE_SECONDS, self.settle, record["id"])

    def settle(self, key: str) -> None:
        """Show the state that the router's agent reports some time after a change."""
        record = self.rows.get(key)
        status = "ACTIVE" if record and record["router_id"] else "DOWN"
        if record is not None and record["status"] != status:
            self.change(record, {"status": status})

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        port = self.state.rows["ports"].get(record["port_id"] or "")
        shown["port_details"] = None if port is None else {name: port[name] for name in DETAILS}
        forwardings = self.state.rows["port_forwardings"].select(floatingip_id=record["id"])
        shown["port_forwardings"] = [{name: row[name] for name in ("id", *FORWARDED)} for row in forwardings]
        return shown

    def forget(self, record: Record) -> None:
        for port in self.state.rows["ports"].select(device_id=record["id"], device_owner=OWNER):
            self.ports.forget(port)
        super().forget(record)

    def _choose_address(self, wanted: Record) -> dict[str, str]:
        """A free IPv4 address of the external network, of the subnet or the very one asked for."""
        network_id = wanted["floating_network_id"]
        subnet_id, address = wanted.pop("subnet_id", None), wanted.get("floating_ip_address")
        asked = {key: value for key, value in (("subnet_id", subnet_id), ("ip_address", address)) if value}
        subnets = self.state.rows["subnets"].select(network_id=network_id)
        if not any(subnet["ip_version"] == 4 for subnet in subnets):
            raise _bad(f"Network {network_id} does not contain any IPv4 subnet")
        port = {"id": "", "network_id": network_id, "device_owner": OWNER, "mac_address": NO_MAC}
        try:
            chosen = self.ports.allocator.choose(port, [asked] if asked else None)
        except ApiError as error:
            if error.kind == "IpAddressGenerationFailure":
                raise conflict(
                    f"Unable to find any IP address on external network {network_id}.", "ExternalIpAddressExhausted"
                ) from None
            raise
        return chosen[0]

    def _association(self, actor: Actor, wish: Record) -> dict[str, Any]:
        """The fields that tie a floating IP to a port. Raises: ApiError when no router joins them."""
        if not wish["port_id"]:
            return {"port_id": None, "fixed_ip_address": None, "router_id": None}
        port = self.ports.reach(actor, wish["port_id"])
        fixed = self._fixed_ip(port, wish["fixed_ip_address"])
        self._refuse_second(wish, port, fixed["ip_address"])
        router = self.routers.connecting(fixed["subnet_id"], wish["floating_network_id"])
        if router is None:
            raise not_found(
                f"External network {wish['floating_network_id']} is not reachable from subnet {fixed['subnet_id']}.  "
                f"Therefore, cannot associate Port {port['id']} with a Floating IP.",
                "ExternalGatewayForFloatingIPNotFound",
            )
        return {
            "port_id": port["id"],
            "fixed_ip_address": fixed["ip_address"],
            "router_id": router["id"],
        }

    def _fixed_ip(self, port: Record, asked: str | None) -> dict[str, str]:
        own: list[dict[str, str]] = [f for f in port["fixed_ips"] if address_of(f["ip_address"]).version == 4]
        if asked is not None:
            for fixed in own:
                if fixed["ip_address"] == asked:
                    return fixed
            raise _bad(f"Port {port['id']} does not have fixed ip {asked}")
        if not own:
            raise _bad(f"Cannot add floating IP to port {port['id']} that has no fixed IPv4 addresses")
        if len(own) > 1:
            raise _bad(f"Port {port['id']} has multiple fixed IPv4 addresses.  Must provide a specific IPv4 address")
        return own[0]

    def _refuse_second(self, wish: Record, port: Record, fixed: str) -> None:
        for other in self.rows.select(port_id=port["id"]):
            if (
                other["id"] != wish["id"]
                and other["fixed_ip_address"] == fixed
                and other["floating_network_id"] == wish["floating_network_id"]
            ):
                raise conflict(
                    f"Cannot associate floating IP {wish.get('floating_ip_address')} ({wish['id']}) with port "
                    f"{port['id']} using fixed IP {fixed}, as that fixed IP already has a floating IP on external "
                    f"network {wish['floating_network_id']}.",
                    "FloatingIPPortAlreadyAssociated",
                )


class PortForwardings(Table):
    """One external port of a floating IP leads to one internal port."""

    def __init__(self, state: State, kind: Kind, ports: Ports, routers: Routers) -> None:
        super().__init__(state, kind)
        self.ports = ports
        self.routers = routers

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        floating = self.state.rows["floatingips"].require(wanted["floatingip_id"])
        if floating["port_id"]:
            raise in_use(
                "FipInUseByOtherResource",
                f"Floating IP {floating['id']} is associated to port {floating['port_id']} and cannot be used for port "
                "forwarding.",
            )
        wanted["project_id"] = floating["project_id"]
        wanted["_router"] = self._check(actor, wanted, floating)

    def created(self, actor: Actor, record: Record) -> None:
        self._connect(record)

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        floating = self.state.rows["floatingips"].require(record["floatingip_id"])
        after = {**record, **changes}
        if "internal_port_id" in changes and "internal_ip_address" not in changes:
            after.pop("internal_ip_address")
        changes["_router"] = self._check(actor, after, floating)
        changes["internal_ip_address"] = after["internal_ip_address"]

    def revised(self, actor: Actor, record: Record) -> None:
        self._connect(record)

    def forget(self, record: Record) -> None:
        super().forget(record)
        floating = self.state.rows["floatingips"].get(record["floatingip_id"])
        if floating is not None and self.rows.first(floatingip_id=floating["id"]) is None:
            self.state.table("floatingips").change(floating, {"router_id": None})

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        ranges = {f"{side}_port_range": f"{shown[f'{side}_port']}:{shown[f'{side}_port']}" for side in SIDES}
        return {**{name: shown[name] for name in ("id", "description", *FORWARDED)}, **ranges}

    def _connect(self, record: Record) -> None:
        floating = self.state.rows["floatingips"].require(record["floatingip_id"])
        self.state.table("floatingips").change(floating, {"router_id": record["_router"]})

    def _check(self, actor: Actor, wanted: Record, floating: Record) -> str:
        """Fill in the internal address and give the id of the router on the way. Raises: ApiError."""
        port = self.ports.reach(actor, wanted["internal_port_id"])
        fixed = [f for f in port["fixed_ips"] if address_of(f["ip_address"]).version == 4]
        asked = wanted.get("internal_ip_address")
        matching = [f for f in fixed if asked in (None, f["ip_address"])]
        if not matching:
            raise invalid_input(f"port {port['id']} has no fixed IPv4 address {asked or ''}.")
        wanted["internal_ip_address"] = matching[0]["ip_address"]
        for other in self.rows.select(floatingip_id=floating["id"]):
            same = (other["protocol"], other["external_port"]) == (wanted["protocol"], wanted["external_port"])
            if same and other["id"] != wanted["id"]:
                side = "internal" if other["internal_port"] == wanted["internal_port"] else "external"
                collision = f"{other[f'{side}_port']}:{other[f'{side}_port']} and "
                collision += f"{wanted[f'{side}_port']}:{wanted[f'{side}_port']}"
                raise bad_request(
                    f"Bad port_forwarding request: There is a port collision with the {side}_port_range. The following "
                    f"ranges collide: {collision}.",
                    "BadRequest",
                )
        router = self.routers.connecting(matching[0]["subnet_id"], floating["floating_network_id"])
        if router is None:
            raise not_found(
                f"External network {floating['floating_network_id']} is not reachable from subnet "
                f"{matching[0]['subnet_id']}.",
                "ExternalGatewayForFloatingIPNotFound",
            )
        return str(router["id"])


def _bad(reason: str) -> ApiError:
    return bad_request(f"Bad floatingip request: {reason}.", "BadRequest")
