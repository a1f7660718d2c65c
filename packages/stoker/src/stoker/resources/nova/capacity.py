"""Whether the hosts have room for new servers, as Placement says.

Placement is asked once for each kind of server: what the flavor takes, the traits that it wants, and the aggregates of
the availability zone that the template names, as Nova's scheduler asks. Nova tells these to administrators only, as
Placement does what it has; who may ask Placement but not Nova gets an answer for all zones. What only the scheduler
knows (server groups, other aggregates, the zone of servers that name none) is left out, and so is what the flavor says
in a way that is not translated here. More servers may thus seem to fit than do, never fewer.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from stoker.plugins.preflight import Facts, NotRead, Planned, Problem
from stoker.resources.nova.allowances import flavor_of

_MOST_CANDIDATES = 1000
_NO_STATEMENT = (401, 403, 404, 406)
"""Statuses with which Placement tells nothing to this user, or to anybody: by default, only administrators may ask."""
_GROUPS = re.compile(r"(resources|trait)[\w-]+:")
"""Keys of extra specs that want resources of several providers."""
_PROCESSORS = "hw:cpu_policy"
"""The key of extra specs that decides whether processors are shared (VCPU) or not."""


@dataclass(frozen=True, slots=True)
class _RequestedResources:
    """What a server takes of a host, by resource class; `traits` the host must have, or must not with a `!`, and the
    availability zone that it must be in, empty for any.
    """

    resources: tuple[tuple[str, int], ...]
    traits: tuple[str, ...]
    zone: str

    def question(self, limit: int, aggregates: Sequence[str]) -> str:
        """Return the path of the question for hosts, in any of these aggregates if there are any."""
        query = {"resources": ",".join(f"{name}:{amount}" for name, amount in self.resources), "limit": str(limit)}
        if self.traits:
            query["required"] = ",".join(self.traits)
        if aggregates:
            query["member_of"] = f"in:{','.join(aggregates)}"
        return f"/allocation_candidates?{urlencode(query)}"


async def without_room(servers: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
    """Yield the first server of each kind that does not fit any more."""
    kinds: dict[_RequestedResources, list[Planned]] = {}
    for each in servers:
        flavor = await flavor_of(each, facts) if each.makes else None
        request = _requested_resources(each, flavor) if flavor is not None else None
        if request is not None:
            kinds.setdefault(request, []).append(each)
    for request, group in kinds.items():
        limit = min(len(group), _MOST_CANDIDATES)
        try:
            aggregates = await _aggregates_of(request.zone, facts) if request.zone else ()
            answer = await facts.get("placement", request.question(limit, aggregates))
        except NotRead as error:
            if error.status in _NO_STATEMENT:
                return
            raise
        if len(answer["allocation_requests"]) >= limit:
            continue  # each of them has room for one server; with more than the limit, nothing is known
        room = _room(answer)
        if room < len(group):
            taken = ", ".join(f"{amount} {name}" for name, amount in request.resources)
            traits = f" and the traits {', '.join(request.traits)}" if request.traits else ""
            hosts = f"the hosts of the zone {request.zone}" if aggregates else "the hosts"
            message = f"{hosts} have room for {room} more servers with {taken}{traits}, and the plan makes {len(group)}"
            hint = "use fewer servers or a smaller flavor, or ask the operator of the cloud for more hosts"
            yield Problem(group[room], ("flavor",), message, hint)


async def _aggregates_of(zone: str, facts: Facts) -> Sequence[str]:
    """Return the UUIDs of the aggregates that define a zone; none for the default zone, and if Nova does not tell."""
    try:
        listed = (await facts.get("nova", "/os-aggregates"))["aggregates"]
    except NotRead as error:
        if error.status in _NO_STATEMENT:
            return ()
        raise
    return sorted(
        each["uuid"] for each in listed if each.get("uuid") and each["metadata"].get("availability_zone") == zone
    )


def _requested_resources(server: Planned, flavor: Mapping[str, Any]) -> _RequestedResources | None:
    """Return what a server takes; None if that is not known."""
    resources = {"VCPU": _number(flavor.get("vcpus")), "MEMORY_MB": _number(flavor.get("ram"))}
    swap = -(-_number(flavor.get("swap")) // 1024)
    own = _number(flavor.get("ephemeral") or flavor.get("OS-FLV-EXT-DATA:ephemeral"))
    boots_from_volume = not server.properties.get("image") or server.properties.get("block_device_mapping_v2")
    resources["DISK_GB"] = own + swap + (0 if boots_from_volume else _number(flavor.get("disk")))
    traits: list[str] = []
    for key, value in (flavor.get("extra_specs") or {}).items():
        if _GROUPS.match(key):
            return None
        kind, _, name = key.partition(":")
        if key == _PROCESSORS:
            resources.pop("VCPU", None)
        elif kind == "resources":
            resources[name] = _number(value)
        elif kind == "trait":
            traits.append(name if value == "required" else f"!{name}")
    taken = tuple(sorted((name, amount) for name, amount in resources.items() if amount > 0))
    zone = str(server.known("availability_zone") or "").partition(":")[0]
    return _RequestedResources(taken, tuple(sorted(traits)), zone) if taken else None


def _number(value: object) -> int:
    """Return a number of a flavor; services show some of them as strings, and none as an empty one."""
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else 0


def _room(answer: Mapping[str, Any]) -> int:
    """Return for how many servers at most there is room on all candidates."""
    free = {
        provider: {name: each["capacity"] - each["used"] for name, each in summary["resources"].items()}
        for provider, summary in answer["provider_summaries"].items()
    }
    return sum(
        min(
            free[provider][name] // amount
            for provider, part in request["allocations"].items()
            for name, amount in part["resources"].items()
        )
        for request in answer["allocation_requests"]
    )
