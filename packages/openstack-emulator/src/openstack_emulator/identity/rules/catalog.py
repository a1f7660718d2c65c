"""Where services are: regions, services and endpoints, and which endpoints projects see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import (
    CatalogService,
    Endpoint,
    EndpointChoice,
    EndpointGroup,
    Limit,
    Region,
    RegisteredLimit,
)
from openstack_emulator.identity.rules.errors import MALFORMED
from openstack_emulator.identity.rules.kept import RecordCollection, remove_all

REGION = "RegionOne"
INTERFACES = ("admin", "internal", "public")
CLOUD_URL = "%(cloud)s"
"""Stands in a stored URL for the root of this cloud, which may have another port after a restart."""
OUTSIDE_NAMES = {"orchestration": "heat", "cloudformation": "heat-cfn"}
URL_VARIABLES = ("tenant_id", "project_id", "user_id", "public_bind_host", "admin_bind_host", "compute_host",
                 "admin_port", "public_port", "public_endpoint", "admin_endpoint")  # fmt: skip
"""What the URL of an endpoint can have in `%(…)s` or `$(…)s`."""

EnabledService: TypeAlias = tuple[CatalogService, Sequence[tuple[Endpoint, str]]]
"""A service with its enabled endpoints, and the URL of each, in which project and user are still to be filled in."""


class Regions(RecordCollection[Region]):
    """Regions, which may be parts of each other."""

    def __init__(self, records: Records, rows: Table[Region], endpoints: Table[Endpoint]) -> None:
        super().__init__(records, rows)
        self._endpoints = endpoints

    def create(self, new: Region) -> Region:
        if new.id in self.rows:
            raise conflict(f"Conflict occurred attempting to store region - Duplicate ID, {new.id}..")
        if new.parent_region_id is not None:
            self.rows.require(new.parent_region_id)
        return super().create(new)

    def change(self, record: Region, after: Region) -> None:
        above = after.parent_region_id
        while above is not None:
            parent = self.rows.require(above)
            if above == record.id:
                raise bad_request(f"Region {above} cannot be below itself.")
            above = parent.parent_region_id
        super().change(record, after)

    def remove(self, record: Region) -> None:
        """A region without endpoints, with those below it."""
        if self._endpoints.first(region_id=record.id) is not None:
            raise forbidden(f"Unable to delete region {record.id} because it is used by {self._endpoints.name}.")
        for child in self.rows.select(parent_region_id=record.id):
            self.remove(child)
        super().remove(record)

    def ensure(self, key: str) -> None:
        """Make a region when there is none of this ID."""
        if key not in self.rows:
            self.rows.add(Region(id=key))


class Endpoints(RecordCollection[Endpoint]):
    """Endpoints of services."""

    def __init__(
        self,
        records: Records,
        rows: Table[Endpoint],
        services: Table[CatalogService],
        regions: Regions,
        choices: Table[EndpointChoice],
    ) -> None:
        super().__init__(records, rows)
        self._services = services
        self._regions = regions
        self._choices = choices

    def create(self, new: Endpoint) -> Endpoint:
        self._check_service(new)
        _check_words(new)
        self._set_region(new)
        return super().create(new)

    def change(self, record: Endpoint, after: Endpoint) -> None:
        self._check_service(after)
        if after.url != record.url:
            _check_words(after)
        if (after.region, after.region_id) != (record.region, record.region_id):
            self._set_region(after)
        super().change(record, after)

    def remove(self, record: Endpoint) -> None:
        """An endpoint, also from the choices of projects."""
        remove_all(self._choices, self._choices.select(endpoint_id=record.id))
        super().remove(record)

    def _check_service(self, endpoint: Endpoint) -> None:
        if endpoint.service_id not in self._services:
            raise bad_request(f"Expecting to find endpoint service_id in service table. {MALFORMED}")

    def _set_region(self, endpoint: Endpoint) -> None:
        """Let both fields have the region's ID; a `region`, the older one, is made when there is none of this name."""
        if endpoint.region_id is None and endpoint.region is not None:
            self._regions.ensure(endpoint.region)
            endpoint.region_id = endpoint.region
        elif endpoint.region_id is not None and endpoint.region_id not in self._regions.rows:
            raise bad_request(f"Expecting to find endpoint region_id in region table. {MALFORMED}")
        endpoint.region = endpoint.region_id


