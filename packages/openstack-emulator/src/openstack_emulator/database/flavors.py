"""Flavors of instances: those of the emulated compute service that the caller may use."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import ask
from openstack_emulator.database.http import links, missing

_FLAVORS = "/compute/v2.1/flavors"


def flavor(cloud: Cloud, request: Request, reference: Any) -> dict[str, Any]:
    """A flavor, by its ID or a URL that ends in it. Raises ApiError 404."""
    key = str(reference).rstrip("/").rpartition("/")[2]
    try:
        found: dict[str, Any] = ask(cloud, request, "GET", f"{_FLAVORS}/{quote(key, safe='')}")["flavor"]
    except ApiError as error:
        if error.status != 404:
            raise
        raise missing(key) from None
    return found


def usable_flavor(cloud: Cloud, request: Request, reference: Any) -> dict[str, Any]:
    """The flavor that a request names for an instance. Raises ApiError 400."""
    try:
        return flavor(cloud, request, reference)
    except ApiError as error:
        raise bad_request(error.message) from None


def view(request: Request, found: dict[str, Any]) -> dict[str, Any]:
    """A flavor as clients of the database service see it: an ID that is not a number stands in `str_id` only."""
    key = found["id"]
    return {
        "id": int(key) if key.isascii() and key.isdigit() else None,
        "str_id": key,
        "name": found["name"],
        "ram": found["ram"],
        "vcpus": found["vcpus"],
        "disk": found["disk"],
        "ephemeral": found["OS-FLV-EXT-DATA:ephemeral"],
        "links": links(request, "flavors", key),
    }


def index(records: Records, request: Request) -> Response:
    found = ask(records.cloud, request, "GET", f"{_FLAVORS}/detail")["flavors"]
    return Response({"flavors": [view(request, one) for one in found]})


def show(records: Records, request: Request) -> Response:
    return Response({"flavor": view(request, flavor(records.cloud, request, request.vars["id"]))})


def for_version(records: Records, request: Request) -> Response:
    """The flavors that a datastore version can use: all, since no version is limited to some."""
    return index(records, request)


FLAVOR_ROUTES = {
    "/flavors": {"GET": index},
    "/flavors/{id}": {"GET": show},
    "/datastores/{datastore}/versions/{version}/flavors": {"GET": for_version},
}
