"""Ports: addresses, security, binding to devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.network.records.core import AddressPair, DhcpOption, FixedIp, FloatingIp, Network, Port, Subnet
from openstack_emulator.network.rules.addresses import Allocator
from openstack_emulator.network.rules.errors import disallowed, in_use
from openstack_emulator.network.rules.groups import SecurityGroups
from openstack_emulator.network.rules.inputs import RequestedAddressPair, RequestedOption
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, Values
from openstack_emulator.network.rules.networks import AUTOMATIC_OWNERS
from openstack_emulator.network.rules.resources import Resources, State

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
PLUG_SECONDS = 0.05
DHCP_SECONDS = 0.1
VIF: Mapping[str, object] = {"vif_type": "ovs", "vif_details": {"port_filter": True, "connectivity": "l2"}}
UNBOUND: Mapping[str, object] = {"vif_type": "unbound", "vif_details": {}, "host_id": "", "status": "DOWN"}


class Ports(Resources[Port]):
    """Besides its project, the owner of a port's network may see and change it."""

    def __init__(self, state: State, kind: ResourceKind[Port], groups: SecurityGroups) -> None:
        super().__init__(state, kind)
        self.groups = groups
        self.allocator = Allocator(state)

    def visible(self, actor: Actor, record: Port) -> bool:
        return actor.owns(record) or actor.owns(self._network(record))

    def refuse_unauthorized(self, actor: Actor, record: Port, action: str) -> None:
        if not actor.owns(self._network(record)):
            super().refuse_unauthorized(actor, record, action)

    def prepare_create(self, actor: Actor, draft: Port, values: Values) -> None:
        network = self._network(draft)
        self._check_rights(actor, network, values, "create")
        served = draft.device_owner.startswith("network:")
        if "port_security_enabled" not in values:
            draft.port_security_enabled = network.port_security_enabled and not served
        self._choose_mac(draft)
        if values.get("fixed_ips") == []:
            draft.ip_allocation = "none"  # also where the port then makes itself an address
        draft.fixed_ips = self.allocator.choose(draft, values.get("fixed_ips"))
        draft.security_groups = self._choose_groups(actor, draft, values.get("security_groups"))
        pairs = values.get("allowed_address_pairs", ())
        _settle_security(draft, pairs, present=False)
        draft.allowed_address_pairs = _pairs(draft, pairs)
        draft.extra_dhcp_opts = _dhcp_options((), values.get("extra_dhcp_opts", ()))
        if draft.host_id:
            _set(draft, {**VIF, "status": "ACTIVE"})

    def put(self, record: Port) -> Port:
        super().put(record)
        self.state.ports.add(record)
        return record

    def change(self, record: Port, **changes: object) -> None:
        self.state.ports.remove(record)
        super().change(record, **changes)
        self.state.ports.add(record)

    def drop(self, record: Port) -> None:
        self.state.ports.remove(record)
        super().drop(record)
        for fixed in record.fixed_ips:
            self.allocator.released(fixed)

    def prepare_update(self, actor: Actor, record: Port, after: Port, values: Values) -> None:
        self._check_rights(actor, self._network(record), values, "update")
        if "mac_address" in values and not actor.admin:
            raise disallowed("update_port:mac_address")
        if after.mac_address != record.mac_address:
            self._choose_mac(after)
        if "fixed_ips" in values:
            after.fixed_ips = self.allocator.choose(after, values["fixed_ips"], record.fixed_ips)
        for group_id in values.get("security_groups", ()):
            self.groups.reach(actor, group_id)
        _settle_security(after, values.get("allowed_address_pairs", record.allowed_address_pairs), present=True)
        if "allowed_address_pairs" in values:
            after.allowed_address_pairs = _pairs(after, values["allowed_address_pairs"])
        if "extra_dhcp_opts" in values:
            after.extra_dhcp_opts = _dhcp_options(record.extra_dhcp_opts, values["extra_dhcp_opts"])
        if "binding:host_id" in values:
            _set(after, {**VIF, "status": "ACTIVE"} if after.host_id else UNBOUND)
        lost = [fixed for fixed in record.fixed_ips if fixed not in after.fixed_ips]
        for fixed in lost:
            self.allocator.released(fixed)

    def after_update(self, actor: Actor, record: Port) -> None:
        held = {fixed.ip_address for fixed in record.fixed_ips}
        for floating in self.state.rows.floatingips.select(port_id=record.id):
            if floating.fixed_ip_address not in held:
                self.disassociate(floating)

    def used(self, record: Port) -> ApiError:
        trunk = self.state.rows.trunks.first(port_id=record.id)
        message = f"Port {record.id} is currently a parent port for trunk {trunk.id if trunk else ''}."
        return in_use("PortInUseAsTrunkParent", message)

    def refuse_delete(self, actor: Actor, record: Port) -> None:
        if record.device_owner.startswith(SERVERS) and not actor.admin:
            raise disallowed("delete_port")
        if record.device_owner in SERVICE_OWNERS and self._has_device(record):
            raise conflict(
                f"Port {record.id} cannot be deleted directly via the port API: has device owner "
                f"{record.device_owner}.",
                "ServicePortInUse",
            )
        if (carrier := self.state.trunk_of_subport(record.id)) is not None:
            raise in_use("PortInUseAsSubPort", f"Port {record.id} is currently a subport for trunk {carrier.id}.")

    def forget(self, record: Port) -> None:
        for floating in self.state.rows.floatingips.select(port_id=record.id):
            self.disassociate(floating)
        trunks = self.state.of("trunks")
        for trunk in trunks.rows.select(port_id=record.id):
            trunks.forget(trunk)
        if (carrier := self.state.trunk_of_subport(record.id)) is not None:
            left = [sub for sub in carrier.sub_ports if sub.port_id != record.id]
            trunks.change(carrier, sub_ports=left)
        super().forget(record)

    # Ports of devices

    def bind(self, record: Port, device_id: str, device_owner: str, host: str) -> None:
        """Give a port to a device on a host: BUILD, then ACTIVE. Raises: 409 PortInUse."""
        if record.device_id not in ("", device_id):
            raise in_use(
                "PortInUse",
                f"Unable to complete operation on port {record.id} for network {record.network_id}. Port already "
                f"has an attached device {record.device_id}.",
            )
        place = record.place or max((port.place for port in self.rows.select(device_id=device_id)), default=0) + 1
        bound = {"device_id": device_id, "device_owner": device_owner, "host_id": host, "status": "BUILD"}
        self.change(record, **VIF, **bound, place=place)
        self.later(PLUG_SECONDS, self.plugged, record.id)

    def plugged(self, key: str) -> None:
        """The host has connected the port, if it still has it."""
        record = self.rows.get(key)
        if record is not None and record.host_id:
            has_fault = record.take_fault() is not None
            self.change(record, status="ERROR" if has_fault else "ACTIVE")

    def unbind(self, record: Port) -> None:
        """Take a port from its device."""
        self.change(record, **UNBOUND, device_id="", device_owner="", profile={}, place=0)

    def put_service_port(
        self, network_id: str, owner: str, device_id: str, fixed_ips: list[FixedIp], project_id: str = ""
    ) -> Port:
        """A port of the network service itself, with addresses the allocator chose."""
        values = {"network_id": network_id, "device_owner": owner, "device_id": device_id}
        port = self.kind.draft(new_id(), project_id, values)
        port.fixed_ips = fixed_ips
        port.status = "N/A" if owner == "network:floatingip" else "ACTIVE"
        self._choose_mac(port)
        return self.put(port)

    def serve_dhcp(self, network_id: str) -> None:
        """Make, change or drop the DHCP port of a network so that it has an address of each subnet with DHCP."""
        if network_id not in self.state.rows.networks:
            return
        served = [s for s in self.state.rows.subnets.select(network_id=network_id) if s.enable_dhcp]
        port = self.rows.first(network_id=network_id, device_owner="network:dhcp")
        held = {fixed.subnet_id: fixed for fixed in port.fixed_ips} if port else {}
        addresses = [held.get(subnet.id) or self._dhcp_address(subnet) for subnet in served]
        fixed_ips = [fixed for fixed in addresses if fixed is not None]
        if port is None and fixed_ips:
            project_id = self.state.rows.networks.require(network_id).project_id
            self.put_service_port(network_id, "network:dhcp", f"dhcp-{network_id}", fixed_ips, project_id)
        elif port is not None and not fixed_ips:
            self.forget(port)
        elif port is not None and fixed_ips != port.fixed_ips:
            self.change(port, fixed_ips=fixed_ips)

    def release_subnet(self, subnet: Subnet) -> None:
        """Take a subnet's addresses from the ports that have them of their own accord (DHCP, SLAAC)."""
        for port_id in set(self.state.ports.taken(subnet.id).values()):
            port = self.rows.require(port_id)
            self.change(port, fixed_ips=[f for f in port.fixed_ips if f.subnet_id != subnet.id])
            if not port.fixed_ips and port.device_owner in AUTOMATIC_OWNERS:
                self.forget(port)

    def disassociate(self, floating: FloatingIp) -> None:
        """Take a floating IP from the port it points to."""
        self.state.of("floatingips").change(floating, port_id=None, fixed_ip_address=None, router_id=None)

    # Parts

    def _network(self, record: Port) -> Network:
        return self.state.rows.networks.require(record.network_id)

    def _dhcp_address(self, subnet: Subnet) -> FixedIp | None:
        """The highest free address, which templates that name addresses rarely ask for."""
        address = self.allocator.last_free(subnet)
        return None if address is None else FixedIp(subnet_id=subnet.id, ip_address=address)

    def _check_rights(self, actor: Actor, network: Network, values: Values, action: str) -> None:
        if actor.owns(network):
            return
        if not Resources.visible(self.state.of("networks"), actor, network):
            raise disallowed(f"{action}_port")
        for name in NETWORK_OWNERS_ONLY:
            if name in values:
                raise disallowed(f"{action}_port:{name}")
        if any(fixed.ip_address is not None for fixed in values.get("fixed_ips") or ()):
            raise disallowed(f"{action}_port:fixed_ips:ip_address")
        if values.get("device_owner", "").startswith("network:"):
            raise disallowed(f"{action}_port:device_owner")

    def _choose_mac(self, port: Port) -> None:
        taken = self.state.ports.macs
        network_id = port.network_id
        if port.mac_address:
            if (network_id, port.mac_address) in taken:
                raise conflict(
                    f"Unable to complete operation for network {network_id}. The mac address {port.mac_address} is "
                    "in use.",
                    "MacAddressInUse",
                )
            return
        while not port.mac_address or (network_id, port.mac_address) in taken:
            tail = uuid4().bytes[:3]
            port.mac_address = "fa:16:3e:" + tail.hex(":")

    def _choose_groups(self, actor: Actor, port: Port, group_ids: list[str] | None) -> list[str]:
        if group_ids is not None:
            for group_id in group_ids:
                self.groups.reach(actor, group_id)
            return list(dict.fromkeys(group_ids))
        trusted = port.device_owner.startswith("network:")
        if trusted or not port.port_security_enabled or not port.project_id:
            return []
        return [self.groups.default_of(port.project_id).id]

    def _has_device(self, record: Port) -> bool:
        rows = self.state.rows
        return record.device_id in (rows.floatingips if record.device_owner == "network:floatingip" else rows.routers)


