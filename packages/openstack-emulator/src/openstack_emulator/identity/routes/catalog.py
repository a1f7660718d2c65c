"""Regions, services and endpoints as the API manages them."""

from __future__ import annotations

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import exact_boolean, one_of, optional
from openstack_emulator.identity.records import CatalogService, Endpoint, Region
from openstack_emulator.identity.routes.entity import Entity, Values, change
from openstack_emulator.identity.routes.validation import Field, description, identifier, name, text, url
from openstack_emulator.identity.rules.catalog import INTERFACES
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.kept import draft
from openstack_emulator.identity.views import endpoint_view


def create_region(entity: Entity[Region], identity: Identity, values: Values) -> Region:
    """A region, with the ID that the request may give."""
    key = values.pop("id") or new_hex_id()
    return identity.catalog.regions.create(draft(Region, key, values))


REGIONS = Entity(
    Region,
    lambda identity: identity.catalog.regions,
    "region",
    "regions",
    {
        "id": Field(optional(text(0, 255)), default=None),
        "description": Field(description, default=""),
        "parent_region_id": Field(optional(text(1, 255)), default=None),
    },
    create=create_region,
    filters=("parent_region_id",),
    extra=True,
    fixed=frozenset({"id"}),
)


def put_region(identity: Identity, request: Request) -> Response:
    """Create a region whose id is in the path."""
    key = request.vars["id"]
    if request.object("region").setdefault("id", key) != key:
        raise bad_request("Conflicting region IDs specified: the one in the path and the one in the body differ.")
    return REGIONS.add(identity, request)


SERVICES = Entity(
    CatalogService,
    lambda identity: identity.catalog.services,
    "service",
    "services",
    {
        "type": Field(name, required=True),
        "name": Field(text(0, 255), default=""),
        "description": Field(description, default=""),
        "enabled": Field(exact_boolean, default=True),
    },
    filters=("name", "type"),
    extra=True,
)


def change_endpoint(entity: Entity[Endpoint], identity: Identity, endpoint: Endpoint, changes: Values) -> None:
    """An endpoint; who gives one of the two names of its region means that one."""
    if "region" in changes or "region_id" in changes:
        changes = {"region": None, "region_id": None, **changes}
    change(entity, identity, endpoint, changes)


ENDPOINTS = Entity(
    Endpoint,
    lambda identity: identity.catalog.endpoints,
    "endpoint",
    "endpoints",
    {
        "service_id": Field(identifier, required=True),
        "interface": Field(one_of(*INTERFACES), required=True),
        "url": Field(url, required=True),
        "region": Field(optional(text(1, 255))),
        "region_id": Field(optional(text(1, 255))),
        "enabled": Field(exact_boolean, default=True),
        "name": Field(text(0, 255)),
        "description": Field(description),
    },
    change=change_endpoint,
    view=endpoint_view,
    filters=("service_id", "interface", "region_id", "region", "enabled"),
    extra=True,
)
