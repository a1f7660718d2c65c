"""What rules of security groups are: their fields, and when two of them are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.resources.declare import Constraints, between, custom, one_of
from stoker.schema.property import Property, Support, Type
from stoker.schema.unknown import is_unknown

PROTOCOLS: Constraints = one_of(
    *map(str, range(256)),
    "ah", "dccp", "egp", "esp", "gre", "icmp", "icmpv6", "igmp", "ipv6-encap", "ipv6-frag", "ipv6-icmp", "ipv6-nonxt",
    "ipv6-opts", "ipv6-route", "ospf", "pgm", "rsvp", "sctp", "tcp", "udp", "udplite", "vrrp",
)  # fmt: skip
_PORT = between(0, 65535)
_NUMBERED = ("port_range_min", "port_range_max", "protocol")
_ICMP_V6 = frozenset({"icmpv6", "ipv6-icmp"})
_ICMP = _ICMP_V6 | {"icmp", "1", "58"}

RULE: Mapping[str, Property] = {
    "description": Property(description="What the rule is for.", support=Support(version="27.0.0")),
    "direction": Property(
        description="Whether the rule is for what comes in or goes out.",
        default="ingress",
        constraints=one_of("ingress", "egress"),
    ),
    "ethertype": Property(
        description="Version of the Internet Protocol.", default="IPv4", constraints=one_of("IPv4", "IPv6")
    ),
    "port_range_min": Property(Type.INTEGER, "First port, or type of the ICMP message.", constraints=_PORT),
    "port_range_max": Property(Type.INTEGER, "Last port, or code of the ICMP message.", constraints=_PORT),
    "protocol": Property(description="The protocol, by name or number; if not given, all.", constraints=PROTOCOLS),
    "remote_ip_prefix": Property(description="Addresses of the other end.", constraints=custom("net_cidr")),
}
"""What the rules inside a group and rules of their own have in common."""

FIELDS = (
    "description", "direction", "ethertype", "port_range_max", "port_range_min", "protocol", "remote_group_id",
    "remote_ip_prefix",
)  # fmt: skip

RuleKey = tuple[str | None, ...]


def as_text(rule: Mapping[str, Any]) -> dict[str, Any]:
    """A rule with its numbers as text, the way they are sent."""
    return {name: str(value) if name in _NUMBERED and value is not None else value for name, value in rule.items()}


def rule_key(rule: Mapping[str, Any]) -> RuleKey:
    """The fields of a rule in one form, so that what is sent and what Neutron shows compare equal."""
    return tuple(_form(name, rule.get(name), rule) for name in FIELDS)


def _form(name: str, value: Any, rule: Mapping[str, Any]) -> str | None:
    if value is None or value == "":
        return None
    text = str(value)
    if name != "protocol":
        return text
    if text == "0":
        return None
    over_v6 = rule.get("ethertype") == "IPv6" and text == "icmp"
    return "ipv6-icmp" if over_v6 or text in _ICMP_V6 else text


def port_problems(rule: Mapping[str, Any]) -> Iterable[str]:
    """A complaint about a range of ports that ends before it begins; ICMP has types and codes instead."""
    low, high = rule.get("port_range_min"), rule.get("port_range_max")
    protocol = rule.get("protocol")
    if is_unknown(protocol) or protocol in _ICMP:
        return
    if isinstance(low, int) and isinstance(high, int) and high < low:
        yield f"port_range_max {high} is less than port_range_min {low}"
