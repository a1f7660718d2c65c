"""The compute service, and the metadata service of its guests."""

from __future__ import annotations

from openstack_emulator.compute.routes import metadata
from openstack_emulator.compute.routes.queries import checked
from openstack_emulator.compute.routes.table import ROOT, ROUTES
from openstack_emulator.compute.routes.versions import MAXIMUM
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.metadata_service import MetadataService
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import READERS, Microversions, Service
from openstack_emulator.core.errors import fault_body
from openstack_emulator.core.http import BodyMessages

POLICY_RULES = {
    "DELETE /flavors/{flavor_id}": "os-flavor-manage:delete",
    "DELETE /flavors/{flavor_id}/os-extra_specs/{key}": "os-flavor-extra-specs:delete",
    "DELETE /os-aggregates/{aggregate_id}": "os-aggregates:delete",
    "DELETE /os-quota-sets/{target_id}": "os-quota-sets:delete",
    "DELETE /os-server-groups/{group_id}": "os-server-groups:delete",
    "DELETE /servers/{server_id}": "servers:delete",
    "GET /os-aggregates": "os-aggregates:index",
    "GET /os-aggregates/{aggregate_id}": "os-aggregates:show",
    "GET /os-availability-zone/detail": "os-availability-zone:detail",
    "GET /os-hypervisors": "os-hypervisors:list",
    "GET /os-hypervisors/detail": "os-hypervisors:list-detail",
    "GET /os-instance_usage_audit_log": "os-instance-usage-audit-log:list",
    "GET /os-migrations": "os-migrations:index",
    "GET /os-server-groups": "os-server-groups:index",
    "GET /os-services": "os-services:list",
    "GET /os-simple-tenant-usage": "os-simple-tenant-usage:list",
    "GET /servers": "servers:index",
    "GET /servers/detail": "servers:detail",
    "GET /servers/{server_id}/diagnostics": "os-server-diagnostics",
    "POST /flavors": "os-flavor-manage:create",
    "POST /flavors/{flavor_id}/os-extra_specs": "os-flavor-extra-specs:create",
    "POST /os-aggregates": "os-aggregates:create",
    "POST /os-server-groups": "os-server-groups:create",
    "POST /servers": "servers:create",
    "POST /servers/{server_id}/os-interface": "os-attach-interfaces:create",
    "POST /servers/{server_id}/os-volume_attachments": "os-volumes-attachments:create",
    "PUT /flavors/{flavor_id}": "os-flavor-manage:update",
    "PUT /flavors/{flavor_id}/os-extra_specs/{key}": "os-flavor-extra-specs:update",
    "PUT /os-aggregates/{aggregate_id}": "os-aggregates:update",
    "PUT /os-quota-sets/{target_id}": "os-quota-sets:update",
    "PUT /servers/{server_id}": "servers:update",
}
"""Route → name of the policy rule, as Nova's errors have it after `os_compute_api:`."""

COMPUTE = Service(
    name="nova",
    mount="/compute",
    records=ComputeService,
    endpoints={"compute": "/compute/v2.1"},
    prefixes=("/v2.1", "/v2.1/{project_id}", "/v2", "/v2/{project_id}"),
    routes=checked(ROUTES),
    root=ROOT,
    public=frozenset({"GET /", "GET /v2", "GET /v2/", "GET /v2.1", "GET /v2.1/"}),
    exact_paths=True,
    error_body=fault_body,
    microversions=Microversions("compute", (2, 1), MAXIMUM, (2, 1), "X-OpenStack-Nova-API-Version", names_refused=True),
    request_id_header="x-compute-request-id",
    error_type="application/json; charset=UTF-8",
    body_messages=BodyMessages(not_json="Malformed request body", no_object="'{key}' is a required property"),
    rules={route: f"os_compute_api:{rule}" for route, rule in POLICY_RULES.items()},
    refusal="Policy doesn't allow {rule} to be performed.",
    readers=READERS,
    writers=frozenset({"member"}),
    written_by_all=frozenset({"/os-keypairs", "/os-keypairs/{name}"}),
)

COMPUTE_METADATA = Service(
    name="nova-metadata",
    mount="/metadata",
    records=MetadataService,
    endpoints={},
    routes={
        "/": {"GET": metadata.read},
        "/{path:*}": {"GET": metadata.read, "POST": metadata.write, "PUT": metadata.write},
    },
    optional_token=True,
    error_body=error_bodies.nova_metadata,
)