def _check_words(endpoint: Endpoint) -> None:
    """Refuse a URL with another variable than those that catalogs fill in. Raises ApiError 400."""
    form = endpoint.url.replace("$(", "%(")
    try:
        form % dict.fromkeys(URL_VARIABLES, "")
    except (KeyError, TypeError, ValueError):
        raise bad_request(f"Cannot create an endpoint with an invalid URL: {endpoint.url}.") from None


class CatalogServices(RecordCollection[CatalogService]):
    """Services in the catalog."""

    def __init__(
        self,
        records: Records,
        rows: Table[CatalogService],
        endpoints: Endpoints,
        limits: Table[Limit],
        registered_limits: Table[RegisteredLimit],
    ) -> None:
        super().__init__(records, rows)
        self._endpoints = endpoints
        self._limits = limits
        self._registered_limits = registered_limits

    def remove(self, record: CatalogService) -> None:
        """A service, with its endpoints and limits."""
        for endpoint in self._endpoints.rows.select(service_id=record.id):
            self._endpoints.remove(endpoint)
        remove_all(self._limits, self._limits.select(service_id=record.id))
        remove_all(self._registered_limits, self._registered_limits.select(service_id=record.id))
        super().remove(record)


class EndpointGroups(RecordCollection[EndpointGroup]):
    """Groups of endpoints that have something in common."""

    def __init__(
        self,
        records: Records,
        rows: Table[EndpointGroup],
        endpoints: Table[Endpoint],
        choices: Table[EndpointChoice],
    ) -> None:
        super().__init__(records, rows)
        self._endpoints = endpoints
        self._choices = choices

    def members(self, group: EndpointGroup) -> list[Endpoint]:
        """The endpoints that have what a group asks for."""
        return self._endpoints.select(**group.filters)

    def remove(self, record: EndpointGroup) -> None:
        """A group, also from the choices of projects."""
        remove_all(self._choices, self._choices.select(endpoint_group_id=record.id))
        super().remove(record)


class EndpointChoices(Rules):
    """Which endpoints the catalog of a project has, chosen singly or by groups."""

    def __init__(self, records: Records, rows: Table[EndpointChoice], groups: EndpointGroups) -> None:
        super().__init__(records)
        self.rows = rows
        self._groups = groups

    def choose(self, choice: EndpointChoice) -> None:
        """Add a choice; does nothing when it was made before."""
        if choice.id not in self.rows:
            self.rows.add(choice)

    def require(self, choice: EndpointChoice) -> EndpointChoice:
        """The choice as it was made. Raises ApiError 404."""
        found = self.rows.get(choice.id)
        if found is None:
            raise not_found("The project and the endpoint or group are not associated.")
        return found

    def endpoints_for(self, project_id: str | None) -> set[str] | None:
        """The ids of the endpoints that were chosen for a project; None, for all, without a choice."""
        if project_id is None:
            return None
        rows = self.rows.select(project_id=project_id)
        if not rows:
            return None
        return {key for row in rows for key in self._chosen(row)}

    def _chosen(self, row: EndpointChoice) -> Iterator[str]:
        if row.endpoint_id is not None:
            yield row.endpoint_id
        if row.endpoint_group_id is not None:
            group = self._groups.rows.require(row.endpoint_group_id)
            yield from (endpoint.id for endpoint in self._groups.members(group))

    def groups_for(self, project_id: str) -> list[EndpointGroup]:
        """The groups that were chosen for a project."""
        keys = {row.endpoint_group_id for row in self.rows.select(project_id=project_id)}
        return [group for group in self._groups.rows if group.id in keys]


