"""Security groups and their rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.store import Record
from openstack_emulator.network.attributes import ip_or_cidr, network_of
from openstack_emulator.network.errors import disallowed, in_use
from openstack_emulator.network.kinds import Actor
from openstack_emulator.network.table import Table

DEFAULT = "default"
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
SAME_RULE = (
    "direction",
    "ethertype",
    "port_range_min",
    "port_range_max",
    "normalized_cidr",
    "remote_group_id",
    "remote_address_group_id",
)
ALLOWED_PROTOCOLS = (
    "(None, 'any', 'ah', 'dccp', 'egp', 'esp', 'gre', 'hopopt', 'icmp', 'igmp', 'ip', 'ipip', 'ipv6-encap', "
    "'ipv6-frag', 'ipv6-icmp', 'icmpv6', 'ipv6-nonxt', 'ipv6-opts', 'ipv6-route', 'ospf', 'pgm', 'rsvp', 'sctp', "
    "'tcp', 'udp', 'udplite', 'vrrp')"
)
"""As Neutron's error lists them."""
WHOLE = {"IPv4": "0.0.0.0/0", "IPv6": "::/0"}


class SecurityGroups(Table):
    """Every project has a group `default`, made when it first needs it."""

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        if wanted["name"].lower() == DEFAULT:
            raise conflict("Default security group already exists.", "SecurityGroupDefaultAlreadyExists")
        self.state.check_quota(wanted["project_id"], "security_group_rule", len(WHOLE))
        self.default_of(wanted["project_id"])

    def created(self, actor: Actor, record: Record) -> None:
        self._allow(record, "egress")

    def revise(self, actor: Actor, record: Record, changes: Record) -> None:
        if record["name"] == DEFAULT and changes.get("name", DEFAULT) != DEFAULT:
            raise conflict("Updating default security group not allowed.", "SecurityGroupCannotUpdateDefault")
        if record["name"] != DEFAULT and changes.get("name", "").lower() == DEFAULT:
            raise conflict("Default security group already exists.", "SecurityGroupDefaultAlreadyExists")
        if changes.get("stateful", record["stateful"]) != record["stateful"] and self._ports(record):
            raise self.used(record)

    def view(self, actor: Actor, record: Record) -> Record:
        rules = self.state.table("security_group_rules")
        shown = super().view(actor, record)
        own = rules.rows.select(security_group_id=record["id"])
        shown["security_group_rules"] = [rules.view(actor, rule) for rule in own]
        return shown

    def refuse_delete(self, actor: Actor, record: Record) -> None:
        if record["name"] == DEFAULT and not actor.admin:
            raise conflict(
                "Insufficient rights for removing default security group.", "SecurityGroupCannotRemoveDefault"
            )
        if self._ports(record):
            raise self.used(record)

    def default_of(self, project_id: str) -> Record:
        """The project's group `default`."""
        found = self.rows.first(project_id=project_id, name=DEFAULT)
        if found is not None:
            return found
        values = {"name": DEFAULT, "description": "Default security group", "project_id": project_id}
        group = self.put({"id": new_id(), **self.kind.defaults(), **values})
        self._allow(group, "ingress", remote_group_id=group["id"])
        self._allow(group, "egress")
        return group

    def _ports(self, record: Record) -> set[str]:
        return self.state.ports.group_ports.get(record["id"], set())

    def _allow(self, group: Record, direction: str, **fields: Any) -> None:
        """A rule for each IP version that lets everything through."""
        rules = self.state.table("security_group_rules")
        fixed = {"security_group_id": group["id"], "direction": direction, "project_id": group["project_id"]}
        for ethertype in WHOLE:
            rule = {"id": new_id(), **rules.kind.defaults(), **fixed, **fields, "ethertype": ethertype}
            rules.put({**rule, "description": None, "normalized_cidr": None})


class SecurityGroupRules(Table):
    """No group has the same rule twice."""

    def visible(self, actor: Actor, record: Record) -> bool:
        groups = self.state.table("security_groups")
        return super().visible(actor, record) or groups.visible(actor, groups.rows.require(record["security_group_id"]))

    def prepare(self, actor: Actor, wanted: Record, given: Record) -> None:
        group = self.state.rows["security_groups"].require(wanted["security_group_id"])
        if not actor.owns(group):
            raise disallowed("create_security_group_rule")
        wanted["project_id"] = group["project_id"]
        if wanted["ethertype"] not in WHOLE:
            raise bad_request(
                f"Security group rule for ethertype '{wanted['ethertype']}' not supported. Allowed values are "
                f"{list(WHOLE)}.",
                "SecurityGroupRuleInvalidEtherType",
            )
        wanted["protocol"] = _protocol(wanted)
        _check_remote(wanted)
        _check_ports(wanted)
        wanted["normalized_cidr"] = _normal_cidr(wanted)
        signature = _signature(wanted)
        for rule in self.rows.select(security_group_id=group["id"]):
            if _signature(rule) == signature:
                raise in_use("SecurityGroupRuleExists", f"Security group rule already exists. Rule id is {rule['id']}.")


def _signature(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    protocol = rule["protocol"]
    number = (
        int(protocol)
        if protocol is not None and re.fullmatch("[0-9]{1,3}", protocol)
        else NUMBERS.get(protocol, protocol)
    )
    return (number, *(rule[name] for name in SAME_RULE))


def _protocol(rule: Record) -> str | None:
    """The protocol as a string: a name, or a number from 0 to 255."""
    if rule["protocol"] in (None, "", "any", -1, "-1"):
        return None
    given = str(rule["protocol"]).lower()
    if re.fullmatch("[0-9]{1,3}", given) and int(given) <= 255:
        if given == "0":
            return None
    elif given not in PROTOCOLS:
        raise bad_request(
            f"Security group rule protocol {rule['protocol']} not supported. Only protocol values "
            f"{ALLOWED_PROTOCOLS} and integer representations [0 to 255] are supported.",
            "SecurityGroupRuleInvalidProtocol",
        )
    if given in ICMP and ICMP[given] not in (None, rule["ethertype"]) and given != "icmp":
        raise bad_request(
            f"Invalid ethertype {rule['ethertype']} for protocol {given}.", "SecurityGroupEthertypeConflictWithProtocol"
        )
    return "ipv6-icmp" if given == "icmp" and rule["ethertype"] == "IPv6" else given


def _check_remote(rule: Record) -> None:
    remotes = [rule["remote_ip_prefix"], rule["remote_group_id"], rule["remote_address_group_id"]]
    if sum(remote is not None for remote in remotes) > 1:
        raise bad_request(
            "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.",
            "SecurityGroupMultipleRemoteEntites",
        )
    prefix = rule["remote_ip_prefix"]
    if prefix is not None:
        try:
            ip_or_cidr(prefix)
        except ValueError:
            raise bad_request(f"Invalid CIDR {prefix} given as IP prefix.", "InvalidCIDR") from None
    if prefix is not None and f"IPv{network_of(prefix).version}" != rule["ethertype"]:
        raise bad_request(
            f"Conflicting value ethertype {rule['ethertype']} for CIDR {prefix}",
            "SecurityGroupRuleParameterConflict",
        )


def _check_ports(rule: Record) -> None:
    """Port ranges for protocols that have ports; type and code of ICMP; nothing for the others."""
    protocol = rule["protocol"]
    for name in ("port_range_min", "port_range_max"):
        rule[name] = _port(rule[name])
    low, high = rule["port_range_min"], rule["port_range_max"]
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


def _normal_cidr(rule: Record) -> str | None:
    prefix = rule["remote_ip_prefix"]
    return None if prefix is None else str(network_of(prefix))
