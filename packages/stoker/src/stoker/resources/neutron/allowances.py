"""What the objects of Neutron take of its quotas."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.preflight import Allowance, Consumption, Facts, Planned, Quota, used_and_reserved


async def _details(facts: Facts) -> Mapping[str, Allowance]:
    quota = (await facts.get("neutron", f"/v2.0/quotas/{facts.project_id}/details.json"))["quota"]
    return {name: used_and_reserved(row, "used") for name, row in quota.items() if isinstance(row, Mapping)}


NETWORKS = Quota("neutron", "network", "networks", _details)
SUBNETS = Quota("neutron", "subnet", "subnets", _details)
PORTS = Quota("neutron", "port", "ports", _details)
ROUTERS = Quota("neutron", "router", "routers", _details)
FLOATING_IPS = Quota("neutron", "floatingip", "floating IPs", _details)
SECURITY_GROUPS = Quota("neutron", "security_group", "security groups", _details)
SECURITY_GROUP_RULES = Quota("neutron", "security_group_rule", "rules of security groups", _details)
SUBNET_POOLS = Quota("neutron", "subnetpool", "subnet pools", _details)
TRUNKS = Quota("neutron", "trunk", "trunks", _details)
RBAC_POLICIES = Quota("neutron", "rbac_policy", "RBAC policies", _details)

_DEFAULT_EGRESS_RULES = 2
"""The rules that Neutron gives a new group: one for each version of IP."""


def counts(quota: Quota) -> tuple[Consumption, ...]:
    """Return the consumption of one object, in its own project."""
    return (Consumption(quota, owner="tenant_id"),)


def new_ports(networks: object) -> int | None:
    """Return how many ports are made for connections to networks: one for each without a port; None if not known."""
    if not isinstance(networks, list) or not all(isinstance(network, Mapping) for network in networks):
        return None
    return sum(network.get("port") is None for network in networks)


async def _interface_ports(planned: Planned, facts: Facts) -> int | None:
    """Return the number of ports that a router's interface makes: none if the template names a port."""
    return 0 if planned.properties.get("port") is not None else 1


async def _container_ports(planned: Planned, facts: Facts) -> int | None:
    """Return the number of ports that are made for a container: one per network without a port, of Zun's choice if none
    is given.
    """
    return new_ports(planned.properties.get("networks") or [{}])


async def _rules(planned: Planned, facts: Facts) -> int | None:
    """Return the number of a group's rules: those of its properties, equal ones once, and Neutron's for egress."""
    rules = planned.properties.get("rules") or []
    count = _count_distinct(rules)
    if count is None:
        return None
    has_egress = any(rule.get("direction") == "egress" for rule in rules)
    return count if has_egress else count + _DEFAULT_EGRESS_RULES


async def _rules_by_direction(planned: Planned, facts: Facts) -> int | None:
    """Return the number of the rules of a group with CloudFormation's properties."""
    ingress = _count_distinct(planned.properties.get("SecurityGroupIngress") or [])
    egress = _count_distinct(planned.properties.get("SecurityGroupEgress") or [])
    return None if ingress is None or egress is None else ingress + (egress or _DEFAULT_EGRESS_RULES)


def _count_distinct(rules: object) -> int | None:
    """Return the number of rules, equal ones counted once; None if they are not known."""
    if not isinstance(rules, list) or not all(isinstance(rule, Mapping) for rule in rules):
        return None
    return len({repr(sorted(rule.items())) for rule in rules})


CONTAINER_PORTS = (Consumption(PORTS, _container_ports, "networks"),)
ROUTER_INTERFACE = (Consumption(PORTS, _interface_ports),)
GROUP_BY_DIRECTION = (Consumption(SECURITY_GROUPS), Consumption(SECURITY_GROUP_RULES, _rules_by_direction))
SECURITY_GROUP = (Consumption(SECURITY_GROUPS), Consumption(SECURITY_GROUP_RULES, _rules, "rules"))