class Catalog(Rules):
    """The catalog, which follows from the services of the cloud, and which endpoints projects see of it.

    `choices` associates projects with single endpoints and with `endpoint_groups`.
    """

    def __init__(
        self,
        records: Records,
        regions: Table[Region],
        services: Table[CatalogService],
        endpoints: Table[Endpoint],
        endpoint_groups: Table[EndpointGroup],
        choices: Table[EndpointChoice],
        *,
        limits: Table[Limit],
        registered_limits: Table[RegisteredLimit],
    ) -> None:
        super().__init__(records)
        self.regions = Regions(records, regions, endpoints)
        self.endpoints = Endpoints(records, endpoints, services, self.regions, choices)
        self.services = CatalogServices(records, services, self.endpoints, limits, registered_limits)
        self.endpoint_groups = EndpointGroups(records, endpoint_groups, endpoints, choices)
        self.choices = EndpointChoices(records, choices, self.endpoint_groups)
        self._enabled_at: tuple[object, ...] = ()
        self._enabled: Sequence[EnabledService] = ()

    def open(self) -> None:
        """Give every service of the cloud, and every one that runs elsewhere, its endpoints; remove the services
        whose endpoints are on this cloud, which was started without them."""
        for service in self._not_served():
            self.services.remove(service)
        self.regions.ensure(REGION)
        for offered in self.cloud.services:
            for kind, path in offered.endpoints.items():
                self._register(offered.name, kind, CLOUD_URL + path)
        for kind, url in self.cloud.extra_endpoints.items():
            self._register(OUTSIDE_NAMES.get(kind, kind), kind, url)

    def _not_served(self) -> list[CatalogService]:
        served = {kind for service in self.cloud.services for kind in service.endpoints}
        here = {endpoint.service_id for endpoint in self.endpoints.rows if endpoint.url.startswith(CLOUD_URL)}
        return [row for row in self.services.rows if row.id in here and row.type not in served]

    def _register(self, name: str, kind: str, url: str) -> None:
        """Create the service and its three endpoints, or point existing ones to the URL."""
        service = self.services.rows.first(type=kind)
        if service is None:
            service = self.services.rows.add(CatalogService(id=new_hex_id(), name=name, type=kind))
        for interface in INTERFACES:
            endpoint = self.endpoints.rows.first(service_id=service.id, interface=interface)
            if endpoint is None:
                self.endpoints.rows.add(
                    Endpoint(
                        id=new_hex_id(),
                        service_id=service.id,
                        interface=interface,
                        region=REGION,
                        region_id=REGION,
                        url=url,
                    )
                )
            elif endpoint.url != url:
                self.endpoints.rows.update(endpoint, url=url)

    def url(self, endpoint: Endpoint) -> str:
        """The URL as shown; project and user are still to be filled in."""
        return endpoint.url.replace(CLOUD_URL, self.cloud.endpoint)

    def enabled(self) -> Sequence[EnabledService]:
        """What the catalog of a token may show, in the order of creation. It is made once until something changes."""
        version = self.services.rows.changes, self.endpoints.rows.changes, self.cloud.endpoint
        if version != self._enabled_at:
            self._enabled_at = version
            self._enabled = [
                (service, [(each, self._pattern(each)) for each in self._enabled_endpoints(service)])
                for service in self.services.rows
                if service.enabled
            ]
        return self._enabled

    def _enabled_endpoints(self, service: CatalogService) -> list[Endpoint]:
        return self.endpoints.rows.select(service_id=service.id, enabled=True)

    def _pattern(self, endpoint: Endpoint) -> str:
        return self.url(endpoint).replace("$(", "%(")


def filled_in(pattern: str, user_id: str, project_id: str | None) -> str | None:
    """The URL in the catalog of a token; None of one that needs a project, without one."""
    if "%(" not in pattern:
        return pattern
    if project_id is None and ("%(project_id)s" in pattern or "%(tenant_id)s" in pattern):
        return None
    for name, value in (("project_id", project_id), ("tenant_id", project_id), ("user_id", user_id)):
        pattern = pattern.replace(f"%({name})s", value or "")
    return pattern
