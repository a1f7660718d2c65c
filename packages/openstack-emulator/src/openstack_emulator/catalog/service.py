"""The application catalog."""

from __future__ import annotations

from openstack_emulator.catalog.routes.table import ROUTES
from openstack_emulator.catalog.rules.composition import ApplicationCatalog
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.versions import ApiVersion, all_versions, own

_VERSION = ApiVersion("v1.0", (own("/v1/"),))


APPLICATION_CATALOG = Service(
    name="murano",
    mount="/application-catalog",
    records=ApplicationCatalog,
    endpoints={"application-catalog": "/application-catalog"},
    prefixes=("/v1",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION, status=300)}},
    public=frozenset({"GET /"}),
    error_body=error_bodies.murano,
)
