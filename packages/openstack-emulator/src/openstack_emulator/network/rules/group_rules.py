"""Rules of security groups."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.validation.converting import Invalid
from openstack_emulator.network.records.core import SecurityGroupRule
from openstack_emulator.network.rules.attributes import ip_or_cidr, network_of
from openstack_emulator.network.rules.errors import disallowed, in_use
from openstack_emulator.network.rules.kinds.kind import Actor, Values
from openstack_emulator.network.rules.resources import Resources

ETHERTYPES = ("IPv4", "IPv6")
ICMP = {"icmp": "IPv4", "ipv6-icmp": "IPv6", "icmpv6": "IPv6", "1": None, "58": "IPv6"}
WITH_PORTS = frozenset({"tcp", "udp", "sctp", "dccp", "udplite", "6", "17", "33", "132", "136"})
PROTOCOLS = frozenset(
    {
        *WITH_PORTS, *ICMP, "ah", "egp", "esp", "gre", "igmp", "ipip", "ipv6-encap", "ipv6-frag", "ipv6-nonxt",
        "ipv6-opts", "ipv6-route", "ospf", "pgm", "rsvp", "vrrp", "hopopt",
    }
)  # fmt: skip
NUMBERS = {
    "icmp": 1, "igmp": 2, "ipip": 4, "tcp": 6, "egp": 8, "udp": 17, "dccp": 33, "ipv6-encap": 41, "ipv6-route": 43,
    "ipv6-frag": 44, "rsvp": 46, "gre": 47, "esp": 50, "ah": 51, "ipv6-icmp": 58, "icmpv6": 58, "ipv6-nonxt": 59,
    "ipv6-opts": 60, "ospf": 89, "vrrp": 112, "pgm": 113, "sctp": 132, "udplite": 136,
}  # fmt: skip
_REST = attrgetter(
    "direction",
    "ethertype",
    "port_range_min",
    "port_range_max",
    "normalized_cidr",
    "remote_group_id",
    "remote_address_group_id",
)
"""What two rules must differ in, besides the protocol."""
ALLOWED_PROTOCOLS = (
    "(None, 'any', 'ah', 'dccp', 'egp', 'esp', 'gre', 'hopopt', 'icmp', 'igmp', 'ip', 'ipip', 'ipv6-encap', "
    "'ipv6-frag', 'ipv6-icmp', 'icmpv6', 'ipv6-nonxt', 'ipv6-opts', 'ipv6-route', 'ospf', 'pgm', 'rsvp', 'sctp', "
    "'tcp', 'udp', 'udplite', 'vrrp')"
)
"""As Neutron's error lists them."""


class SecurityGroupRules(Resources[SecurityGroupRule]):
    """No group has the same rule twice."""

    def visible(self, actor: Actor, record: SecurityGroupRule) -> bool:
        groups = self.state.of("security_groups")
        return super().visible(actor, record) or groups.visible(actor, groups.rows.require(record.security_group_id))

    def prepare_create(self, actor: Actor, draft: SecurityGroupRule, values: Values) -> None:
        group = self.state.rows.security_groups.require(draft.security_group_id)
        if not actor.owns(group):
            raise disallowed("create_security_group_rule")
        draft.project_id = group.project_id
        if draft.ethertype not in ETHERTYPES:
            raise bad_request(
                f"Security group rule for ethertype '{draft.ethertype}' not supported. Allowed values are "
                f"{list(ETHERTYPES)}.",
                "SecurityGroupRuleInvalidEtherType",
            )
        draft.protocol = _protocol(draft)
        _check_remote(draft)
        _check_ports(draft)
        draft.normalized_cidr = _normal_cidr(draft)
        signature = _signature(draft)
        for rule in self.rows.select(security_group_id=group.id):
            if _signature(rule) == signature:
                raise in_use("SecurityGroupRuleExists", f"Security group rule already exists. Rule id is {rule.id}.")


