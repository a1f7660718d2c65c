"""What servers, key pairs and server groups take of Nova's quotas, and of those of the services that Nova calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.preflight import Allowance, Amount, Consumption, Facts, Planned, Quota
from stoker.resources.neutron.allowances import PORTS, new_ports
from stoker.resources.volume_allowances import GIGABYTES, VOLUMES

_USED = {
    "instances": ("maxTotalInstances", "totalInstancesUsed"),
    "cores": ("maxTotalCores", "totalCoresUsed"),
    "ram": ("maxTotalRAMSize", "totalRAMUsed"),
    "server_groups": ("maxServerGroups", "totalServerGroupsUsed"),
}


async def _limits(facts: Facts) -> Mapping[str, Any]:
    limits: Mapping[str, object] = (await facts.get("nova", "/limits"))["limits"]["absolute"]
    return limits


async def _totals(facts: Facts) -> Mapping[str, Allowance]:
    absolute = await _limits(facts)
    return {
        name: Allowance(int(absolute[limit]), int(absolute[used]))
        for name, (limit, used) in _USED.items()
        if limit in absolute and used in absolute
    }


async def _key_pairs(facts: Facts) -> Mapping[str, Allowance]:
    limit = int((await _limits(facts)).get("maxTotalKeypairs", -1))
    if limit < 0:
        return {}
    return {"key_pairs": Allowance(limit, len(await facts.list("nova", "/os-keypairs", "keypairs")))}


INSTANCES = Quota("nova", "instances", "servers", _totals)
CORES = Quota("nova", "cores", "processors of servers", _totals)
MEMORY = Quota("nova", "ram", "MiB of memory of servers", _totals)
SERVER_GROUPS = Quota("nova", "server_groups", "server groups", _totals)
KEY_PAIRS = Quota("nova", "key_pairs", "key pairs of the user", _key_pairs)


async def flavor_of(planned: Planned, facts: Facts, name: str = "flavor") -> Mapping[str, object] | None:
    """Return the flavor of a server as Nova shows it, or as the plan makes it; None if it is not known."""
    value = planned.properties.get(name)
    if (made := planned.referred(value)) is not None:
        return made.properties if isinstance(made.properties.get("vcpus"), int) else None
    if planned.known(name) is None:
        return None
    flavors = await facts.list("nova", "/flavors/detail", "flavors")
    by_name = {flavor["name"]: flavor for flavor in flavors} | {flavor["id"]: flavor for flavor in flavors}
    return by_name.get(str(value))


def _of_flavor(field: str, name: str) -> Amount:
    async def amount(planned: Planned, facts: Facts) -> int | None:
        flavor = await flavor_of(planned, facts, name)
        value = flavor.get(field) if flavor is not None else None
        return int(value) if isinstance(value, int) else None

    return amount


async def _ports(planned: Planned, facts: Facts) -> int | None:
    """Return the number of ports that are made for a server: one per network without a port, by Nova if not here."""
    entries = planned.properties.get("networks") or [{}]
    ports = new_ports(entries)
    return 0 if ports is not None and entries[0].get("allocate_network") == "none" else ports


async def _one_port(planned: Planned, facts: Facts) -> int | None:
    """Return the number of ports that are made for a server with CloudFormation's properties."""
    return 0 if planned.properties.get("NetworkInterfaces") else 1


def _new_disks(planned: Planned) -> list[Mapping[str, Any]] | None:
    """Return the disks for which Nova makes volumes; None if they are not known."""
    devices = planned.properties.get("block_device_mapping_v2") or []
    if not isinstance(devices, list) or not all(isinstance(device, Mapping) for device in devices):
        return None
    return [
        device
        for device in devices
        if device.get("volume_id") is None
        and (device.get("image") is not None or device.get("snapshot_id") is not None)
        and device.get("volume_size") is not None
    ]


async def _volumes(planned: Planned, facts: Facts) -> int | None:
    disks = _new_disks(planned)
    return None if disks is None else len(disks)


async def _gigabytes(planned: Planned, facts: Facts) -> int | None:
    sizes = [disk["volume_size"] for disk in _new_disks(planned) or ()]
    return sum(sizes) if all(isinstance(size, int) for size in sizes) else None


def _server(flavor: str) -> tuple[Consumption, ...]:
    return (
        Consumption(INSTANCES),
        Consumption(CORES, _of_flavor("vcpus", flavor), flavor),
        Consumption(MEMORY, _of_flavor("ram", flavor), flavor),
    )


SERVER = (
    *_server("flavor"),
    Consumption(PORTS, _ports, "networks"),
    Consumption(VOLUMES, _volumes, "block_device_mapping_v2"),
    Consumption(GIGABYTES, _gigabytes, "block_device_mapping_v2"),
)
INSTANCE = (*_server("InstanceType"), Consumption(PORTS, _one_port))


async def own_key_pair(planned: Planned, facts: Facts) -> int | None:
    """Return how many key pairs of the user a resource makes: none if it is for another user."""
    return 0 if planned.properties.get("user") is not None else 1
