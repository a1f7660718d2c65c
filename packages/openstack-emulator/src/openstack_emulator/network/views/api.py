"""Records as the API shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from openstack_emulator.core.typed import to_plain, to_public
from openstack_emulator.network.records.core import (
    Agent,
    FloatingIp,
    MeteringLabelRule,
    MinimumBandwidthRule,
    MinimumPacketRateRule,
    Network,
    OwnedRecord,
    Port,
    PortForwarding,
    QosPolicy,
    QosRule,
    SecurityGroup,
    Segment,
    Subnet,
    SubnetPool,
    Trunk,
)
from openstack_emulator.network.rules.agents import TIME
from openstack_emulator.network.rules.kinds.kind import Actor
from openstack_emulator.network.rules.kinds.security import QOS_RULES
from openstack_emulator.network.rules.networks import ZONES
from openstack_emulator.network.rules.resources import State

View = dict[str, Any]
UNSHOWN: Mapping[type[OwnedRecord], tuple[str, ...]] = {
    Segment: ("project_id", "tenant_id", "tags"),
    MeteringLabelRule: ("project_id", "tenant_id"),
    **{kind.record: ("project_id", "tenant_id", "qos_policy_id") for kind in QOS_RULES},
}
"""What records have and do not show."""
DOMAIN = "openstacklocal."
DETAILS = ("name", "network_id", "mac_address", "admin_state_up", "status", "device_id", "device_owner")
FORWARDED = ("id", "protocol", "internal_ip_address", "internal_port", "external_port", "internal_port_id")
DIRECTIONS = {"egress": "EGR", "ingress": "IGR"}


def view(state: State, actor: Actor, record: OwnedRecord) -> View:
    """A record as the API shows it to the actor."""
    if isinstance(record, PortForwarding):
        return _forwarding(record)
    kind, shown = state.kind_of(record), to_public(record)
    shown.update(tenant_id=record.project_id)
    if kind.shareable:
        shown.update(shared=state.sharing.reaches(record.id, actor.project_id))
    if (more := _MORE.get(type(record))) is not None:
        shown.update(more(state, actor, record))
    for name in (*_unshown(record), *(() if actor.admin else kind.hidden)):
        shown.pop(name, None)
    return shown


def _unshown(record: OwnedRecord) -> tuple[str, ...]:
    """The names of what a record has and does not show."""
    if isinstance(record, Network):
        return () if record.external else ("is_default",)
    if isinstance(record, SubnetPool):
        return ("default_quota",) if record.default_quota is None else ()
    return UNSHOWN.get(type(record), ())


def announced(state: State, actor: Actor, record: OwnedRecord) -> View:
    """A record as the answer to its creation shows it."""
    if isinstance(record, Network):
        return {**view(state, actor, record), "is_default": record.is_default}
    if isinstance(record, SubnetPool):
        return {**view(state, actor, record), **_lengths(record), "default_quota": record.default_quota}
    return view(state, actor, record)


def _lengths(pool: SubnetPool) -> View:
    """The lengths of prefixes, which Neutron shows as strings then."""
    names = ("min_prefixlen", "default_prefixlen", "max_prefixlen")
    return {name: str(pool.get(name)) for name in names}


def kind_of_rule(rule: QosRule, state: State) -> str:
    """The type of a QoS rule: `bandwidth_limit`."""
    return state.kind_of(rule).name.removesuffix("_rule")


def rule_types() -> list[str]:
    """The types of QoS rules."""
    return [kind.name.removesuffix("_rule") for kind in QOS_RULES]


def _forwarding(record: PortForwarding) -> View:
    inner, outer = (f"{number}:{number}" for number in (record.internal_port, record.external_port))
    shown = {name: record.get(name) for name in ("description", *FORWARDED)}
    return {**shown, "internal_port_range": inner, "external_port_range": outer}


def agent_view(state: State, agent: Agent) -> View:
    """An agent as the API shows it: it has reported just now."""
    return {**to_plain(agent), "heartbeat_timestamp": state.records.timestamp(TIME)}


# What kinds show besides their fields


def _of_network(state: State, actor: Actor, network: Network) -> View:
    subnets = state.rows.subnets.select(network_id=network.id)
    return {
        "subnets": [subnet.id for subnet in subnets],
        "availability_zones": list(ZONES) if subnets else [],
        "ipv4_address_scope": _scope(state, subnets, 4),
        "ipv6_address_scope": _scope(state, subnets, 6),
    }


def _scope(state: State, subnets: Iterable[Subnet], version: int) -> str | None:
    for subnet in subnets:
        if subnet.ip_version == version and subnet.subnetpool_id:
            pool = state.rows.subnetpools.get(subnet.subnetpool_id)
            if pool is not None:
                return pool.address_scope_id or None
    return None


def _of_subnet(state: State, actor: Actor, subnet: Subnet) -> View:
    return {"router:external": state.rows.networks.require(subnet.network_id).external}


def _of_port(state: State, actor: Actor, port: Port) -> View:
    policy_id = state.rows.networks.require(port.network_id).qos_policy_id
    shown: View = {
        "dns_assignment": [_dns(port, fixed.ip_address) for fixed in port.fixed_ips],
        "qos_network_policy_id": policy_id,
    }
    if (trunk := state.rows.trunks.first(port_id=port.id)) is not None:
        shown.update(trunk_details=_trunk_details(state, trunk))
    if actor.admin:
        shown.update(resource_request=_resource_request(state, port, port.qos_policy_id or policy_id))
    return shown


def _dns(port: Port, address: str) -> dict[str, str]:
    host = port.dns_name or "host-" + address.replace(".", "-").replace(":", "-")
    return {"ip_address": address, "hostname": host, "fqdn": f"{host}.{port.dns_domain or DOMAIN}"}


def _trunk_details(state: State, trunk: Trunk) -> View:
    ports = state.rows.ports
    subs = [{**to_plain(sub), "mac_address": ports.require(sub.port_id).mac_address} for sub in trunk.sub_ports]
    return {"trunk_id": trunk.id, "sub_ports": subs}


def _resource_request(state: State, port: Port, policy_id: str | None) -> View | None:
    """What placement must find for the minimum rules of a QoS policy."""
    if policy_id is None:
        return None
    kbps = state.rows.of(MinimumBandwidthRule).select(qos_policy_id=policy_id)
    kpps = state.rows.of(MinimumPacketRateRule).select(qos_policy_id=policy_id)
    resources = {f"NET_BW_{DIRECTIONS[rule.direction]}_KILOBIT_PER_SEC": rule.min_kbps for rule in kbps}
    resources |= {_packet_class(rule.direction): rule.min_kpps for rule in kpps}
    if not resources:
        return None
    return {"request_groups": [{"id": port.id, "required": [], "resources": resources}], "same_subtree": []}


def _packet_class(direction: str) -> str:
    if direction == "any":
        return "NET_PACKET_RATE_KILOPACKET_PER_SEC"
    return f"NET_PACKET_RATE_{DIRECTIONS[direction]}_KILOPACKET_PER_SEC"


def _of_trunk(state: State, actor: Actor, trunk: Trunk) -> View:
    parent = state.rows.ports.require(trunk.port_id)
    return {"status": "ACTIVE" if parent.status == "ACTIVE" else "DOWN"}


def _of_floating_ip(state: State, actor: Actor, floating: FloatingIp) -> View:
    port = state.rows.ports.get(floating.port_id or "")
    forwardings = state.rows.port_forwardings.select(floatingip_id=floating.id)
    return {
        "port_details": None if port is None else {name: port.get(name) for name in DETAILS},
        "port_forwardings": [{name: row.get(name) for name in FORWARDED} for row in forwardings],
    }


def _of_group(state: State, actor: Actor, group: SecurityGroup) -> View:
    own = state.rows.security_group_rules.select(security_group_id=group.id)
    return {"security_group_rules": [view(state, actor, rule) for rule in own]}


def _of_policy(state: State, actor: Actor, policy: QosPolicy) -> View:
    tables = [state.rows.of(kind.record) for kind in QOS_RULES]
    return {
        "rules": [
            {**view(state, actor, rule), "qos_policy_id": policy.id, "type": kind_of_rule(rule, state)}
            for table in tables
            for rule in table.select(qos_policy_id=policy.id)
        ]
    }


_MORE: Mapping[type[OwnedRecord], Callable[[State, Actor, Any], View]] = {
    Network: _of_network,
    Subnet: _of_subnet,
    Port: _of_port,
    Trunk: _of_trunk,
    FloatingIp: _of_floating_ip,
    SecurityGroup: _of_group,
    QosPolicy: _of_policy,
}
