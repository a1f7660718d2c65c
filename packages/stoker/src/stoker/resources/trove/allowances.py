"""What instances and clusters take of Trove's quotas. Nothing that a plan makes is a backup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.plugins.preflight import Allowance, Amount, Consumption, Facts, Planned, Quota, used_and_reserved
from stoker.resources.neutron.allowances import PORTS, new_ports


async def _quotas(facts: Facts) -> Mapping[str, Allowance]:
    rows = (await facts.get("trove", f"/mgmt/quotas/{facts.project_id}"))["quotas"]
    return {str(row["resource"]): used_and_reserved(row, "in_use") for row in rows}


INSTANCES = Quota("trove", "instances", "database instances", _quotas)
VOLUMES = Quota("trove", "volumes", "GiB of volumes of databases", _quotas)
MEMORY = Quota("trove", "ram", "MiB of memory of databases", _quotas)


async def _copies(planned: Planned, facts: Facts) -> int | None:
    count = planned.properties.get("replica_count") or 1
    return count if isinstance(count, int) else None


async def _source(planned: Planned, facts: Facts) -> Mapping[str, Any] | None:
    """Return the instance that a replica gets its size and flavor from, as Trove lists it; None if it is not known."""
    key = planned.known("replica_of")
    listed = await facts.list("trove", "/instances", "instances") if key is not None else ()
    return next((one for one in listed if one["id"] == key), None)


async def _volume(planned: Planned, facts: Facts) -> int | None:
    count = await _copies(planned, facts)
    size = planned.known("size")
    if planned.properties.get("replica_of") is not None:
        source = await _source(planned, facts)
        size = source["volume"]["size"] if source is not None else None
    return count * size if isinstance(size, int) and count is not None else None


async def _ports(planned: Planned, facts: Facts) -> int | None:
    """Return the number of ports that are made: one per network without a port, for each replica."""
    count, ports = await _copies(planned, facts), new_ports(planned.properties.get("networks") or [])
    return None if count is None or ports is None else count * ports


async def _memory_of_flavor(value: object, facts: Facts) -> int | None:
    flavors = await facts.list("trove", "/flavors", "flavors")
    keys = ("str_id", "id", "name")
    found = [flavor["ram"] for flavor in flavors if str(value) in {str(flavor.get(key)) for key in keys}]
    return int(found[0]) if len(found) == 1 else None


async def _memory(planned: Planned, facts: Facts) -> int | None:
    count = await _copies(planned, facts)
    flavor = planned.known("flavor")
    if planned.properties.get("replica_of") is not None:
        source = await _source(planned, facts)
        flavor = source["flavor"]["id"] if source is not None else None
    memory = await _memory_of_flavor(flavor, facts) if flavor is not None else None
    return count * memory if memory is not None and count is not None else None


def _members(planned: Planned) -> Sequence[Mapping[str, object]] | None:
    """Return the instances of a cluster; None if they are not known."""
    members = planned.known("instances")
    known = isinstance(members, list) and all(isinstance(member, Mapping) for member in members)
    return members if known else None


async def _member_count(planned: Planned, facts: Facts) -> int | None:
    members = _members(planned)
    return None if members is None else len(members)


async def _member_volumes(planned: Planned, facts: Facts) -> int | None:
    members = _members(planned)
    return None if members is None else _sum([member.get("volume_size") for member in members])


async def _member_memory(planned: Planned, facts: Facts) -> int | None:
    members = _members(planned)
    return None if members is None else _sum([await _memory_of_flavor(one.get("flavor"), facts) for one in members])


async def _member_ports(planned: Planned, facts: Facts) -> int | None:
    """Return the number of ports that are made: one per network without a port, for each member."""
    members = _members(planned)
    return None if members is None else _sum([new_ports(one.get("networks") or []) for one in members])


def _sum(amounts: Sequence[object]) -> int | None:
    known = [amount for amount in amounts if isinstance(amount, int)]
    return sum(known) if len(known) == len(amounts) else None


def _database(count: Amount, volume: Amount, memory: Amount, places: tuple[str, str, str]) -> tuple[Consumption, ...]:
    quotas = zip((INSTANCES, VOLUMES, MEMORY), (count, volume, memory), places, strict=True)
    return tuple(Consumption(quota, amount, place) for quota, amount, place in quotas)


INSTANCE = (
    *_database(_copies, _volume, _memory, ("", "size", "flavor")),
    Consumption(PORTS, _ports, "networks"),
)
CLUSTER = (
    *_database(_member_count, _member_volumes, _member_memory, ("instances", "instances", "instances")),
    Consumption(PORTS, _member_ports, "instances"),
)
