"""The database service.

Modules, logs, security groups, reset passwords and locations of user data are missing.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.database.routes.bodies import within_project
from openstack_emulator.database.routes.table import ROOT, ROUTES
from openstack_emulator.database.rules.composition import DatabaseService

DATABASE = Service(
    name="trove",
    mount="/database",
    records=DatabaseService,
    endpoints={"database": "/database/v1.0/%(project_id)s"},
    prefixes=("/v1.0/{project_id}",),
    routes=within_project(ROUTES),
    root=ROOT,
    public=frozenset({"GET /", "GET /v1.0"}),
    error_body=error_bodies.trove,
)
