"""Ports: addresses, security, binding to devices."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import uuid4

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.store import Record
from openstack_emulator.network.addresses import Allocator
from openstack_emulator.network.errors import disallowed, in_use
from openstack_emulator.network.groups import SecurityGroups
from openstack_emulator.network.kinds import Actor, Kind
from openstack_emulator.network.networks import AUTOMATIC_OWNERS
from openstack_emulator.network.table import State, Table

SERVICE_OWNERS = frozenset(
    {
        "network:router_interface",
        "network:router_gateway",
        "network:floatingip",
        "network:ha_router_replicated_interface",
    }
)
NETWORK_OWNERS_ONLY = ("mac_address", "port_security_enabled", "allowed_address_pairs")
SERVERS = ("compute:", "baremetal:")
"""Beginnings of the owners whose ports only administrators and services may delete."""
PLACE = "_place"
"""The field of a port for `place_at_device`."""
PLUG_SECONDS = 0.05
DHCP_SECONDS = 0.1
DOMAIN = "openstacklocal."
VIF = {"binding:vif_type": "ovs", "binding:vif_details": {"port_filter": True, "connectivity": "l2"}}
UNBOUND = {"binding:vif_type": "unbound", "binding:vif_details": {}, "binding:host_id": "", "status": "DOWN"}


def place_at_device(port: Record) -> int:
    """Return a number by which the ports of a device are in the order in which it got them; 0 if that is not known."""
    place: int = port.get(PLACE, 0)
    return place


class Ports(Table):
    """Besides its project, the owner of a port's network may see and change it."""

    def __init__(self, state: State, kind: Kind, groups: SecurityGroups) -> None:
        super().__init__(state, kind)
        self.groups = groups
        self.allocator = Allocator(state)

    def visible(self, actor: Actor, record: Record) -> bool:
        return actor.owns(record) or actor.owns(self._network(record))

    def refuse_strangers(self, actor: Actor, record: Record, action: str) -> None:
        if not actor.owns(self._network(record)):
            super().refuse_strangers(actor, record, action)

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        network = self._network(wanted)
        self._check_rights(actor, network, given, "create")
        served = wanted["device_owner"].startswith("network:")
        wanted.setdefault("port_security_enabled", network["port_security_enabled"] and not served)
        self._choose_mac(wanted)
        if given.get("fixed_ips") == []:
            wanted["ip_allocation"] = "none"  # also where the port then makes itself an address
        wanted["fixed_ips"] = self.allocator.choose(wanted, wanted.get("fixed_ips"))
        wanted["security_groups"] = self._choose_groups(actor, wanted)
        self._settle_security(wanted, present=False)
        wanted["allowed_address_pairs"] = _pairs(wanted)
        wanted["extra_dhcp_opts"] = _dhcp_options([], wanted["extra_dhcp_opts"])
        if wanted["binding:host_id"]:
            wanted.update(VIF, status="ACTIVE")

    def put(self, record: Record) -> Record:
        super().put(record)
        self.state.ports.add(record)
        return record

    def change(self, record: Record, changes: Any) -> None:
        self.state.ports.remove(record)
        super().change(record, changes)
        self.state.ports.add(record)

    def drop(self, record: Record) -> None:
        self.state.ports.remove(record)
        super().drop(record)
        for fixed in record["fixed_ips"]:
            self.allocator.released(fixed)

    def view(self, actor: Actor, record: Record) -> Record:
        shown = super().view(actor, record)
        shown["dns_assignment"] = [_dns(record, fixed["ip_address"]) for fixed in record["fixed_ips"]]
        shown["qos_network_policy_id"] = self._network(record)["qos_policy_id"]
        if (trunk := self.state.rows["trunks"].first(port_id=record["id"])) is not None:
            ports = self.state.rows["ports"]
            subs = [{**sub, "mac_address": ports.require(sub["port_id"])["mac_address"]} for sub in trunk["sub_ports"]]
            shown["trunk_details"] = {"trunk_id": trunk["id"], "sub_ports": subs}
        if actor.admin:
            shown["resource_request"] = self._resource_request(record)
        return shown

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        self._check_rights(actor, self._network(record), changes, "update")
        after = {**record, **changes}
        if "mac_address" in changes and not actor.admin:
            raise disallowed("update_port:mac_address")
        if "mac_address" in changes and changes["mac_address"] != record["mac_address"]:
            self._choose_mac(after)
        if "fixed_ips" in changes:
            changes["fixed_ips"] = after["fixed_ips"] = self.allocator.choose(
                after, changes["fixed_ips"], record["fixed_ips"]
            )
        if "security_groups" in changes:
            for group_id in changes["security_groups"]:
                self.groups.reach(actor, group_id)
        self._settle_security(after, present=True)
        if "allowed_address_pairs" in changes:
            changes["allowed_address_pairs"] = _pairs(after)
        if "extra_dhcp_opts" in changes:
            changes["extra_dhcp_opts"] = _dhcp_options(record["extra_dhcp_opts"], changes["extra_dhcp_opts"])
        if "binding:host_id" in changes:
            changes.update({**VIF, "status": "ACTIVE"} if changes["binding:host_id"] else UNBOUND)
        lost = [fixed for fixed in record["fixed_ips"] if fixed not in after["fixed_ips"]]
        for fixed in lost:
            self.allocator.released(fixed)

    def revised(self, actor: Actor, record: Record) -> None:
        held = {fixed["ip_address"] for fixed in record["fixed_ips"]}
        for floating in self.state.rows["floatingips"].select(port_id=record["id"]):
            if floating["fixed_ip_address"] not in held:
                self.disassociate(floating)

    def used(self, record: Record) -> ApiError:
        trunk = self.state.rows["trunks"].first(port_id=record["id"])
        message = f"Port {record['id']} is currently a parent port for trunk {trunk['id'] if trunk else ''}."
        return in_use("PortInUseAsTrunkParent", message)

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        if record["device_owner"].startswith(SERVERS) and not actor.admin:
            raise disallowed("delete_port")
        if record["device_owner"] in SERVICE_OWNERS and self._has_device(record):
            raise conflict(
                f"Port {record['id']} cannot be deleted directly via the port API: has device owner "
                f"{record['device_owner']}.",
                "ServicePortInUse",
            )
        if (carrier := self.state.trunk_of_subport(record["id"])) is not None:
            raise in_use("PortInUseAsSubPort", f"Port {record['id']} is currently a subport for trunk {carrier['id']}.")

    def forget(self, record: Record) -> None:
        for floating in self.state.rows["floatingips"].select(port_id=record["id"]):
            self.disassociate(floating)
        trunks = self.state.table("trunks")
        for trunk in trunks.rows.select(port_id=record["id"]):
            trunks.forget(trunk)
        if (carrier := self.state.trunk_of_subport(record["id"])) is not None:
            left = [sub for sub in carrier["sub_ports"] if sub["port_id"] != record["id"]]
            trunks.change(carrier, {"sub_ports": left})
        super().forget(record)

    # Ports of devices

    def bind(self, record: Record, device_id: str, device_owner: str, host: str) -> None:
        """Give a port to a device on a host: BUILD, then ACTIVE. Raises: 409 PortInUse."""
        if record["device_id"] not in ("", device_id):
            raise in_use(
                "PortInUse",
                f"Unable to complete operation on port {record['id']} for network {record['network_id']}. Port already "
                f"has an attached device {record['device_id']}.",
            )
        bound = {"device_id": device_id, "device_owner": device_owner, "binding:host_id": host, "status": "BUILD"}
        others = [place_at_device(port) for port in self.rows.select(device_id=device_id)]
        place = place_at_device(record) or max(others, default=0) + 1
        self.change(record, {**VIF, **bound, PLACE: place})
        self.later(PLUG_SECONDS, self.plugged, record["id"])

    def plugged(self, key: str) -> None:
        """The host has connected the port, if it still has it."""
        record = self.rows.get(key)
        if record is not None and record["binding:host_id"]:
            doomed = record.pop("_fault", None) is not None
            self.change(record, {"status": "ERROR" if doomed else "ACTIVE"})

    def unbind(self, record: Record) -> None:
        """Take a port from its device."""
        self.change(record, {**UNBOUND, "device_id": "", "device_owner": "", "binding:profile": {}, PLACE: 0})

    def put_service_port(
        self, network_id: str, owner: str, device_id: str, fixed_ips: list[dict[str, str]], project_id: str = ""
    ) -> Record:
        """A port of the network service itself, with addresses the allocator chose."""
        port = {
            "id": new_id(),
            **self.kind.defaults(),
            "project_id": project_id,
            "network_id": network_id,
            "device_owner": owner,
            "device_id": device_id,
            "fixed_ips": fixed_ips,
            "security_groups": [],
            "port_security_enabled": False,
            "status": "N/A" if owner == "network:floatingip" else "ACTIVE",
        }
        self._choose_mac(port)
        return self.put(port)

    def serve_dhcp(self, network_id: str) -> None:
        """Make, change or drop the DHCP port of a network so that it has an address of each subnet with DHCP."""
        if network_id not in self.state.rows["networks"]:
            return
        served = [s for s in self.state.rows["subnets"].select(network_id=network_id) if s["enable_dhcp"]]
        port = self.rows.first(network_id=network_id, device_owner="network:dhcp")
        held = {fixed["subnet_id"]: fixed for fixed in port["fixed_ips"]} if port else {}
        addresses = [held.get(subnet["id"]) or self._dhcp_address(subnet) for subnet in served]
        fixed_ips = [fixed for fixed in addresses if fixed is not None]
        if port is None and fixed_ips:
            self.put_service_port(
                network_id, "network:dhcp", f"dhcp-{network_id}", fixed_ips, self._network_project(network_id)
            )
        elif port is not None and not fixed_ips:
            self.forget(port)
        elif port is not None and fixed_ips != port["fixed_ips"]:
            self.change(port, {"fixed_ips": fixed_ips})

    def release_subnet(self, subnet: Record) -> None:
        """Take a subnet's addresses from the ports that have them of their own accord (DHCP, SLAAC)."""
        for port_id in set(self.state.ports.taken(subnet["id"]).values()):
            port = self.rows.require(port_id)
            self.change(port, {"fixed_ips": [f for f in port["fixed_ips"] if f["subnet_id"] != subnet["id"]]})
            if not port["fixed_ips"] and port["device_owner"] in AUTOMATIC_OWNERS:
                self.forget(port)

    def disassociate(self, floating: Record) -> None:
        """Take a floating IP from the port it points to."""
        cleared = {"port_id": None, "fixed_ip_address": None, "router_id": None}
        self.state.table("floatingips").change(floating, cleared)

    # Parts

    def _network(self, record: Record) -> Record:
        return self.state.rows["networks"].require(record["network_id"])

    def _network_project(self, network_id: str) -> str:
        return str(self.state.rows["networks"].require(network_id)["project_id"])

    def _dhcp_address(self, subnet: Record) -> dict[str, str] | None:
        """The highest free address, which templates that name addresses rarely ask for."""
        address = self.allocator.last_free(subnet)
        return None if address is None else {"subnet_id": subnet["id"], "ip_address": address}

    def _check_rights(self, actor: Actor, network: Record, given: Record, action: str) -> None:
        if actor.owns(network):
            return
        if not Table.visible(self.state.table("networks"), actor, network):
            raise disallowed(f"{action}_port")
        for name in NETWORK_OWNERS_ONLY:
            if name in given:
                raise disallowed(f"{action}_port:{name}")
        if any("ip_address" in fixed for fixed in given.get("fixed_ips") or ()):
            raise disallowed(f"{action}_port:fixed_ips:ip_address")
        if given.get("device_owner", "").startswith("network:"):
            raise disallowed(f"{action}_port:device_owner")

    def _choose_mac(self, port: Record) -> None:
        taken = self.state.ports.macs
        network_id = port["network_id"]
        if "mac_address" in port:
            if (network_id, port["mac_address"]) in taken:
                raise conflict(
                    f"Unable to complete operation for network {network_id}. The mac address {port['mac_address']} is "
                    "in use.",
                    "MacAddressInUse",
                )
            return
        while "mac_address" not in port or (network_id, port["mac_address"]) in taken:
            tail = uuid4().bytes[:3]
            port["mac_address"] = "fa:16:3e:" + tail.hex(":")

    def _choose_groups(self, actor: Actor, port: Record) -> list[str]:
        asked: list[str] | None = port.get("security_groups")
        if asked is not None:
            for group_id in asked:
                self.groups.reach(actor, group_id)
            return list(dict.fromkeys(asked))
        trusted = port["device_owner"].startswith("network:")
        if trusted or not port["port_security_enabled"] or not port["project_id"]:
            return []
        return [self.groups.default_of(port["project_id"])["id"]]

    def _settle_security(self, port: Record, present: bool) -> None:
        """Refuse groups and address pairs on a port without port security."""
        if port["port_security_enabled"]:
            return
        if port["security_groups"] and not present:
            raise bad_request(
                "Port security must be enabled and port must have an IP address in order to use security groups.",
                "PortSecurityAndIPRequiredForSecurityGroups",
            )
        if port["security_groups"]:
            raise conflict(
                "Port has security group associated. Cannot disable port security or IP address until security group "
                "is removed.",
                "PortSecurityPortHasSecurityGroup",
            )
        if port["allowed_address_pairs"]:
            raise conflict(
                "Port Security must be enabled in order to have allowed address pairs on a port.",
                "AddressPairAndPortSecurityRequired",
            )

    def _has_device(self, record: Record) -> bool:
        plural = "floatingips" if record["device_owner"] == "network:floatingip" else "routers"
        return record["device_id"] in self.state.rows[plural]

    def _resource_request(self, record: Record) -> dict[str, Any] | None:
        """What placement must find for the minimum rules of the port's QoS policy."""
        policy_id = record["qos_policy_id"] or self._network(record)["qos_policy_id"]
        if policy_id is None:
            return None
        kbps = self.state.rows["minimum_bandwidth_rules"].select(qos_policy_id=policy_id)
        kpps = self.state.rows["minimum_packet_rate_rules"].select(qos_policy_id=policy_id)
        resources = {f"NET_BW_{_DIRECTIONS[r['direction']]}_KILOBIT_PER_SEC": r["min_kbps"] for r in kbps}
        resources |= {_packet_class(r["direction"]): r["min_kpps"] for r in kpps}
        if not resources:
            return None
        return {"request_groups": [{"id": record["id"], "required": [], "resources": resources}], "same_subtree": []}


