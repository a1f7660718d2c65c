"""The network interfaces of a server, for addresses that are associated with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call


@dataclass(frozen=True, slots=True)
class Interface:
    """A port of a server; `address` is its first IPv4 address, None when it has none."""

    port: str
    network: str
    address: str | None


async def first_interface(call: Call, server: str) -> Interface | None:
    """Return the server's first interface; None when it has none or there is no such server."""
    answer = await call.cloud.get("nova", f"/servers/{server}/os-interface", ok=(404,))
    listed: list[Mapping[str, Any]] = answer.get("interfaceAttachments") or []
    if not listed:
        return None
    shown = listed[0]
    addresses = [str(entry["ip_address"]) for entry in shown["fixed_ips"]]
    return Interface(
        str(shown["port_id"]),
        str(shown["net_id"]),
        next((address for address in addresses if ip_address(address).version == 4), None),
    )


async def required_interface(call: Call, server: str) -> Interface:
    """Return the server's first interface. Raises CloudError when it has none."""
    found = await first_interface(call, server)
    if found is None:
        raise CloudError("nova", 404, f"server {server} has no network interface")
    return found
