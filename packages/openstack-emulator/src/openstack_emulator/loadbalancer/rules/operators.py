"""What administrators set up: flavors and availability zones, and their profiles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.typed import TypedRecord
from openstack_emulator.loadbalancer.records import (
    AvailabilityZone,
    Choice,
    Flavor,
    FlavorProfile,
    LoadBalancer,
    Profile,
    ZoneProfile,
)
from openstack_emulator.loadbalancer.rules.errors import missing
from openstack_emulator.loadbalancer.rules.tables import Tables

RecordT = TypeVar("RecordT", bound=TypedRecord)
ChoiceT = TypeVar("ChoiceT", bound=Choice)
ProfileT = TypeVar("ProfileT", bound=Profile)


class OperatorObjects(Rules, Generic[RecordT]):
    """The objects of one kind. `is_used` recognizes those that something refers to; they cannot be deleted."""

    def __init__(self, records: Records, rows: Table[RecordT], title: str, is_used: Callable[[RecordT], bool]) -> None:
        super().__init__(records)
        self.rows = rows
        self._title, self._is_used = title, is_used

    def create(self, record: RecordT) -> RecordT:
        """Add an object."""
        return self.rows.add(record)

    def change(self, row: RecordT, changes: Mapping[str, object]) -> None:
        """Set fields of an object."""
        self.rows.update(row, **changes)

    def delete(self, row: RecordT) -> None:
        """Remove an object. Raises ApiError 409 for one in use."""
        if self._is_used(row):
            raise conflict(f"{self._title} {row.id} is in use and cannot be deleted.")
        self.rows.remove(row)


class Profiles(OperatorObjects[ProfileT]):
    """Profiles, of which only the name changes while they are used."""

    def change(self, row: ProfileT, changes: Mapping[str, object]) -> None:
        """Set fields of a profile. Raises ApiError 409 for one in use."""
        if changes.keys() - {"name"} and self._is_used(row):
            raise conflict(f"{self._title} {row.id} is in use and cannot be modified.")
        super().change(row, changes)


class Choices(OperatorObjects[ChoiceT], Generic[ChoiceT, ProfileT]):
    """Flavors or availability zones: each has a profile, and a name that no other one has."""

    def __init__(
        self,
        records: Records,
        rows: Table[ChoiceT],
        title: str,
        is_used: Callable[[ChoiceT], bool],
        profiles: Table[ProfileT],
    ) -> None:
        super().__init__(records, rows, title, is_used)
        self._profiles = profiles

    def create(self, record: ChoiceT) -> ChoiceT:
        """Add a flavor or a zone. Raises ApiError 404 for an unknown profile, and 409 for a name that is taken."""
        self._profiles.require(record.profile_id)
        self._check_name(record.name)
        return super().create(record)

    def change(self, row: ChoiceT, changes: Mapping[str, Any]) -> None:
        """Set fields of a flavor or a zone. Raises ApiError 409 for a name that is taken."""
        if (name := changes.get("name", row.name)) != row.name:
            self._check_name(name)
        super().change(row, changes)

    def _check_name(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"A {self._title} of {name} already exists.")


class Offerings:
    """The flavors and availability zones that load balancers may have."""

    def __init__(self, records: Records, tables: Tables) -> None:
        def has_balancer(**fields: str) -> bool:
            return tables.balancers.first(**fields) is not None

        flavors = records.table("flavors", Flavor, missing=missing("Flavor"))
        flavor_profiles = records.table("flavorprofiles", FlavorProfile, missing=missing("Flavor profile"))
        zones = records.table("availabilityzones", AvailabilityZone, missing=missing("Availability Zone"))
        zone_profiles = records.table(
            "availabilityzoneprofiles", ZoneProfile, missing=missing("Availability Zone Profile")
        )
        self.flavor_profiles = Profiles(
            records, flavor_profiles, "Flavor profile", lambda row: flavors.first(profile_id=row.id) is not None
        )
        self.zone_profiles = Profiles(
            records, zone_profiles, "Availability Zone Profile", lambda row: zones.first(profile_id=row.id) is not None
        )
        self.flavors = Choices(records, flavors, "Flavor", lambda row: has_balancer(flavor_id=row.id), flavor_profiles)
        self.zones = Choices(
            records, zones, "Availability Zone", lambda row: has_balancer(availability_zone=row.name), zone_profiles
        )

    def check(self, flavor_id: str | None, zone: str | None) -> None:
        """Raise ApiError 400 for a flavor or a zone that a new load balancer cannot have."""
        if flavor_id and not _enabled(self.flavors.rows.get(flavor_id)):
            raise bad_request(f"Invalid flavor_id: {flavor_id}. It does not exist, or is disabled.")
        if zone and not _enabled(self.zones.rows.get(zone)):
            raise bad_request(f"Invalid availability_zone: {zone}. It does not exist, or is disabled.")

    def flavor_data(self, balancer: LoadBalancer) -> dict[str, Any]:
        """The data of the flavor of a load balancer."""
        flavor = self.flavors.rows.get(balancer.flavor_id or "")
        return {} if flavor is None else _data(self.flavor_profiles.rows.require(flavor.profile_id).data)

    def zone_data(self, balancer: LoadBalancer) -> dict[str, Any]:
        """The data of the availability zone of a load balancer."""
        zone = self.zones.rows.get(balancer.availability_zone or "")
        return {} if zone is None else _data(self.zone_profiles.rows.require(zone.profile_id).data)


def _enabled(choice: Choice | None) -> bool:
    return choice is not None and choice.enabled


def _data(text: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text)
    return data
