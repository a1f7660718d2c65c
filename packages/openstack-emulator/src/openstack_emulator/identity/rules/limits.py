"""Limits: registered ones, which hold for everybody, and those of single projects and domains (the flat model)."""

from __future__ import annotations

from collections.abc import Sequence

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import CatalogService, Domain, Limit, Project, Region, RegisteredLimit
from openstack_emulator.identity.rules.kept import RecordCollection

Resource = tuple[str, str | None, str]
"""Service, region and name of a resource."""


def _resource(limit: RegisteredLimit | Limit) -> Resource:
    return limit.service_id, limit.region_id, limit.resource_name


class RegisteredLimits(RecordCollection[RegisteredLimit]):
    """Registered limits."""

    def __init__(
        self,
        records: Records,
        rows: Table[RegisteredLimit],
        limits: Table[Limit],
        services: Table[CatalogService],
        regions: Table[Region],
    ) -> None:
        super().__init__(records, rows)
        self._limits = limits
        self._services = services
        self._regions = regions

    def check(self, new: RegisteredLimit, others: Sequence[RegisteredLimit] = ()) -> None:
        """Raise ApiError for a limit that cannot be added together with others."""
        if new.service_id not in self._services:
            raise bad_request(f"Service {new.service_id} of the registered limit was not found.")
        if new.region_id is not None and new.region_id not in self._regions:
            raise bad_request(f"Region {new.region_id} of the registered limit was not found.")
        if self.of(_resource(new)) is not None or _resource(new) in map(_resource, others):
            raise conflict("Conflict occurred attempting to store registered_limit - Duplicate entry.")

    def of(self, resource: Resource) -> RegisteredLimit | None:
        """The registered limit of a resource."""
        service_id, region_id, name = resource
        return self.rows.first(service_id=service_id, region_id=region_id, resource_name=name)

    def change(self, record: RegisteredLimit, after: RegisteredLimit) -> None:
        if _resource(after) != _resource(record):
            self.check(after)
            if self._is_used(record):
                raise forbidden(f"Unable to update registered limit {record.id} because there are project limits.")
        super().change(record, after)

    def remove(self, record: RegisteredLimit) -> None:
        if self._is_used(record):
            raise forbidden(f"Unable to delete registered limit {record.id} because there are project limits.")
        super().remove(record)

    def _is_used(self, record: RegisteredLimit) -> bool:
        return any(_resource(limit) == _resource(record) for limit in self._limits.select(service_id=record.service_id))


class Limits(RecordCollection[Limit]):
    """Limits of projects and domains, which replace those that are `registered` for all."""

    def __init__(
        self,
        records: Records,
        rows: Table[Limit],
        registered: RegisteredLimits,
        projects: Table[Project],
        domains: Table[Domain],
    ) -> None:
        super().__init__(records, rows)
        self.registered = registered
        self._projects = projects
        self._domains = domains

    def check(self, new: Limit, others: Sequence[Limit] = ()) -> None:
        """Raise ApiError for a limit that cannot be added together with others."""
        if (new.project_id is None) == (new.domain_id is None):
            raise bad_request("A limit is for a project or for a domain: give one of project_id and domain_id.")
        if new.project_id is not None:
            self._projects.require(new.project_id)
        if new.domain_id is not None:
            self._domains.require(new.domain_id)
        if self.registered.of(_resource(new)) is None:
            raise forbidden("Unable to create a limit that has no corresponding registered limit.")
        stored = self.rows.select(project_id=new.project_id, domain_id=new.domain_id)
        if any(_resource(other) == _resource(new) and _holder(other) == _holder(new) for other in (*stored, *others)):
            raise conflict("Conflict occurred attempting to store limit - Duplicate entry.")


def _holder(limit: Limit) -> tuple[str | None, str | None]:
    return limit.project_id, limit.domain_id
