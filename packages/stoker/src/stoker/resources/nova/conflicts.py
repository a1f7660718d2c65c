"""What would make Nova refuse new servers and key pairs: names, sizes and zones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any

from stoker.cloud.finders import is_uuid
from stoker.plugins.preflight import Code, Conflict, Facts, Planned, Problem, portions
from stoker.resources.nova.allowances import flavor_of

_GIB = 1024**3


async def _taken_names(key_pairs: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the new key pairs whose name the user has given to another one."""
    new = [each for each in key_pairs if each.makes and each.known("name") and each.properties.get("user") is None]
    if not new:
        return
    listed = await facts.list("nova", "/os-keypairs", "keypairs")
    taken: dict[str, str] = {str(each["keypair"]["name"]): "exists already" for each in listed}
    for each in new:
        name = str(each.known("name"))
        if name in taken and name not in each.leaving:
            message = f"the key pair {name!r} {taken[name]}"
            yield Problem(each, ("name",), message, "choose another name, or use the key pair without making it")
        taken[name] = f"is made by {each.path} too"


async def _small_flavors(servers: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the servers whose flavor is too small for the image that they boot from."""
    booting = [each for each in servers if each.makes and each.known("image")]
    images = await _images(facts, {str(each.known("image")) for each in booting})
    for each in booting:
        image, flavor = images.get(str(each.known("image"))), await flavor_of(each, facts)
        if image is None or flavor is None:
            continue
        name = f"the image {image.get('name') or image['id']}"
        for message in _shortages(flavor, image):
            yield Problem(each, ("flavor",), f"{message} {name} needs", "use a larger flavor, or another image")


async def _smaller_disks(servers: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the servers on a disk of their flavor that are resized to a flavor with a smaller one."""
    for each in servers:
        if (
            each.former is None
            or not each.known("image")
            or each.known("flavor") in (None, each.former.known("flavor"))
        ):
            continue
        old, new = await flavor_of(each.former, facts), await flavor_of(each, facts)
        before, after = (flavor.get("disk") if flavor is not None else None for flavor in (old, new))
        if isinstance(before, int) and isinstance(after, int) and after < before:
            message = f"the flavor has a disk of {after} GiB, and that of the server has {before} GiB"
            yield Problem(each, ("flavor",), message, "use a flavor whose disk is not smaller, or replace the server")


def _shortages(flavor: Mapping[str, object], image: Mapping[str, Any]) -> Iterable[str]:
    disk, ram = flavor.get("disk"), flavor.get("ram")
    needed = max(int(image.get("min_disk") or 0), -(-int(image.get("size") or 0) // _GIB))
    if isinstance(disk, int) and 0 < disk < needed:
        yield f"the flavor has a disk of {disk} GiB, less than the {needed} GiB that"
    if isinstance(ram, int) and ram < int(image.get("min_ram") or 0):
        yield f"the flavor has {ram} MiB of memory, less than the {image['min_ram']} MiB that"


async def _images(facts: Facts, values: set[str]) -> dict[str, Mapping[str, object]]:
    """Return the images with these names or IDs, as far as each is only one."""
    found: dict[str, list[Mapping[str, object]]] = {}
    identifiers = set(filter(is_uuid, values))
    for field, values_of_field in (("id", identifiers), ("name", values - identifiers)):
        for portion in portions(values_of_field):
            quoted = ",".join(f'"{value}"' for value in portion)
            for image in await facts.list("glance", "/v2/images", "images", {field: f"in:{quoted}"}):
                found.setdefault(str(image[field]), []).append(image)
    return {value: images[0] for value, images in found.items() if len(images) == 1}


async def _missing_zones(servers: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the new servers in an availability zone that does not exist or is not available."""
    with_zone = [each for each in servers if each.makes and each.known("availability_zone")]
    if not with_zone:
        return
    listed = (await facts.get("nova", "/os-availability-zone"))["availabilityZoneInfo"]
    states = {str(each["zoneName"]): bool(each["zoneState"]["available"]) for each in listed}
    for each in with_zone:
        zone = str(each.known("availability_zone")).partition(":")[0]
        if states.get(zone):
            continue
        why = "is not available" if zone in states else "does not exist"
        known = ", ".join(sorted(name for name, available in states.items() if available))
        yield Problem(each, ("availability_zone",), f"the availability zone {zone!r} {why}", f"there are: {known}")


async def _without_room(servers: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the new servers for which the hosts have no room."""
    from stoker.resources.nova.capacity import without_room  # only for plans that make servers

    async for problem in without_room(servers, facts):
        yield problem


KEY_PAIR_NAMES = Conflict(Code.NAME_TAKEN, _taken_names)
FLAVORS_FOR_IMAGES = Conflict(Code.FLAVOR_IMAGE, _small_flavors)
SMALLER_DISKS = Conflict(Code.SMALLER_DISK, _smaller_disks, of_changes=True)
ROOM_ON_HOSTS = Conflict(Code.CAPACITY, _without_room)
ZONES = Conflict(Code.AVAILABILITY_ZONE, _missing_zones)
