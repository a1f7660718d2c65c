"""What the objects of several services are charged for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.preflight import Facts
from stoker.plugins.pricing import Charge, Item, Names, Use, Uses, known_amount, known_text, of_properties
from stoker.schema.unknown import is_unknown

_SOURCES = ("snapshot_id", "source_volid", "backup_id", "SnapshotId")


def _listed(service: str, path: str, key: str, default: str = "") -> Names:
    """Return the look-up of names and IDs in a list; `default` is the path of the kind that the service chooses."""

    async def names(facts: Facts) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for each in await facts.list(service, path, key):
            found |= {str(each["name"]): str(each["id"]), str(each["id"]): str(each["name"])}
        if default:
            chosen = (await facts.get(service, default)).get(key.removesuffix("s")) or {}
            found |= {"": str(chosen["name"])} if chosen.get("name") else {}
        return found

    return names


def _volume(size: str) -> Uses:
    def uses(properties: Mapping[str, object]) -> Iterable[Use]:
        name = known_text(properties.get("volume_type"))
        copied = any(properties.get(source) is not None for source in _SOURCES)
        yield Use(known_amount(properties.get(size)), None if name == "" and copied else name)  # as its source is

    return uses


def _new_disks(properties: Mapping[str, Any]) -> Iterable[Use]:
    """Yield the disks of a server for which Nova makes volumes; the size can be that of an image or a snapshot."""
    for devices in (properties.get("block_device_mapping_v2"), properties.get("block_device_mapping")):
        if is_unknown(devices):
            yield Use(None, None)
            continue
        for device in devices or ():
            if is_unknown(device):
                yield Use(None, None)
            elif device.get("volume_id") is None and _makes_volume(device):
                yield Use(known_amount(device.get("volume_size")), known_text(device.get("volume_type")))


def _makes_volume(device: Mapping[str, object]) -> bool:
    if device.get("snapshot_id") is not None:
        return True
    return (device.get("image") or device.get("image_id")) is not None and device.get("volume_size") is not None


def _database(part: str) -> Uses:
    """Return the use of an instance and its replicas; a replica of another instance is as large as that."""

    def uses(properties: Mapping[str, Any]) -> Iterable[Use]:
        count = properties.get("replica_count")
        if properties.get("replica_of") is not None or is_unknown(count):
            yield Use(None, None)
        elif part == "flavor":
            yield Use(int(count or 1), known_text(properties.get("flavor")))
        else:
            size = known_amount(properties.get("size"))
            yield Use(None if size is None else size * int(count or 1))

    return uses


def _databases(properties: Mapping[str, Any], part: str) -> Iterable[Use]:
    instances = properties.get("instances")
    if is_unknown(instances):
        yield Use(None, None)
        return
    for instance in instances or ():
        if is_unknown(instance):
            yield Use(None, None)
        elif part == "flavor":
            yield Use(1, known_text(instance.get("flavor")))
        else:
            yield Use(known_amount(instance.get("volume_size")))


_FLAVORS = _listed("nova", "/flavors/detail", "flavors")
_VOLUME_TYPES = _listed("cinder", "/types", "volume_types", "/types/default")
_SHARE_TYPES = _listed("manila", "/types", "share_types", "/types/default")
_BALANCER_FLAVORS = _listed("octavia", "/lbaas/flavors", "flavors")
_DATABASE_FLAVORS = _listed("trove", "/flavors", "flavors")

FLOATING_IP = (Charge(Item.FLOATING_IP),)
ROUTER = (Charge(Item.ROUTER),)
LOAD_BALANCER = (Charge(Item.LOAD_BALANCER, of_properties(name="flavor"), _BALANCER_FLAVORS),)
SHARE = (Charge(Item.SHARE, of_properties("size", "share_type"), _SHARE_TYPES),)
SERVER = (
    Charge(Item.FLAVOR, of_properties(name="flavor"), _FLAVORS),
    Charge(Item.VOLUME, _new_disks, _VOLUME_TYPES),
)
INSTANCE = (Charge(Item.FLAVOR, of_properties(name="InstanceType"), _FLAVORS),)
DATABASE = (
    Charge(Item.DATABASE_FLAVOR, _database("flavor"), _DATABASE_FLAVORS),
    Charge(Item.DATABASE_VOLUME, _database("size")),
)
DATABASE_CLUSTER = (
    Charge(Item.DATABASE_FLAVOR, lambda properties: _databases(properties, "flavor"), _DATABASE_FLAVORS),
    Charge(Item.DATABASE_VOLUME, lambda properties: _databases(properties, "volume_size")),
)


def volume(size: str) -> tuple[Charge, ...]:
    """Return the charge of a volume whose size is that property."""
    return (Charge(Item.VOLUME, _volume(size), _VOLUME_TYPES),)
