"""Placement: its version document and its lists, which are empty.

The emulated compute service chooses among its hosts by itself, so there are no resource providers to choose from here.
"""

from __future__ import annotations

from stoker.emulator.core.cloud import Handler, Microversions, Records, Service
from stoker.emulator.core.errors import ApiError
from stoker.emulator.core.http import Request, Response

OLDEST, NEWEST = (1, 0), (1, 39)
LISTS = {
    "/resource_providers": "resource_providers",
    "/resource_classes": "resource_classes",
    "/traits": "traits",
}


class PlacementRecords(Records):
    """Nothing."""

    service = "placement"


def versions(placement: Records, request: Request) -> Response:
    version = {
        "id": "v1.0",
        "status": "CURRENT",
        "min_version": ".".join(map(str, OLDEST)),
        "max_version": ".".join(map(str, NEWEST)),
        "links": [{"rel": "self", "href": ""}],
    }
    return Response({"versions": [version]})


def empty_list(name: str) -> Handler:
    """The handler of a list that has nothing in it."""

    def index(placement: Records, request: Request) -> Response:
        request.context.require("service", "reader")
        return Response({name: []})

    return index


def error_body(error: ApiError) -> dict[str, object]:
    """The list of errors that the API working group agreed on."""
    entry = {"status": error.status, "title": error.title, "detail": error.message}
    return {"errors": [entry]}


PLACEMENT = Service(
    name="placement",
    mount="/placement",
    records=PlacementRecords,
    endpoints={"placement": "/placement"},
    routes={path: {"GET": empty_list(name)} for path, name in LISTS.items()},
    root={"/": {"GET": versions}},
    public=frozenset({"GET /"}),
    error_body=error_body,
    microversions=Microversions("placement", OLDEST, NEWEST, default=OLDEST),
)
