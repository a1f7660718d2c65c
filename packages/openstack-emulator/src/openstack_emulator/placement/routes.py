"""The routes of Placement: its version document and its lists, which are empty.

The emulated compute service chooses among its hosts by itself, so there are no resource providers to choose from here.
"""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Handler, Records
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.microversions import write
from openstack_emulator.core.versions import ApiVersion, all_versions

OLDEST, NEWEST = (1, 0), (1, 39)
PARAMETERS: Mapping[str, Mapping[str, Version]] = {
    "resource_providers": {
        "name": (1, 0), "uuid": (1, 0), "member_of": (1, 3), "resources": (1, 4),
        "in_tree": (1, 14), "required": (1, 18),
    },
    "traits": {"name": (1, 6), "associated": (1, 6)},
}  # fmt: skip
"""Of the lists that refuse other parameters in their query: the parameters, with the microversions that added them
(Placement API reference)."""


VERSION = ApiVersion(
    "v1.0",
    ({"rel": "self", "href": ""},),
    details={"min_version": write(OLDEST), "max_version": write(NEWEST)},
)


def empty_list(name: str) -> Handler:
    """The handler of a list that has nothing in it."""

    def index(placement: Records, request: Request) -> Response:
        request.context.require("service", "reader")
        if (known := PARAMETERS.get(name)) is not None:
            check_query(request, known)
        return Response({name: []})

    return index


def check_query(request: Request, known: Mapping[str, Version]) -> None:
    """Refuse parameters that the microversion of a request does not have. Raises ApiError 400."""
    given = dict.fromkeys(name for name, _ in request.query.pairs)
    unknown = [name for name in given if name not in known or request.version < known[name]]
    if unknown:
        names, verb = ", ".join(map(repr, unknown)), "was" if len(unknown) == 1 else "were"
        raise bad_request(
            f"Invalid query string parameters: Additional properties are not allowed ({names} {verb} unexpected)"
        )


ROUTES: Mapping[str, Mapping[str, Handler]] = {
    "/resource_classes": {"GET": empty_list("resource_classes")},
    "/resource_providers": {"GET": empty_list("resource_providers")},
    "/traits": {"GET": empty_list("traits")},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": all_versions(VERSION)}}
"""What is directly below the mount: the version."""
