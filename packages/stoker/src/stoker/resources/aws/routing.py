"""Routers of CloudFormation's networks: the default router of a VPC, and interfaces that move between routers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call

INTERFACE = "network:router_interface"


async def router_of(call: Call, network: str) -> str | None:
    """Return the ID of the router that has the network's name; None if there is none, or no such network.

    Raises CloudError if there are several.
    """
    answer = await call.cloud.request("GET", "neutron", f"/v2.0/networks/{quote(network, safe='')}", ok=(404,))
    name = None if answer.status == 404 else answer.body.get("network", {}).get("name")
    if not name:
        return None
    listed = await call.cloud.list("neutron", "/v2.0/routers", "routers", {"name": name})
    if len(listed) > 1:
        raise CloudError(
            "neutron", 0, f"network {network} needs one router of its name {name!r}, but there are several"
        )
    return str(listed[0]["id"]) if listed else None


async def network_of(call: Call, subnet: str) -> str | None:
    """Return the ID of the subnet's network; None when there is no such subnet."""
    answer = await call.cloud.get("neutron", f"/v2.0/subnets/{subnet}", ok=(404,))
    shown = answer.get("subnet")
    return None if shown is None else str(shown["network_id"])


async def interfaces(call: Call, subnet: str) -> list[dict[str, Any]]:
    """Return the ports of routers in the subnet."""
    params = {"fixed_ips": f"subnet_id={subnet}", "device_owner": INTERFACE}
    return await call.cloud.list("neutron", "/v2.0/ports", "ports", params)


async def add_interface(call: Call, router: str, subnet: str) -> None:
    """Connect the router to the subnet."""
    await call.cloud.put("neutron", f"/v2.0/routers/{router}/add_router_interface", {"subnet_id": subnet}, once=True)


async def remove_interface(call: Call, router: str, subnet: str) -> None:
    """Disconnect the router from the subnet, if it is connected."""
    path = f"/v2.0/routers/{router}/remove_router_interface"
    await call.cloud.put("neutron", path, {"subnet_id": subnet}, ok=(404,), once=True)


async def gateway_of(call: Call, router: str) -> str | None:
    """Return the external network of the router's gateway; None when it has none or there is no such router."""
    answer = await call.cloud.get("neutron", f"/v2.0/routers/{router}", ok=(404,))
    gateway = (answer.get("router") or {}).get("external_gateway_info") or {}
    network = gateway.get("network_id")
    return None if network is None else str(network)


async def set_gateway(call: Call, router: str, network: str | None) -> None:
    """Set or remove the router's gateway; a router that does not exist has none to remove."""
    gateway = {} if network is None else {"network_id": network}
    body = {"router": {"external_gateway_info": gateway}}
    await call.cloud.put("neutron", f"/v2.0/routers/{router}", body, ok=() if network else (404,))
