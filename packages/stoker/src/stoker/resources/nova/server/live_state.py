"""Differences between a server's live state and its recorded properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.base import same
from stoker.resources.nova.server.body import nova_metadata


async def differences(call: Call, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, metadata, flavor, image and tags where the server differs from the record.

    A server that is not active is not compared: its state is transitional, or is reported by a check. A server that
    boots from a volume shows no image.
    """
    if shown["status"] != "ACTIVE":
        return {}
    seen = {
        "name": shown["name"],
        "metadata": shown.get("metadata"),
        "image": (shown.get("image") or {}).get("id"),
        "flavor": await _flavor(call, shown["flavor"]),
        "tags": sorted(shown["tags"]) if "tags" in shown else None,  # in any order; from microversion 2.26 on
    }
    wanted = {name: call.properties.get(name) for name in seen}
    if wanted["metadata"] is not None:
        wanted["metadata"] = nova_metadata(wanted["metadata"])
    if wanted["tags"] is not None:
        wanted["tags"] = sorted(wanted["tags"])
    comparable = {name: value for name, value in seen.items() if wanted[name] is not None and value is not None}
    call.compared.update(comparable)
    return {name: value for name, value in comparable.items() if not same(wanted[name], value)}


async def _flavor(call: Call, shown: Mapping[str, Any]) -> str | None:
    """Return the flavor's ID; newer versions of Nova show its name only."""
    if "id" in shown:
        return str(shown["id"])
    name = shown.get("original_name")
    return await call.cloud.find("nova.flavor", name) if name else None