_DIRECTIONS = {"egress": "EGR", "ingress": "IGR"}


def _packet_class(direction: str) -> str:
    if direction == "any":
        return "NET_PACKET_RATE_KILOPACKET_PER_SEC"
    return f"NET_PACKET_RATE_{_DIRECTIONS[direction]}_KILOPACKET_PER_SEC"


def _dns(port: Record, address: str) -> dict[str, str]:
    host = port["dns_name"] or "host-" + address.replace(".", "-").replace(":", "-")
    return {"ip_address": address, "hostname": host, "fqdn": f"{host}.{port['dns_domain'] or DOMAIN}"}


def _pairs(port: Record) -> list[dict[str, str]]:
    """Address pairs with the port's own MAC address where none is named."""
    if any("ip_address" not in pair for pair in port["allowed_address_pairs"]):
        raise bad_request("AllowedAddressPair must contain ip_address", "AllowedAddressPairsMissingIP")
    given = Counter((pair.get("mac_address"), pair["ip_address"]) for pair in port["allowed_address_pairs"])
    for (named, address), count in given.items():
        if count > 1:
            raise _duplicate_pair(named, address)
    pairs = [{"mac_address": port["mac_address"], **pair} for pair in port["allowed_address_pairs"]]
    counts = Counter((pair["mac_address"], pair["ip_address"]) for pair in pairs)
    for (mac, address), count in counts.items():
        if count > 1:
            raise _duplicate_pair(mac, address)
    return pairs


def _duplicate_pair(mac: str | None, address: str) -> ApiError:
    return bad_request(
        f"Request contains duplicate address pair: mac_address {mac} ip_address {address}.",
        "DuplicateAddressPairInRequest",
    )


def _dhcp_options(present: list[Record], given: list[Record]) -> list[Record]:
    """Options after a change: a null value removes one."""
    options = {(option["opt_name"], option["ip_version"]): option for option in present}
    for option in given:
        key = (option["opt_name"], option.get("ip_version", 4))
        options.pop(key, None)
        if option["opt_value"] is not None:
            options[key] = {**option, "ip_version": key[1]}
    return list(options.values())
