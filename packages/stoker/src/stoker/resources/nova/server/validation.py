"""Which property values of a server can be combined, and which resources it implicitly requires.

What only Nova knows (whether an image fits a flavor, how much metadata is allowed) is left to Nova.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.resource import Graph, Node
from stoker.schema.unknown import Unknown, is_unknown

_DISK_SOURCES = ("volume_id", "snapshot_id", "image", "swap_size", "ephemeral")
_BOOTABLE_SOURCES = ("volume_id", "snapshot_id", "image")


def problems(properties: Mapping[str, object]) -> Iterable[str]:
    """Yield what is wrong with the values, which may be unknown at any depth."""
    if properties.get("reservation_id") is not None:
        yield "reservation_id is not supported: Nova's response would not contain the server's ID"
    yield from _device_problems(properties)
    yield from _network_problems(properties)


def _list(value: object) -> list[Any]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _given(item: Mapping[str, object], *names: str) -> list[str]:
    """Return the keys that have a value, known or not."""
    return [name for name in names if item.get(name) is not None]


def _known(item: Mapping[str, object], *names: str) -> list[str]:
    """Return the keys that have a known value."""
    return [name for name in _given(item, *names) if not is_unknown(item[name])]


def _one(item: Mapping[str, object], *names: str) -> bool:
    """Return whether exactly one of the keys can have a value, as far as values are known."""
    return len(_known(item, *names)) <= 1 <= len(_given(item, *names))


# -- disks ----------------------------------------------------------------------------------------------------


def _device_problems(properties: Mapping[str, object]) -> Iterable[str]:
    older, newer = properties.get("block_device_mapping"), properties.get("block_device_mapping_v2")
    if older and newer:
        yield "block_device_mapping and block_device_mapping_v2 cannot be used together"
    for index, device in enumerate(_list(older)):
        if not _one(device, "volume_id", "snapshot_id"):
            yield f"block_device_mapping[{index}]: exactly one of volume_id and snapshot_id must be given"
    for index, device in enumerate(_list(newer)):
        if not _one(_merged(device), *_DISK_SOURCES):
            yield (
                f"block_device_mapping_v2[{index}]: exactly one of volume_id, snapshot_id, image, swap_size and "
                "ephemeral_size or ephemeral_format must be given"
            )
    if is_unknown(properties.get("image")) or _unclear(older) or _unclear(newer):
        return
    yield from _boot_problems(properties, _list(older), _list(newer))


def _merged(device: Mapping[str, object]) -> dict[str, object]:
    """Return the disk with its ephemeral size or format under one key: both request the same source."""
    size, file_system = device.get("ephemeral_size"), device.get("ephemeral_format")
    return {**device, "ephemeral": file_system if size is None else size}


def _unclear(devices: Any) -> bool:
    """Return whether the disk that the server boots from is not known yet."""
    if is_unknown(devices):
        return True
    return any(
        not isinstance(device, Mapping) or any(is_unknown(device.get(key)) for key in ("boot_index", "device_name"))
        for device in devices or []
    )


def _boot_problems(
    properties: Mapping[str, object], older: list[Mapping[str, object]], newer: list[Mapping[str, object]]
) -> Iterable[str]:
    bootable = [disk for disk in newer if _given(disk, *_BOOTABLE_SOURCES) and disk.get("boot_index") in (None, 0)]
    sources = len(bootable) + bool(properties.get("image"))
    if newer and sources > 1:
        yield "the server has several disks to boot from; give all but one a boot_index other than 0"
    if not sources and not any(disk.get("device_name") == "vda" for disk in older):
        yield "the server has nothing to boot from: give an image or a bootable volume"


# -- networks -------------------------------------------------------------------------------------------------


def _network_problems(properties: Mapping[str, object]) -> Iterable[str]:
    entries = _list(properties.get("networks"))
    if len(entries) > 1 and any(_known(entry, "allocate_network") for entry in entries):
        yield "allocate_network must be in the only entry of networks"
    if properties.get("security_groups") and any(_known(entry, "port") for entry in entries):
        yield "security_groups cannot be used with a port in networks; give the groups to the port"
    for index, entry in enumerate(entries):
        for problem in _entry_problems(entry):
            yield f"networks[{index}]: {problem}"


def _entry_problems(entry: Mapping[str, object]) -> Iterable[str]:
    if _known(entry, "allocate_network"):
        others = [name for name in _known(entry, *entry) if name != "allocate_network"]
        if others:
            yield f"allocate_network cannot be used with {', '.join(sorted(others))}"
        return
    if not _given(entry, "network", "port", "subnet", "allocate_network"):
        yield "one of network, port, subnet and allocate_network must be given"
    if _known(entry, "fixed_ip") and _known(entry, "port"):
        yield "fixed_ip cannot be used with port; give the address to the port"
    if _known(entry, "floating_ip") and not _given(entry, "port", "subnet", "port_extra_properties"):
        yield "floating_ip needs port, subnet or port_extra_properties: with a network only, Nova makes the port"


# -- implicit requirements --------------------------------------------------------------------------------------


def subnets_before(node: Node, graph: Graph) -> Iterable[str]:
    """Yield the subnets of the server's networks: addresses can only be allocated once there is one.

    Where a network is not known yet, every subnet counts as one of its subnets.
    """
    networks = node.properties.get("networks")
    entries = _list(networks) if not is_unknown(networks) else [{}]
    if not entries or any(entry.get("allocate_network") == "none" for entry in entries):
        return
    for subnet in graph.of_type("OS::Neutron::Subnet"):
        home = subnet.properties.get("network")
        if node.name not in subnet.requires and any(_may_equal(home, entry.get("network")) for entry in entries):
            yield subnet.name


def _may_equal(one: object, other: object) -> bool:
    if one is None or other is None or one == other:
        return True
    return not (_plain(one) and _plain(other))


def _plain(value: object) -> bool:
    """Return whether the value can be compared: a literal, or a reference to a resource itself."""
    if not isinstance(value, Unknown):
        return True
    return len(value.sources) == 1 and all(len(source) == 2 and source[1] is None for source in value.sources)
