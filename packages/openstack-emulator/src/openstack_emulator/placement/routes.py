"""The routes of Placement: its version document, its lists, which are empty, and the hosts with room for a server.

The emulated compute service chooses among its hosts by itself; no resource provider is recorded here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.cloud import Handler, Records
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.microversions import version_text
from openstack_emulator.core.objects import require_version
from openstack_emulator.core.versions import ApiVersion, all_versions

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
OLDEST, NEWEST = (1, 0), (1, 39)
PARAMETERS: Mapping[str, Mapping[str, Version]] = {
    "resource_providers": {
        "name": (1, 0), "uuid": (1, 0), "member_of": (1, 3), "resources": (1, 4),
        "in_tree": (1, 14), "required": (1, 18),
    },
    "traits": {"name": (1, 6), "associated": (1, 6)},
    "allocation_candidates": {
        "resources": (1, 10), "limit": (1, 16), "required": (1, 17), "member_of": (1, 21), "group_policy": (1, 25),
        "in_tree": (1, 31), "root_required": (1, 35), "same_subtree": (1, 36),
    },
}  # fmt: skip
"""Of the lists that refuse other parameters in their query: the parameters, with the microversions that added them
(Placement API reference)."""


VERSION = ApiVersion(
    "v1.0",
    ({"rel": "self", "href": ""},),
    details={"min_version": version_text(OLDEST), "max_version": version_text(NEWEST)},
)


def empty_list(name: str) -> Handler:
    """The handler of a list that has nothing in it."""

    def index(placement: Records, request: Request) -> Response:
        request.context.require("service", "reader")
        if (known := PARAMETERS.get(name)) is not None:
            check_query(request, known)
        return Response({name: []})

    return index


def candidates(placement: Records, request: Request) -> Response:
    """The hosts on which a server has room, and what each of them has (GET /allocation_candidates).

    The hosts have no traits.
    """
    request.context.require("service")
    require_version(request, (1, 10))
    query = request.query
    check_query(request, PARAMETERS["allocation_candidates"])
    if unsupported := sorted({name for name, _ in query.pairs} - {"resources", "limit", "required", "member_of"}):
        raise bad_request(f"The emulated Placement has no {unsupported[0]!r} in questions for candidates.")
    amounts = _amounts(query.get("resources"))
    limit = query.get("limit")
    if limit is not None and not (limit.isdecimal() and int(limit) > 0):
        raise bad_request(f"Invalid query string parameters: {limit!r} does not match '^[1-9][0-9]*$'")
    traits = [trait for trait in (query.get("required") or "").split(",") if trait and not trait.startswith("!")]
    compute = placement.cloud.of(ComputeService)
    hosts = [] if traits else compute.hosts.providers()
    for text in query.all("member_of"):
        members = _members(compute, text)
        hosts = [host for host in hosts if host.host in members]
    fitting = [host for host in hosts if all(host.free(name) >= amount for name, amount in amounts.items())]
    chosen = fitting[: int(limit)] if limit is not None else fitting
    summaries: dict[str, object] = {
        host.uuid: {
            "resources": {
                name: {"capacity": each.capacity, "used": each.used} for name, each in host.resources.items()
            },
            **({"traits": []} if request.version >= (1, 17) else {}),
            **({"parent_provider_uuid": None, "root_provider_uuid": host.uuid} if request.version >= (1, 29) else {}),
        }
        for host in chosen
    }
    requests = [
        {
            "allocations": {host.uuid: {"resources": amounts}},
            **({"mappings": {"": [host.uuid]}} if request.version >= (1, 34) else {}),
        }
        for host in chosen
    ]
    return Response({"allocation_requests": requests, "provider_summaries": summaries})


def _members(compute: ComputeService, text: str) -> set[str]:
    """The hosts of the aggregates in `in:UUID,UUID`, or of one in `UUID`. Raises ApiError 400."""
    named = text.removeprefix("in:").split(",")
    if wrong := [each for each in named if not _UUID.fullmatch(each)]:
        raise bad_request(f"Invalid uuid value: {wrong[0]}")
    return {host for row in compute.aggregates.rows if row.uuid in named for host in row.hosts}


def _amounts(text: str | None) -> dict[str, int]:
    """The amounts in `VCPU:1,MEMORY_MB:512`. Raises ApiError 400."""
    if not text:
        raise bad_request("Invalid query string parameters: 'resources' is a required property")
    found: dict[str, int] = {}
    for part in text.split(","):
        name, colon, amount = part.partition(":")
        if not name or not colon or not amount.isdecimal() or not int(amount):
            raise bad_request(
                f"Badly formed resources parameter. Expected resources query string parameter in form: "
                f'?resources=VCPU:2,MEMORY_MB:1024. Got: "{text}"'
            )
        found[name] = int(amount)
    return found


def check_query(request: Request, known: Mapping[str, Version]) -> None:
    """Refuse parameters that the microversion of a request does not have. Raises ApiError 400."""
    parameters = dict.fromkeys(name for name, _ in request.query.pairs)
    unknown = [name for name in parameters if name not in known or request.version < known[name]]
    if unknown:
        names, verb = ", ".join(map(repr, unknown)), "was" if len(unknown) == 1 else "were"
        raise bad_request(
            f"Invalid query string parameters: Additional properties are not allowed ({names} {verb} unexpected)"
        )


ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/allocation_candidates": {"GET": candidates},
    "/resource_classes": {"GET": empty_list("resource_classes")},
    "/resource_providers": {"GET": empty_list("resource_providers")},
    "/traits": {"GET": empty_list("traits")},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": all_versions(VERSION)}}
"""What is directly below the mount: the version."""
