"""The ports with which floating IPs are associated, which several resource types set."""

from __future__ import annotations

from stoker.plugins.resource import Call


async def port_of(call: Call, floating_ip: str) -> str | None:
    """Return the port of a floating IP; None when it has none or there is no such floating IP."""
    answer = await call.cloud.get("neutron", floating_ip_path(floating_ip), ok=(404,))
    port = (answer.get("floatingip") or {}).get("port_id")
    return None if port is None else str(port)


async def associate(call: Call, floating_ip: str, port: str, address: str | None = None) -> None:
    """Associate a floating IP with a port, and with one of its addresses if it has several."""
    ends = {"port_id": port} | ({} if address is None else {"fixed_ip_address": address})
    await call.cloud.put("neutron", floating_ip_path(floating_ip), {"floatingip": ends})


async def disassociate(call: Call, floating_ip: str) -> None:
    """Disassociate a floating IP; one that does not exist has no association."""
    await call.cloud.put("neutron", floating_ip_path(floating_ip), {"floatingip": {"port_id": None}}, ok=(404,))


def floating_ip_path(floating_ip: str) -> str:
    """Return the path of a floating IP."""
    return f"/v2.0/floatingips/{floating_ip}"