def _signature(rule: SecurityGroupRule) -> tuple[object, ...]:
    protocol = rule.protocol
    number: int | str | None = protocol
    if protocol is not None:
        number = int(protocol) if re.fullmatch("[0-9]{1,3}", protocol) else NUMBERS.get(protocol, protocol)
    return (number, *_REST(rule))


def _protocol(rule: SecurityGroupRule) -> str | None:
    """The protocol as a string: a name, or a number from 0 to 255."""
    if rule.protocol in (None, "", "any", -1, "-1"):
        return None
    protocol = str(rule.protocol).lower()
    if re.fullmatch("[0-9]{1,3}", protocol) and int(protocol) <= 255:
        if protocol == "0":
            return None
    elif protocol not in PROTOCOLS:
        raise bad_request(
            f"Security group rule protocol {rule.protocol} not supported. Only protocol values "
            f"{ALLOWED_PROTOCOLS} and integer representations [0 to 255] are supported.",
            "SecurityGroupRuleInvalidProtocol",
        )
    if protocol in ICMP and ICMP[protocol] not in (None, rule.ethertype) and protocol != "icmp":
        raise bad_request(
            f"Invalid ethertype {rule.ethertype} for protocol {protocol}.", "SecurityGroupEthertypeConflictWithProtocol"
        )
    return "ipv6-icmp" if protocol == "icmp" and rule.ethertype == "IPv6" else protocol


def _check_remote(rule: SecurityGroupRule) -> None:
    remotes = [rule.remote_ip_prefix, rule.remote_group_id, rule.remote_address_group_id]
    if sum(remote is not None for remote in remotes) > 1:
        raise bad_request(
            "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.",
            "SecurityGroupMultipleRemoteEntites",
        )
    prefix = rule.remote_ip_prefix
    if prefix is not None:
        try:
            ip_or_cidr(prefix)
        except Invalid:
            raise bad_request(f"Invalid CIDR {prefix} given as IP prefix.", "InvalidCIDR") from None
    if prefix is not None and f"IPv{network_of(prefix).version}" != rule.ethertype:
        raise bad_request(
            f"Conflicting value ethertype {rule.ethertype} for CIDR {prefix}",
            "SecurityGroupRuleParameterConflict",
        )


def _check_ports(rule: SecurityGroupRule) -> None:
    """Port ranges for protocols that have ports; type and code of ICMP; nothing for the others."""
    protocol = rule.protocol
    low = rule.port_range_min = _port(rule.port_range_min)
    high = rule.port_range_max = _port(rule.port_range_max)
    if low is None and high is None:
        return
    if protocol is None:
        raise bad_request(
            "Must also specify protocol if port range is given.", "SecurityGroupProtocolRequiredWithPorts"
        )
    if protocol in ICMP:
        for label, value in (("type", low), ("code", high)):
            if value is not None and not 0 <= value <= 255:
                raise bad_request(
                    f"Invalid value for ICMP {label} ({label}) {value}. It must be 0 to 255.",
                    "SecurityGroupInvalidIcmpValue",
                )
        if low is None:
            raise bad_request(
                f"ICMP code (port-range-max) {high} is provided but ICMP type (port-range-min) is missing.",
                "SecurityGroupMissingIcmpType",
            )
    elif protocol in WITH_PORTS:
        if low is None or high is None or not 1 <= low <= high <= 65535:
            raise bad_request(
                "For TCP/UDP protocols, port_range_min must be <= port_range_max",
                "SecurityGroupInvalidPortRange",
            )
    else:
        raise bad_request(
            f"Port range cannot be specified for protocol {protocol}. Port range is only supported for TCP, UDP, "
            "UDPLITE, SCTP and DCCP.",
            "SecurityGroupInvalidProtocolForPort",
        )


def _port(value: Any) -> int | None:
    if value in (None, ""):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number <= 65535:
        raise bad_request(f"Invalid value for port {value}", "SecurityGroupInvalidPortValue")
    return number


def _normal_cidr(rule: SecurityGroupRule) -> str | None:
    prefix = rule.remote_ip_prefix
    return None if prefix is None else str(network_of(prefix))
