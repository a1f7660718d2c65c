"""Differences between a server's live state and its recorded properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.live_values import NotShown
from stoker.resources.nova.server.body import nova_metadata
from stoker.schema.live import same

_OTHER_PORTS = ("port_extra_properties", "tag")
"""What entries of `networks` say about a port that is not compared."""


async def differences(call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
    """Return the properties that the server itself shows, where it differs from the record.

    A server that is not active is not compared: its state is transitional, or is reported by a check. A server that
    boots from a volume shows no image.
    """
    if shown["status"] != "ACTIVE":
        reason = f"the server is in status {shown['status']}"
        call.report.unread.update({name: reason for name, value in call.properties.items() if value is not None})
        return {}
    zone = shown.get("OS-EXT-AZ:availability_zone")
    seen = {
        "name": shown["name"],
        "metadata": shown.get("metadata"),
        "image": (shown.get("image") or {}).get("id"),
        "flavor": await _flavor(call, shown["flavor"]),
        "tags": sorted(shown["tags"]) if "tags" in shown else None,  # in any order; from microversion 2.26 on
        "key_name": shown["key_name"] or "" if "key_name" in shown else None,
        "availability_zone": zone,
        "config_drive": bool(shown["config_drive"]) if "config_drive" in shown else None,
        "diskConfig": shown.get("OS-DCF:diskConfig"),
    }
    declared = {name: call.properties.get(name) for name in seen}
    if declared["metadata"] is not None:
        declared["metadata"] = nova_metadata(declared["metadata"])
    if declared["tags"] is not None:
        declared["tags"] = sorted(declared["tags"])
    if declared["availability_zone"] is not None:
        declared["availability_zone"] = str(declared["availability_zone"]).partition(":")[0] or zone  # zone:host:node
    comparable = {name: value for name, value in seen.items() if declared[name] is not None and value is not None}
    call.report.compared.update(comparable)
    found = {name: value for name, value in comparable.items() if not same(declared[name], value)}
    metadata = comparable.get("metadata", {})
    if call.gives("metadata") and metadata.keys() - (declared["metadata"] or {}).keys():
        found["metadata"] = metadata
    return found


async def networks(kind: object, call: Call, shown: Mapping[str, object]) -> Any:
    """Return the recorded networks if the server has these interfaces and no others; else those of them that it has, as
    recorded, and then the ports of others.

    Interfaces whose ports are resources of their own belong to the template, too.
    """
    given: list[Mapping[str, object]] = call.properties["networks"]
    if not given:
        raise NotShown("without networks in the template, the service chooses them")
    if unreadable := [name for name in _OTHER_PORTS if any(entry.get(name) for entry in given)]:
        raise NotShown(f"{' and '.join(unreadable)} of a network interface cannot be compared")
    ports = await _ports(call)
    if any(entry.get("allocate_network") == "auto" for entry in given):
        return given if ports else []
    chosen = [entry for entry in given if not entry.get("allocate_network")]
    found = _found(chosen, ports)
    present = [await _present(call, chosen[number], port) for number, port in sorted(found.items())]
    rest = {port["id"]: port["network_id"] for port in ports if port not in found.values()}
    others = await unrecorded(call, list(rest))
    if present == chosen and not others:
        return given
    return [*present, *({"network": rest[port], "port": port} for port in rest if port in others)]


def _found(entries: Sequence[Mapping[str, object]], ports: Iterable[dict[str, object]]) -> dict[int, dict[str, Any]]:
    """Return the port of each entry that has one, by the entry's number.

    An entry that names a port takes that port, so that a less exact entry does not.
    """
    rest, found = list(ports), dict[int, dict[str, Any]]()
    for number in sorted(range(len(entries)), key=lambda each: _missing_details(entries[each])):
        port = next((port for port in rest if _fits(entries[number], port)), None)
        if port is not None:
            rest.remove(port)
            found[number] = port
    return found


async def _present(call: Call, entry: Mapping[str, object], port: Mapping[str, object]) -> Mapping[str, object]:
    """Return an entry without the floating IP that its port does not have."""
    if await _has_floating_ip(call, entry, port):
        return entry
    return {name: value for name, value in entry.items() if name != "floating_ip"}


async def security_groups(kind: object, call: Call, shown: Mapping[str, object]) -> Any:
    """Return the recorded groups if all interfaces whose port is not given have these and no others; else those of one
    interface, as recorded where they are the same.
    """
    given = call.properties["security_groups"]
    if not given:
        raise NotShown("without security groups in the template, the service chooses them")
    fixed = {entry.get("port") for entry in call.properties["networks"] or ()}
    ports = [port for port in await _ports(call) if port["id"] not in fixed]
    declared = {await call.cloud.find("neutron.security_group", group): group for group in given}
    free = await unrecorded(call, [port["id"] for port in ports])
    held = [sorted(port["security_groups"]) for port in ports if port["id"] in free]
    other = next((groups for groups in held if set(groups) != declared.keys()), None)
    if other is None:
        return given
    kept = [group for identifier, group in declared.items() if identifier in other]
    return [*kept, *(identifier for identifier in other if identifier not in declared)]


async def disks(name: str, kind: object, call: Call, shown: Mapping[str, Any]) -> object:
    """Return those of the given disks that are attached. Other volumes may be attached besides."""
    given = call.properties[name]
    attached = {volume["id"] for volume in shown.get("os-extended-volumes:volumes_attached") or ()}
    present = [disk for disk in given if disk.get("volume_id") is None or disk["volume_id"] in attached]
    if present == given and any(disk.get("volume_id") is None for disk in given):
        raise NotShown("the service does not show from what a disk was created")
    return present


async def _ports(call: Call) -> list[dict[str, Any]]:
    listed: list[dict[str, object]] = await call.cloud.list(
        "neutron", "/v2.0/ports", "ports", {"device_id": str(call.physical_id)}
    )
    return listed


def _missing_details(entry: Mapping[str, object]) -> tuple[bool, ...]:
    return tuple(not entry.get(name) for name in ("port", "fixed_ip", "subnet"))


def _fits(entry: Mapping[str, object], port: Mapping[str, Any]) -> bool:
    addresses = port["fixed_ips"]
    return (
        (entry.get("port") in (None, port["id"]))
        and (entry.get("network") in (None, port["network_id"]))
        and (entry.get("fixed_ip") is None or _one_has(addresses, "ip_address", entry["fixed_ip"]))
        and (entry.get("subnet") is None or _one_has(addresses, "subnet_id", entry["subnet"]))
    )


def _one_has(addresses: Iterable[Mapping[str, object]], field: str, value: object) -> bool:
    return any(address[field] == value for address in addresses)


async def _has_floating_ip(call: Call, entry: Mapping[str, object], port: Mapping[str, object]) -> bool:
    """Return whether the entry's floating IP, if it has one, is associated with the port."""
    if entry.get("floating_ip") is None:
        return True
    answer = await call.cloud.get("neutron", f"/v2.0/floatingips/{entry['floating_ip']}")
    return bool(answer["floatingip"]["port_id"] == port["id"])


async def _flavor(call: Call, shown: Mapping[str, Any]) -> str | None:
    """Return the flavor's ID; newer versions of Nova show its name only."""
    if "id" in shown:
        return str(shown["id"])
    name = shown.get("original_name")
    return await call.cloud.find("nova.flavor", name) if name else None
