"""OS::Octavia::Flavor, AvailabilityZone and their profiles: what administrators offer to users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.capabilities import ConditionallyReplaced
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Snapshot
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import custom
from stoker.schema.property import Attribute, Change, Property, Support, Type

_NAME = Property(description="Its name.", change=Change.UPDATE)
_DESCRIPTION = Property(description="Its description.", default="", change=Change.UPDATE)
_ENABLED = Property(Type.BOOLEAN, "Whether new load balancers may use it.", default=True, change=Change.UPDATE)
_PROVIDER = Property(description="The driver of load balancers.", change=Change.UPDATE)
_BY_UNIQUE_NAME = Recovery(
    RecoveryMethod.NAME, "Names are unique in the cloud; an object with the name must have the requested properties."
)
_ZONES = Support(version="24.0.0")
_FLAVORS = Support(version="14.0.0")


def _collection(path: str, member: str, members: str = "", **rest: Any) -> Collection:
    return Collection("octavia", f"/lbaas/{path}", member, members or path, created_field=None, owner=None, **rest)


def _options(name: str) -> dict[str, Property]:
    """Return the properties of a profile, whose options are in the property `name`."""
    return {
        "name": _NAME,
        name: Property(
            description="The options, as a JSON object in a string.",
            required=True,
            constraints=custom("json_string"),
            change=Change.UPDATE,
        ),
        "provider_name": _PROVIDER,
    }


def _offer(profile: str, reference: str) -> dict[str, Property]:
    """Return the properties of what is offered with a profile, to which the property `profile` refers."""
    return {
        "description": _DESCRIPTION,
        "enabled": _ENABLED,
        profile: Property(
            description="The profile, by name or ID.",
            required=True,
            wire=f"{profile}_id",
            reference=reference,
        ),
        "name": _NAME,
    }


class _Offered(RestResource):
    kept_after_failure = True

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_id


class FlavorProfile(_Offered):
    """What a driver makes of a flavor."""

    type_name = "OS::Octavia::FlavorProfile"
    description = "Options of a driver, which flavors refer to. By default only administrators may create one."
    for_administrators = True
    collection = _collection("flavorprofiles", "flavorprofile")
    support = _FLAVORS

    properties = _options("flavor_data")


class Flavor(_Offered):
    """A kind of load balancers."""

    type_name = "OS::Octavia::Flavor"
    description = "A kind of load balancers. By default only administrators may create one."
    for_administrators = True
    collection = _collection("flavors", "flavor")
    support = _FLAVORS
    recovery = _BY_UNIQUE_NAME

    properties = _offer("flavor_profile", "octavia.flavorprofile")
    attributes = {"flavor_profile_id": Attribute("ID of the profile.", Type.STRING)}


class AvailabilityZoneProfile(_Offered):
    """What a driver makes of an availability zone."""

    type_name = "OS::Octavia::AvailabilityZoneProfile"
    description = (
        "Options of a driver, which availability zones refer to. By default only administrators may create one."
    )
    for_administrators = True
    collection = _collection("availabilityzoneprofiles", "availability_zone_profile", "availability_zone_profiles")
    support = _ZONES

    properties = _options("availability_zone_data")


class AvailabilityZone(_Offered, ConditionallyReplaced):
    """A place for load balancers."""

    type_name = "OS::Octavia::AvailabilityZone"
    description = "A place where load balancers can be created. By default only administrators may create one."
    for_administrators = True
    collection = _collection("availabilityzones", "availability_zone", "availability_zones", id_field="name")
    id_property = "name"
    support = _ZONES
    recovery = _BY_UNIQUE_NAME

    properties = _offer("availability_zone_profile", "octavia.availabilityzoneprofile")
    attributes = {"availability_zone_profile_id": Attribute("ID of the profile.", Type.STRING)}

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        return "the name of an availability zone cannot be changed" if "name" in changed else None
