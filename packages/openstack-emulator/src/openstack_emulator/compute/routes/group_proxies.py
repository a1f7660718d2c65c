"""Security groups as Nova shows Neutron's, up to microversion 2.35."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import call_service
from openstack_emulator.core.typed import Part
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields

GROUPS = "/network/v2.0/security-groups"
RULES = "/network/v2.0/security-group-rules"
GROUP = {"name": fields.text(), "description": fields.nullable(fields.text())}
RULE = {
    "parent_group_id": fields.identifier,
    "ip_protocol": fields.nullable(fields.text()),
    "from_port": fields.nullable(fields.integer(-1, 65535)),
    "to_port": fields.nullable(fields.integer(-1, 65535)),
    "cidr": fields.nullable(fields.text()),
    "group_id": fields.nullable(fields.identifier),
}


@dataclass(slots=True, kw_only=True, eq=False)
class Rule(Part):
    """A rule of a group, as Neutron shows it."""

    id: str
    direction: str
    ethertype: str
    protocol: str | None
    port_range_min: int | None
    port_range_max: int | None
    remote_group_id: str | None
    remote_ip_prefix: str | None
    security_group_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Group(Part):
    """A security group, as Neutron shows it."""

    id: str
    name: str
    description: str
    project_id: str
    security_group_rules: list[Rule]


def group_view(compute: ComputeService, request: Request, group: Group) -> dict[str, object]:
    """A group of Neutron's as Nova has it: with the rules for what comes in."""
    rules = [row for row in group.security_group_rules if row.direction == "ingress"]
    return {
        "id": group.id,
        "name": group.name,
        "description": group.description,
        "tenant_id": group.project_id,
        "rules": [rule_view(compute, request, row) for row in rules],
    }


def rule_view(compute: ComputeService, request: Request, rule: Rule) -> dict[str, object]:
    """A rule of Neutron's as Nova has it; ports that do not matter are -1, also in rules without a protocol."""
    prefix, source = rule.remote_ip_prefix, {}
    if rule.remote_group_id is not None:
        found = group_of(call_service(compute.cloud, request, "GET", f"{GROUPS}/{rule.remote_group_id}"))
        source = {"name": found.name, "tenant_id": found.project_id}
    elif prefix is None:
        prefix = "0.0.0.0/0" if rule.ethertype == "IPv4" else "::/0"
    unbounded = -1 if rule.protocol in ("icmp", "ipv6-icmp") else None
    low, high = rule.port_range_min, rule.port_range_max
    return {
        "id": rule.id,
        "parent_group_id": rule.security_group_id,
        "ip_protocol": rule.protocol,
        "from_port": unbounded if low is None else low,
        "to_port": unbounded if high is None else high,
        "group": source,
        "ip_range": {"cidr": prefix} if rule.remote_group_id is None else {},
    }


def group_of(answer: Mapping[str, Any]) -> Group:
    """The group in an answer of Neutron."""
    return Group.from_json(answer["security_group"])


def _request_neutron(call: Callable[[], object]) -> Any:
    """What Neutron answers; what it calls a conflict is a bad request here."""
    try:
        return call()
    except ApiError as error:
        raise bad_request(error.message) if error.status == 409 else error from None


def index(compute: ComputeService, request: Request) -> Response:
    everyone = request.context.is_admin and bool(request.query.boolean("all_tenants"))
    query = "" if everyone else urlencode({"project_id": request.context.project})
    groups = call_service(compute.cloud, request, "GET", GROUPS, query=query)["security_groups"]
    start = request.query.integer("offset") or 0
    limit = request.query.integer("limit")
    shown = groups[start:] if limit is None else groups[start : start + limit]
    rows = [Group.from_json(group) for group in shown]
    return Response({"security_groups": [group_view(compute, request, group) for group in rows]})


def _group(request: Request) -> dict[str, object]:
    body = request.object("security_group")
    check_fields(body, GROUP, ("name", "description"), "security_group")
    return {"security_group": {**body, "description": body.get("description") or ""}}


def create(compute: ComputeService, request: Request) -> Response:
    group = _request_neutron(lambda: call_service(compute.cloud, request, "POST", GROUPS, _group(request)))
    return Response({"security_group": group_view(compute, request, group_of(group))})


def _place(request: Request) -> str:
    key = request.vars["group_id"]
    if fields.identifier(key) is not None:
        raise bad_request(f"Security group id should be a uuid: {key}")
    return f"{GROUPS}/{key}"


def show(compute: ComputeService, request: Request) -> Response:
    found = group_of(call_service(compute.cloud, request, "GET", _place(request)))
    return Response({"security_group": group_view(compute, request, found)})


def update(compute: ComputeService, request: Request) -> Response:
    changed = _request_neutron(lambda: call_service(compute.cloud, request, "PUT", _place(request), _group(request)))
    return Response({"security_group": group_view(compute, request, group_of(changed))})


def delete(compute: ComputeService, request: Request) -> Response:
    _request_neutron(lambda: call_service(compute.cloud, request, "DELETE", _place(request)))
    return Response(status=202)


def create_rule(compute: ComputeService, request: Request) -> Response:
    arguments = request.object("security_group_rule")
    check_fields(arguments, RULE, ("parent_group_id",), "security_group_rule", strict=False)
    body = {"security_group_rule": _rule(arguments)}
    rule = _request_neutron(lambda: call_service(compute.cloud, request, "POST", RULES, body))["security_group_rule"]
    return Response({"security_group_rule": rule_view(compute, request, Rule.from_json(rule))})


def _rule(body: Mapping[str, Any]) -> dict[str, Any]:
    """The rule as Neutron takes it."""
    protocol, group, cidr = body.get("ip_protocol"), body.get("group_id"), body.get("cidr")
    if group is None and cidr is None:
        cidr = "0.0.0.0/0"
    ports = {
        name: int(port)
        for name, port in (("port_range_min", body.get("from_port")), ("port_range_max", body.get("to_port")))
        if port is not None and int(port) >= 0
    }
    return {
        "direction": "ingress",
        "security_group_id": body.get("parent_group_id"),
        "protocol": protocol.lower() if protocol else None,
        "ethertype": "IPv6" if cidr is not None and ":" in cidr else "IPv4",
        **ports,
        **({"remote_group_id": group} if group is not None else {"remote_ip_prefix": cidr}),
    }


def delete_rule(compute: ComputeService, request: Request) -> Response:
    key = request.vars["rule_id"]
    if fields.identifier(key) is not None:
        raise bad_request(f"Security group rule id should be a uuid: {key}")
    call_service(compute.cloud, request, "DELETE", f"{RULES}/{key}")
    return Response(status=202)
