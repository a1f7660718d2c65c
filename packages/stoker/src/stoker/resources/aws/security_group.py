"""AWS::EC2::SecurityGroup: a security group with CloudFormation's properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from stoker.plugins.resource import Call, ResourceType
from stoker.resources.neutron.allowances import GROUP_BY_DIRECTION
from stoker.resources.neutron.rule_set import RuleSet, live_rules
from stoker.resources.wire import NOT_SENT, without_nulls
from stoker.schema.live import FETCHED, managed
from stoker.schema.property import Change, Property, Type
from stoker.schema.unknown import is_unknown

_INGRESS, _EGRESS = "SecurityGroupIngress", "SecurityGroupEgress"
_DIRECTIONS = {_INGRESS: "ingress", _EGRESS: "egress"}
_ALL_PROTOCOLS = "-1"


_RULE = {
    "IpProtocol": Property(description="The protocol, by name or number; all protocols if -1 or not given."),
    "FromPort": Property(description="First port, or type of the ICMP message; -1 for all."),
    "ToPort": Property(description="Last port, or code of the ICMP message; -1 for all."),
    "CidrIp": Property(description="Addresses of the remote end, as a CIDR."),
    "SourceSecurityGroupId": Property(description="The security group of the remote end."),
    "SourceSecurityGroupName": Property(description="The security group of the remote end, by name."),
    "SourceSecurityGroupOwnerId": Property(description="Not supported.", implemented=False),
}


def _rules(description: str) -> Property:
    rule = Property(Type.MAP, "A rule.", schema=_RULE)
    return Property(Type.LIST, description, items=rule, change=Change.UPDATE, wire=NOT_SENT, live=FETCHED)


class SecurityGroup(RuleSet):
    """A set of rules for the traffic of instances."""

    type_name = "AWS::EC2::SecurityGroup"
    description = "A set of rules for the incoming and outgoing traffic of instances."
    consumes = GROUP_BY_DIRECTION
    reference_id = ResourceType.reference_id
    readers = {name: partial(live_rules, name) for name in _DIRECTIONS}

    properties = {
        "GroupDescription": Property(description="Description of the group.", required=True, wire="description"),
        "VpcId": Property(description="Has no effect.", live=managed("it has no effect")),
        _INGRESS: _rules("Rules for incoming traffic."),
        _EGRESS: _rules("Rules for outgoing traffic; without one, all outgoing traffic is allowed."),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {"name": call.physical_name, "description": call.properties["GroupDescription"]}

    async def update_body(self, call: Call) -> dict[str, object]:
        return {}

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        for name in _DIRECTIONS:
            rules = properties.get(name)
            for rule in [] if is_unknown(rules) else rules or []:
                if not is_unknown(rule):
                    yield from _port_problems(name, rule)

    def declared_rules(self, properties: Mapping[str, Any]) -> list[object]:
        return [(direction, rule) for name, direction in _DIRECTIONS.items() for rule in properties[name] or []]

    def shown_rule(self, rule: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        name = next(name for name, direction in _DIRECTIONS.items() if direction == rule["direction"])
        shown = {
            "IpProtocol": rule.get("protocol") or _ALL_PROTOCOLS,
            "FromPort": _text(rule.get("port_range_min")),
            "ToPort": _text(rule.get("port_range_max")),
            "CidrIp": rule.get("remote_ip_prefix"),
            "SourceSecurityGroupId": rule.get("remote_group_id"),
        }
        return name, {**dict.fromkeys(_RULE), **shown}

    async def sent_rule(self, call: Call, rule: Any) -> dict[str, object]:
        direction, given = rule
        source = given["SourceSecurityGroupId"] or given["SourceSecurityGroupName"]
        protocol = given["IpProtocol"]
        body = {
            "security_group_id": call.physical_id,
            "direction": direction,
            "ethertype": "IPv4",
            "protocol": None if protocol == _ALL_PROTOCOLS else protocol,
            "port_range_min": _port(given["FromPort"]),
            "port_range_max": _port(given["ToPort"]),
            "remote_ip_prefix": given["CidrIp"],
            "remote_group_id": await call.cloud.find("neutron.security_group", source) if source else None,
        }
        return without_nulls(body)


def _port(port: str | None) -> str | None:
    """Return a port; a negative one stands for all ports."""
    return None if port is None or port.startswith("-") else port


def _text(number: object) -> str | None:
    return None if number is None else str(number)


def _port_problems(name: str, rule: Mapping[str, object]) -> Iterable[str]:
    """Yield a problem if a range of ports ends before it begins; ICMP has types and codes instead of ports."""
    if rule.get("IpProtocol") in _WITH_PORTS:
        given = (rule.get("FromPort"), rule.get("ToPort"))
        ports = [int(port) for port in given if isinstance(port, str) and port.isdecimal()]
        if len(ports) == len(given) and ports[1] < ports[0]:
            first, last = ports
            yield f"{name}: ToPort {last} is less than FromPort {first}"


_WITH_PORTS = ("tcp", "udp", "6", "17")
