"""The application catalog: its records and its table of routes."""

from __future__ import annotations

from typing import ClassVar

from openstack_emulator.catalog import environment_routes, package_routes, templates
from openstack_emulator.catalog.environments import Environments
from openstack_emulator.catalog.packages import Categories, Packages
from openstack_emulator.catalog.templates import Templates
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.versions import ApiVersion, all_versions, own


class CatalogRecords(Records):
    """Environments, packages, categories and environment templates."""

    service = "murano"
    not_found_messages: ClassVar = {
        "environments": "Environment with id {} not found",
        "packages": "Package id:{} not found",
        "categories": "Category id:{} not found",
        "templates": "Environment Template with id {} not found",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.categories = Categories(self)
        environments = Environments(self, Packages(self, self.categories))
        Templates(self, environments)

    def seed(self) -> None:
        self.categories.seed()


_VERSION = ApiVersion("v1.0", (own("/v1/"),))


APPLICATION_CATALOG = Service(
    name="murano",
    mount="/application-catalog",
    records=CatalogRecords,
    endpoints={"application-catalog": "/application-catalog"},
    prefixes=("/v1",),
    routes=merged(environment_routes.ROUTES, package_routes.ROUTES, templates.ROUTES),
    root={"/": {"GET": all_versions(_VERSION, status=300)}},
    public=frozenset({"GET /"}),
    error_body=error_bodies.murano,
)
