"""The external network of a cloud that has only one."""

from __future__ import annotations

from stoker.base.errors import CloudError
from stoker.plugins.resource import Call


async def external_network(call: Call) -> str:
    """Return the ID of the cloud's external network. Raises CloudError unless there is exactly one."""
    params = {"router:external": True}
    listed = await call.cloud.list("neutron", "/v2.0/networks", "networks", params)
    if len(listed) != 1:
        found = ", ".join(network["name"] or network["id"] for network in listed) or "none"
        raise CloudError("neutron", 0, f"exactly one external network is required, but Neutron shows {found}")
    return str(listed[0]["id"])
