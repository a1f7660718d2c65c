"""The gateways of routers to external networks, which several resource types set."""

from __future__ import annotations

from stoker.plugins.resource import Call


async def gateway_of(call: Call, router: str) -> str | None:
    """Return the external network of the router's gateway; None when it has none or there is no such router."""
    answer = await call.cloud.get("neutron", _path(router), ok=(404,))
    gateway = (answer.get("router") or {}).get("external_gateway_info") or {}
    network = gateway.get("network_id")
    return None if network is None else str(network)


async def set_gateway(call: Call, router: str, network: str) -> None:
    """Connect the router to an external network."""
    await call.cloud.put("neutron", _path(router), {"router": {"external_gateway_info": {"network_id": network}}})


async def remove_gateway(call: Call, router: str) -> None:
    """Disconnect the router from its external network; a router that does not exist has none."""
    await call.cloud.put("neutron", _path(router), {"router": {"external_gateway_info": {}}}, ok=(404,))


def _path(router: str) -> str:
    return f"/v2.0/routers/{router}"
