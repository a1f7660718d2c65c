"""OS::Keystone::Region, OS::Keystone::Service and OS::Keystone::Endpoint: entries of the service catalog."""

from __future__ import annotations

from uuid import UUID

from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.declare import one_of
from stoker.resources.keystone.base import MARK, KeystoneResource, collection
from stoker.schema.property import Change, Property, Support, Type

_ENABLED = Support(version="6.0.0")


class CatalogEntry(KeystoneResource):
    """A type whose names need not be unique, so that a replacement can be created beside the object."""

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        return Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        return Done()


class Region(CatalogEntry):
    """A region; its physical ID is the ID in the template, or one that is generated."""

    type_name = "OS::Keystone::Region"
    description = "A region of the service catalog."
    for_administrators = True
    collection = collection("region")
    identity = None
    named_in = None
    id_is_new = False
    id_property = "id"
    object_ids = ObjectIds()
    support = Support(version="6.0.0")
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        f"The ID is known before the request is sent; the region must have the resource's mark, the field {MARK}.",
    )

    properties = {
        "id": Property(description="ID of the region; generated if not given."),
        "parent_region": Property(
            description="The parent region.",
            change=Change.UPDATE,
            wire="parent_region_id",
            reference="keystone.region",
        ),
        "description": Property(description="Description of the region.", change=Change.UPDATE),
        "enabled": Property(Type.BOOLEAN, "Whether the region is enabled.", default=True, change=Change.UPDATE),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super(KeystoneResource, self).create_body(call)
        return {**body, "id": call.properties["id"] or UUID(call.resource.uuid).hex, MARK: call.physical_name}

    async def find(self, call: Call) -> str | None:
        identifier = (await self.create_body(call))["id"]
        regions = await call.cloud.list("keystone", "/regions", "regions")
        ours = [one["id"] for one in regions if one["id"] == identifier and one.get(MARK) == call.physical_name]
        return min(await unrecorded(call, ours), default=None)


class Service(CatalogEntry):
    """A service of the catalog."""

    type_name = "OS::Keystone::Service"
    description = "A service of the service catalog."
    for_administrators = True
    collection = collection("service")
    support = Support(version="5.0.0")

    properties = {
        "name": Property(description="Name of the service.", change=Change.UPDATE),
        "description": Property(description="Description of the service.", change=Change.UPDATE),
        "type": Property(description="Type of the service, such as compute.", required=True, change=Change.UPDATE),
        "enabled": Property(
            Type.BOOLEAN, "Whether the service is enabled.", default=True, change=Change.UPDATE, support=_ENABLED
        ),
    }


class Endpoint(CatalogEntry):
    """An endpoint of a service."""

    type_name = "OS::Keystone::Endpoint"
    description = "The URL of a service in the service catalog."
    for_administrators = True
    collection = collection("endpoint")
    support = Support(version="5.0.0")

    properties = {
        "name": Property(description="Name of the endpoint.", change=Change.UPDATE),
        "region": Property(
            description="The region.", change=Change.UPDATE, wire="region_id", reference="keystone.region"
        ),
        "service": Property(
            description="The service, by name or ID.",
            required=True,
            change=Change.UPDATE,
            wire="service_id",
            reference="keystone.service",
        ),
        "interface": Property(
            description="Who the endpoint is for.",
            required=True,
            constraints=one_of("public", "internal", "admin"),
            change=Change.UPDATE,
        ),
        "url": Property(description="URL of the endpoint.", required=True, change=Change.UPDATE),
        "enabled": Property(
            Type.BOOLEAN, "Whether the endpoint is enabled.", default=True, change=Change.UPDATE, support=_ENABLED
        ),
    }

    async def find(self, call: Call) -> str | None:
        """Search by the fields that Keystone can filter by; names are not among them."""
        body = await self.create_body(call)
        params = {"service_id": body["service_id"], "interface": body["interface"]}
        listed = await call.cloud.list("keystone", "/endpoints", "endpoints", params)
        ours = [item["id"] for item in listed if call.physical_name in (item.get("name"), item.get(MARK))]
        return min(await unrecorded(call, ours), default=None)
