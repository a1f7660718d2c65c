"""Flavors of instances: those of the emulated compute service that the caller may use."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.internal import call_service
from openstack_emulator.database.rules.errors import missing
from openstack_emulator.database.rules.inputs import Flavor

_FLAVORS = "/compute/v2.1/flavors"


def flavors(cloud: Cloud, request: Request) -> list[Flavor]:
    """All flavors that the caller may use."""
    return [Flavor.from_json(flavor) for flavor in call_service(cloud, request, "GET", f"{_FLAVORS}/detail")["flavors"]]


def flavor(cloud: Cloud, request: Request, reference: object) -> Flavor:
    """A flavor, by its ID or a URL that ends in it. Raises ApiError 404."""
    key = str(reference).rstrip("/").rpartition("/")[2]
    try:
        found = call_service(cloud, request, "GET", f"{_FLAVORS}/{quote(key, safe='')}")
    except ApiError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        raise missing(key) from None
    return Flavor.from_json(found["flavor"])


def usable_flavor(cloud: Cloud, request: Request, reference: object) -> Flavor:
    """The flavor that a request names for an instance. Raises ApiError 400."""
    try:
        return flavor(cloud, request, reference)
    except ApiError as error:
        raise bad_request(error.message) from None
