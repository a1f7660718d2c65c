"""Regions, services and endpoints as the API manages them, and policies, which are stored and shown only."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.identity.catalog import INTERFACES, endpoint_view
from openstack_emulator.identity.entity import Entity
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.validation import (
    MALFORMED,
    Field,
    boolean,
    choice,
    description,
    identifier,
    name,
    nullable,
    text,
    url,
)

URL_VARIABLES = ("tenant_id", "project_id", "user_id", "public_bind_host", "admin_bind_host", "compute_host",
                 "admin_port", "public_port", "public_endpoint", "admin_endpoint")  # fmt: skip
"""What the URL of an endpoint can have in `%(…)s` or `$(…)s`."""


def refuse_while_used(label: str, record: Record, users: Iterable[tuple[Collection, str]]) -> None:
    """403 while records of other collections name this one in their field."""
    for collection, field in users:
        if collection.first(**{field: record["id"]}) is not None:
            raise forbidden(f"Unable to delete {label} {record['id']} because it is used by {collection.name}.")


def create_region(identity: IdentityRecords, values: Record) -> Record:
    key = values.pop("id") or new_hex_id()
    if key in identity.regions:
        raise conflict(f"Conflict occurred attempting to store region - Duplicate ID, {key}..")
    _check_parent(identity, values)
    return identity.regions.add({"id": key, **values})


def change_region(identity: IdentityRecords, region: Record, changes: Record) -> None:
    _check_parent(identity, changes)
    above = changes.get("parent_region_id")
    while above is not None:
        if above == region["id"]:
            raise bad_request(f"Region {above} cannot be below itself.")
        above = identity.regions.require(above)["parent_region_id"]


def _check_parent(identity: IdentityRecords, values: Record) -> None:
    if values.get("parent_region_id") is not None:
        identity.regions.require(values["parent_region_id"])


def remove_region(identity: IdentityRecords, region: Record) -> None:
    refuse_while_used("region", region, ((identity.endpoints, "region_id"),))
    for child in identity.regions.select(parent_region_id=region["id"]):
        remove_region(identity, child)
    identity.regions.remove(region)


REGIONS = Entity(
    "region",
    "regions",
    "regions",
    {
        "id": Field(nullable(text(0, 255)), default=None),
        "description": Field(description, default=""),
        "parent_region_id": Field(nullable(text(1, 255)), default=None),
    },
    create=create_region,
    change=change_region,
    remove=remove_region,
    subject=lambda region: {},
    filters=("parent_region_id",),
    extra=True,
    fixed=frozenset({"id"}),
)


def put_region(identity: IdentityRecords, request: Request) -> Response:
    """Create a region whose id is in the path."""
    region = request.object("region")
    if region.setdefault("id", request.vars["id"]) != request.vars["id"]:
        raise bad_request("Conflicting region IDs specified: the one in the path and the one in the body differ.")
    return REGIONS.handle_create(identity, request)


def remove_endpoint(identity: IdentityRecords, endpoint: Record) -> None:
    """An endpoint, also from the choices of projects."""
    for row in identity.endpoint_filters.select(endpoint_id=endpoint["id"]):
        identity.endpoint_filters.remove(row)
    identity.endpoints.remove(endpoint)


def remove_service(identity: IdentityRecords, service: Record) -> None:
    """A service, with its endpoints and limits."""
    for endpoint in identity.endpoints.select(service_id=service["id"]):
        remove_endpoint(identity, endpoint)
    for held in (identity.limits, identity.registered_limits):
        for record in held.select(service_id=service["id"]):
            held.remove(record)
    identity.services.remove(service)


SERVICES = Entity(
    "service",
    "services",
    "services",
    {
        "type": Field(name, required=True),
        "name": Field(text(0, 255), default=""),
        "description": Field(description, default=""),
        "enabled": Field(boolean, default=True),
    },
    create=lambda identity, values: identity.services.add({"id": new_hex_id(), **values}),
    remove=remove_service,
    subject=lambda service: {},
    filters=("name", "type"),
    extra=True,
)


def create_endpoint(identity: IdentityRecords, values: Record) -> Record:
    _check_service(identity, values)
    _check_words(values)
    region_id = _region(identity, values)
    return identity.endpoints.add({"id": new_hex_id(), **values, "region": region_id, "region_id": region_id})


def change_endpoint(identity: IdentityRecords, endpoint: Record, changes: Record) -> None:
    if "service_id" in changes:
        _check_service(identity, changes)
    if "url" in changes:
        _check_words(changes)
    if "region" in changes or "region_id" in changes:
        changes["region"] = changes["region_id"] = _region(identity, changes)


def _check_words(values: Record) -> None:
    """Refuse a URL with another variable than those that catalogs fill in. Raises ApiError 400."""
    form = values["url"].replace("$(", "%(")
    try:
        form % dict.fromkeys(URL_VARIABLES, "")
    except (KeyError, TypeError, ValueError):
        raise bad_request(f"Cannot create an endpoint with an invalid URL: {values['url']}.") from None


def _check_service(identity: IdentityRecords, values: Record) -> None:
    if values["service_id"] not in identity.services:
        raise bad_request(f"Expecting to find endpoint service_id in service table. {MALFORMED}")


def _region(identity: IdentityRecords, values: Record) -> str | None:
    """The region's id; a `region`, the older field, is made when there is none of this name."""
    region_id: str | None = values.get("region_id")
    older: str | None = values.get("region")
    if region_id is None and older is not None:
        if older not in identity.regions:
            identity.regions.add({"id": older, "description": "", "parent_region_id": None})
        return older
    if region_id is not None and region_id not in identity.regions:
        raise bad_request(f"Expecting to find endpoint region_id in region table. {MALFORMED}")
    return region_id


ENDPOINTS = Entity(
    "endpoint",
    "endpoints",
    "endpoints",
    {
        "service_id": Field(identifier, required=True),
        "interface": Field(choice(*INTERFACES), required=True),
        "url": Field(url, required=True),
        "region": Field(nullable(text(1, 255))),
        "region_id": Field(nullable(text(1, 255))),
        "enabled": Field(boolean, default=True),
        "name": Field(text(0, 255)),
        "description": Field(description),
    },
    create=create_endpoint,
    change=change_endpoint,
    remove=remove_endpoint,
    subject=lambda endpoint: {},
    view=endpoint_view,
    filters=("service_id", "interface", "region_id", "region", "enabled"),
    extra=True,
)

POLICIES = Entity(
    "policy",
    "policies",
    "policies",
    {"blob": Field(text(1), required=True), "type": Field(name, required=True)},
    create=lambda identity, values: identity.policies.add({"id": new_hex_id(), **values}),
    remove=lambda identity, policy: identity.policies.remove(policy),
    subject=lambda policy: {},
    filters=("type",),
    extra=True,
)

PLACE_ROUTES: Routes = {
    **REGIONS.routes(),
    "/regions/{id}": {**REGIONS.routes()["/regions/{id}"], "PUT": put_region},
    **SERVICES.routes(),
    **ENDPOINTS.routes(),
    **POLICIES.routes(),
}
