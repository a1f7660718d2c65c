"""The body of the request that creates a server."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from stoker.base.errors import NotSupported
from stoker.plugins.resource import Call
from stoker.resources.nova.server.ports import ensure_port, needs_own_port
from stoker.resources.wire import without_nulls

NO_FILES = "2.57"
"""From this microversion on Nova does not accept `personality`."""

NETWORKS_REQUIRED = "2.37"
"""From this microversion on a server's networks must be given."""

TAGS_AT_CREATION = "2.52"
"""From this microversion on a server can be created with tags."""

_OVERRIDES = (
    "device_type",
    "disk_bus",
    "boot_index",
    "volume_size",
    "delete_on_termination",
    "volume_type",
)


async def server_body(call: Call, user_data: str) -> dict[str, object]:
    """Return the server to request, with `user_data` as its encoded user data; create its missing ports."""
    given = call.properties
    body: dict[str, object] = {
        "name": given.get("name") or call.physical_name,
        "imageRef": given.get("image") or "",
        "flavorRef": given["flavor"],
        "min_count": 1,
        "max_count": 1,
        "user_data": encoded(user_data),
        "metadata": nova_metadata(given.get("metadata")) or None,
        "key_name": given.get("key_name"),
        "availability_zone": given.get("availability_zone") or None,
        "config_drive": given.get("config_drive") or None,
        "adminPass": given.get("admin_pass") or None,
        "OS-DCF:diskConfig": given.get("diskConfig"),
        "security_groups": [{"name": group} for group in given.get("security_groups") or []] or None,
        "personality": await personality(call),
        "networks": await _networks(call),
        "block_device_mapping": _devices(given) or None,
        "block_device_mapping_v2": _devices_v2(given) or None,
    }
    if given.get("tags") and await call.cloud.supports("nova", TAGS_AT_CREATION):
        body["tags"] = given["tags"]
    return without_nulls(body)


def encoded(content: str) -> str | None:
    """Encode a string in Base64, as Nova expects it; None if it is empty."""
    return base64.b64encode(content.encode()).decode() if content else None


def nova_metadata(metadata: Mapping[str, object] | None) -> dict[str, str]:
    """Return metadata with string values only: other values are converted to JSON."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in (metadata or {}).items()
        if value is not None
    }


async def personality(call: Call) -> list[dict[str, object]] | None:
    """Return the files to put into the server. Raises NotSupported if Nova does not accept any."""
    files = call.properties.get("personality")
    if not files:
        return None
    if await call.cloud.supports("nova", NO_FILES):
        raise NotSupported(
            f"This cloud's Nova does not accept personality (microversion {NO_FILES} and later); use user_data."
        )
    return [{"path": path, "contents": encoded(str(files[path])) or ""} for path in sorted(files)]


async def _networks(call: Call) -> str | list[dict[str, object]] | None:
    entries = call.properties.get("networks") or []
    if not entries:
        return "auto" if await call.cloud.supports("nova", NETWORKS_REQUIRED) else None
    if entries[0].get("allocate_network") is not None:
        return str(entries[0]["allocate_network"])
    return [await _interface(call, index, entry) for index, entry in enumerate(entries)]


async def _interface(call: Call, index: int, entry: Mapping[str, Any]) -> dict[str, object]:
    port = await ensure_port(call, index, entry) if needs_own_port(entry) else entry.get("port")
    if port is None:
        return without_nulls({"uuid": entry["network"], "fixed_ip": entry.get("fixed_ip"), "tag": entry.get("tag")})
    await associate(call, entry, port)
    return without_nulls({"port": port, "tag": entry.get("tag")})


async def associate(call: Call, entry: Mapping[str, object], port: str) -> None:
    """Associate the entry's floating IP, if it has one, with the port."""
    if entry.get("floating_ip") is None:
        return
    body = without_nulls({"port_id": port, "fixed_ip_address": entry.get("fixed_ip")})
    await call.cloud.put("neutron", f"/v2.0/floatingips/{entry['floating_ip']}", {"floatingip": body})


def _devices(given: Mapping[str, Any]) -> list[dict[str, object]]:
    return [
        without_nulls(
            {
                "device_name": device["device_name"],
                "snapshot_id": device.get("snapshot_id"),
                "volume_id": device.get("volume_id"),
                "volume_size": None if device.get("volume_size") is None else str(device["volume_size"]),
                "delete_on_termination": device.get("delete_on_termination") or None,
            }
        )
        for device in given.get("block_device_mapping") or []
    ]


def _devices_v2(given: Mapping[str, Any]) -> list[dict[str, object]]:
    """Return the disks; the image that the server boots from is the first of them."""
    disks = [_disk(device) for device in given.get("block_device_mapping_v2") or []]
    if not disks or not given.get("image"):
        return disks
    local = {"source_type": "image", "destination_type": "local", "boot_index": 0, "delete_on_termination": True}
    return [{"uuid": given["image"], **local}, *disks]


def _disk(device: Mapping[str, object]) -> dict[str, object]:
    disk = _source(device)
    if device.get("device_name"):
        disk["device_name"] = device["device_name"]
    return disk | without_nulls({key: device.get(key) for key in _OVERRIDES})


def _source(device: Mapping[str, object]) -> dict[str, Any]:
    for key, source in (("volume_id", "volume"), ("snapshot_id", "snapshot"), ("image", "image")):
        if device.get(key) is not None:
            return {
                "source_type": source,
                "destination_type": "volume",
                "boot_index": 0,
                "delete_on_termination": False,
                "uuid": device[key],
            }
    blank = {"source_type": "blank", "destination_type": "local", "boot_index": -1, "delete_on_termination": True}
    if device.get("swap_size") is not None:
        return blank | {"guest_format": "swap", "volume_size": device["swap_size"]}
    return blank | without_nulls(
        {"volume_size": device.get("ephemeral_size"), "guest_format": device.get("ephemeral_format")}
    )


def boots_from_volume(properties: Mapping[str, Any]) -> bool:
    """Return whether a server boots from a volume that is given by its ID, not from one that Nova creates."""
    if properties.get("image"):
        return False
    older, newer = (properties.get(name) or () for name in ("block_device_mapping", "block_device_mapping_v2"))
    return any(
        device.get("volume_id") and str(device.get("device_name")).removeprefix("/dev/") == "vda" for device in older
    ) or any(device.get("volume_id") and str(device.get("boot_index") or 0) == "0" for device in newer)


def has_disks_of_its_own(properties: Mapping[str, Any]) -> bool:
    """Return whether a server has disks that are deleted with it: unlike volumes, which are kept by default."""
    if properties.get("image"):
        return True
    devices = [*(properties.get("block_device_mapping") or ()), *(properties.get("block_device_mapping_v2") or ())]
    return any(
        str(device.get("delete_on_termination")).lower() == "true" or device.get("ephemeral_size") is not None
        for device in devices
        if isinstance(device, Mapping)
    )