def _set(port: Port, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(port, name, value)


def _settle_security(port: Port, pairs: Sequence[object], present: bool) -> None:
    """Refuse groups and address pairs on a port without port security."""
    if port.port_security_enabled:
        return
    if port.security_groups and not present:
        raise bad_request(
            "Port security must be enabled and port must have an IP address in order to use security groups.",
            "PortSecurityAndIPRequiredForSecurityGroups",
        )
    if port.security_groups:
        raise conflict(
            "Port has security group associated. Cannot disable port security or IP address until security group "
            "is removed.",
            "PortSecurityPortHasSecurityGroup",
        )
    if pairs:
        raise conflict(
            "Port Security must be enabled in order to have allowed address pairs on a port.",
            "AddressPairAndPortSecurityRequired",
        )


def _pairs(port: Port, requested_address_pairs: Iterable[RequestedAddressPair]) -> list[AddressPair]:
    """Address pairs with the port's own MAC address where none is named."""
    named: list[tuple[str | None, str]] = []
    for pair in requested_address_pairs:
        if pair.ip_address is None:
            raise bad_request("AllowedAddressPair must contain ip_address", "AllowedAddressPairsMissingIP")
        named.append((pair.mac_address, pair.ip_address))
    _refuse_duplicates(named)
    pairs = [(mac or port.mac_address, address) for mac, address in named]
    _refuse_duplicates(pairs)
    return [AddressPair(mac_address=mac, ip_address=address) for mac, address in pairs]


def _refuse_duplicates(pairs: Iterable[tuple[str | None, str]]) -> None:
    for (mac, address), count in Counter(pairs).items():
        if count > 1:
            raise _duplicate_pair(mac, address)


def _duplicate_pair(mac: str | None, address: str) -> ApiError:
    return bad_request(
        f"Request contains duplicate address pair: mac_address {mac} ip_address {address}.",
        "DuplicateAddressPairInRequest",
    )


def _dhcp_options(present: Iterable[DhcpOption], changes: Iterable[RequestedOption]) -> list[DhcpOption]:
    """Options after a change: a null value removes one."""
    options = {(option.opt_name, option.ip_version): option for option in present}
    for wish in changes:
        key = (wish.opt_name, wish.ip_version)
        options.pop(key, None)
        if wish.opt_value is not None:
            options[key] = DhcpOption(opt_name=wish.opt_name, opt_value=wish.opt_value, ip_version=wish.ip_version)
    return list(options.values())
