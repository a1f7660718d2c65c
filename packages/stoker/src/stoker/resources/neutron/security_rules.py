"""Rules of security groups: their fields, and when two of them are equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.resources.declare import Constraints, between, custom, one_of
from stoker.schema.property import Property, Support, Type
from stoker.schema.unknown import is_unknown

PROTOCOLS: Constraints = one_of(
    *range(256),
    "ah", "dccp", "egp", "esp", "gre", "icmp", "icmpv6", "igmp", "ipv6-encap", "ipv6-frag", "ipv6-icmp", "ipv6-nonxt",
    "ipv6-opts", "ipv6-route", "ospf", "pgm", "rsvp", "sctp", "tcp", "udp", "udplite", "vrrp",
)  # fmt: skip
_PORT = between(0, 65535)
_NUMBERED = ("port_range_min", "port_range_max", "protocol")
_ICMP_V6 = frozenset({"icmpv6", "ipv6-icmp"})
_ICMP = _ICMP_V6 | {"icmp", "1", "58"}

RULE: Mapping[str, Property] = {
    "description": Property(description="Description of the rule.", support=Support(version="27.0.0")),
    "direction": Property(
        description="Whether the rule applies to incoming (ingress) or outgoing (egress) traffic.",
        default="ingress",
        constraints=one_of("ingress", "egress"),
    ),
    "ethertype": Property(description="Version of IP.", default="IPv4", constraints=one_of("IPv4", "IPv6")),
    "port_range_min": Property(Type.INTEGER, "First port, or type of the ICMP message.", constraints=_PORT),
    "port_range_max": Property(Type.INTEGER, "Last port, or code of the ICMP message.", constraints=_PORT),
    "protocol": Property(
        description="The protocol, by name or number; all protocols if not given.", constraints=PROTOCOLS
    ),
    "remote_ip_prefix": Property(description="Addresses of the remote end, as a CIDR.", constraints=custom("net_cidr")),
}
"""Properties that rules within a group and separate rules share."""

FIELDS = (
    "description", "direction", "ethertype", "port_range_max", "port_range_min", "protocol", "remote_group_id",
    "remote_ip_prefix",
)  # fmt: skip
"""The fields by which rules are compared."""

RuleKey = tuple[str | None, ...]


def with_string_numbers(rule: Mapping[str, object]) -> dict[str, object]:
    """Return a rule with its numbers as strings, as Neutron expects them."""
    return {name: str(value) if name in _NUMBERED and value is not None else value for name, value in rule.items()}


def rule_key(rule: Mapping[str, object]) -> RuleKey:
    """Return the normalized fields of a rule, so that a request and what Neutron shows compare equal."""
    return tuple(_normalized(name, rule.get(name), rule) for name in FIELDS)


def _normalized(name: str, value: object, rule: Mapping[str, object]) -> str | None:
    if value is None or value == "":
        return None
    text = str(value)
    if name != "protocol":
        return text
    if text == "0":  # any protocol
        return None
    is_icmp_over_v6 = rule.get("ethertype") == "IPv6" and text == "icmp"
    return "ipv6-icmp" if is_icmp_over_v6 or text in _ICMP_V6 else text


def port_problems(rule: Mapping[str, object]) -> Iterable[str]:
    """Yield a problem if a range of ports ends before it begins; ICMP has types and codes instead of ports."""
    low, high = rule.get("port_range_min"), rule.get("port_range_max")
    protocol = rule.get("protocol")
    if is_unknown(protocol) or protocol in _ICMP:
        return
    if isinstance(low, int) and isinstance(high, int) and high < low:
        yield f"port_range_max {high} is less than port_range_min {low}"
