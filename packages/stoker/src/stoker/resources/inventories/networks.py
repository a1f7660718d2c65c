"""Inventories of Neutron's types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.inventory import Fields

_INTERFACES = (
    "network:router_interface",
    "network:router_interface_distributed",
    "network:ha_router_replicated_interface",
)
"""Owners of the ports by which routers are connected to subnets."""
_DEFAULT_EGRESS = [{"direction": "egress", "ethertype": version} for version in ("IPv4", "IPv6")]


def _subnet(values: Mapping[str, object], subnet: Fields) -> Fields:
    """A subnet without a gateway has an empty property."""
    return {**values, "gateway_ip": subnet.get("gateway_ip") or ""}


def _port_left_out(port: Fields) -> str:
    owner = str(port.get("device_owner") or "")
    if owner.startswith("network:"):
        return f"the network service makes it for what it belongs to ({owner})"
    if owner == "Octavia":
        return "the load balancing service makes it for a load balancer"
    return ""


def _port(values: dict[str, object], port: Fields) -> Fields:
    """A port without addresses says so, since a new one would get some."""
    return values if port["fixed_ips"] else {**values, "no_fixed_ips": True}


def _router(values: dict[str, Any], router: Fields) -> Fields:
    gateway = values.get("external_gateway_info")
    if gateway:
        snat = {"enable_snat": False} if gateway.get("enable_snat") is False else {}
        values["external_gateway_info"] = {"network": gateway["network"], **snat}
    return values


def _interfaces(port: Fields) -> Iterable[Fields]:
    """Yield the interfaces of a router that a port stands for, one for each subnet."""
    if port.get("device_owner") in _INTERFACES:
        for address in port["fixed_ips"]:
            router, subnet = port["device_id"], address["subnet_id"]
            yield {"id": f"{router}:subnet_id={subnet}", "router": router, "subnet": subnet}


def _interface(values: dict[str, object], interface: Fields) -> Fields:
    return {"router": interface["router"], "subnet": interface["subnet"]}


def _floating_ip(values: Mapping[str, object], address: Fields) -> Fields:
    return {name: value for name, value in values.items() if name != "value_specs"}


def _group_left_out(group: Fields) -> str:
    if group["name"] == "default":
        return "the network service makes it for the project"
    if not any(rule["direction"] == "egress" for rule in group["security_group_rules"]):
        return "it has no rule for outgoing traffic, which a template cannot say"
    return ""


def _group(values: Mapping[str, object], group: Fields) -> Fields:
    """The rules that a group has without any for outgoing traffic are not written."""
    rules = [_rule(rule, group["id"]) for rule in group["security_group_rules"]]
    outgoing = [rule for rule in rules if rule["direction"] == "egress"]
    if len(outgoing) == len(_DEFAULT_EGRESS) and all(rule in outgoing for rule in _DEFAULT_EGRESS):
        rules = [rule for rule in rules if rule not in outgoing]
    return {**values, "rules": sorted(rules, key=_place)}


def _rule(rule: Fields, group: str) -> dict[str, Any]:
    names = ("description", "direction", "ethertype", "port_range_min", "port_range_max", "protocol")
    found = {name: rule[name] for name in (*names, "remote_ip_prefix") if rule.get(name) not in (None, "")}
    remote = rule.get("remote_group_id")
    if remote:
        found["remote_mode"] = "remote_group_id"
        if remote != group:
            found["remote_group_id"] = remote
    return found


def _place(rule: Mapping[str, object]) -> tuple[str, ...]:
    names = ("direction", "ethertype", "protocol", "remote_ip_prefix", "remote_group_id")
    ports = (f"{rule.get(name, -1):6d}" for name in ("port_range_min", "port_range_max"))
    return (*(str(rule.get(name, "")) for name in names), *ports)


_SECURE = {"port_security_enabled": True}

ROWS: Mapping[str, Mapping[str, object]] = {
    "OS::Neutron::Net": {"usual": _SECURE, "chosen": frozenset({"dhcp_agent_ids"})},
    "OS::Neutron::Subnet": {"chosen": frozenset({"subnetpool", "prefixlen"}), "describe": _subnet},
    "OS::Neutron::Port": {
        "usual": {**_SECURE, "propagate_uplink_status": True},
        "chosen": frozenset({"device_id", "device_owner", "mac_address"}),
        "left_out": _port_left_out,
        "describe": _port,
    },
    "OS::Neutron::Router": {
        "usual": {"distributed": False, "ha": False},
        "chosen": frozenset({"l3_agent_ids"}),
        "describe": _router,
    },
    "OS::Neutron::RouterInterface": {
        "path": "/v2.0/ports",
        "members": "ports",
        "member": "",
        "finder": None,
        "follows": "router",
        "objects": _interfaces,
        "describe": _interface,
    },
    "OS::Neutron::SecurityGroup": {
        "usual": {"stateful": True},
        "describe": _group,
        "left_out": _group_left_out,
    },
    "OS::Neutron::FloatingIP": {
        "name_field": "floating_ip_address",
        "chosen": frozenset({"floating_ip_address", "fixed_ip_address", "floating_subnet"}),
        "describe": _floating_ip,
    },
}
