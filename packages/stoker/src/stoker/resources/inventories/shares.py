"""Inventories of Manila's types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.cloud.session import Cloud
from stoker.plugins.inventory import Fields

_RULES, _SERVICES = "access_rules", "security_services"
_READ_AND_WRITE = "rw"


async def _with_rules(cloud: Cloud, share: Fields) -> Fields:
    """Read the access rules, for which older versions of Manila have an action."""
    answer = await cloud.post("manila", f"/shares/{share['id']}/action", {"access_list": None})
    return {**share, _RULES: answer["access_list"]}


async def _with_services(cloud: Cloud, network: Fields) -> Fields:
    """Read the security services that a share network uses."""
    params = {"share_network_id": network["id"]}
    listed = await cloud.list("manila", "/security-services", "security_services", params)
    return {**network, _SERVICES: sorted(str(service["id"]) for service in listed)}


def _share(values: dict[str, object], share: Fields) -> Fields:
    return {
        **values,
        "share_type": share.get("share_type"),
        _RULES: sorted((_rule(rule) for rule in share[_RULES]), key=lambda rule: sorted(rule.items())),
    }


def _rule(rule: Fields) -> dict[str, Any]:
    level = {"access_level": rule["access_level"]} if rule.get("access_level") != _READ_AND_WRITE else {}
    return {"access_to": rule["access_to"], "access_type": rule["access_type"], **level}


def _network(values: Mapping[str, object], network: Fields) -> Fields:
    return {**values, _SERVICES: network[_SERVICES]}


ROWS: Mapping[str, Mapping[str, object]] = {
    "OS::Manila::Share": {"complete": _with_rules, "describe": _share},
    "OS::Manila::ShareNetwork": {"complete": _with_services, "describe": _network},
}
