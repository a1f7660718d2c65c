"""The shared file systems service.

The microversions from 2.7 to 2.78 of its API, without share groups, replicas, share servers, migration and transfers,
whose paths do not exist.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.guards import restricted
from openstack_emulator.core.http import BodyMessages
from openstack_emulator.share.routes.administration import MICROVERSIONS
from openstack_emulator.share.routes.table import ROOT, ROUTES
from openstack_emulator.share.rules.composition import SharedFileSystems

SHARE = Service(
    name="manila",
    mount="/share",
    records=SharedFileSystems,
    endpoints={"sharev2": "/share/v2", "shared-file-system": "/share/v2"},
    prefixes=("/v2", "/v2/{project_id}"),
    routes=restricted(ROUTES, ("reader",), ("member",)),
    root=ROOT,
    public=frozenset({"GET /", "GET /v2", "GET /v2/"}),
    exact_paths=True,
    wrong_method=404,
    error_body=error_bodies.manila,
    body_messages=BodyMessages(not_json="Malformed request body"),
    request_id_header="x-compute-request-id",
    microversions=MICROVERSIONS,
)
