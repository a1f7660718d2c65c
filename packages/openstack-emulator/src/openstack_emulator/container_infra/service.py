"""The service for container clusters.

No servers are created for clusters, and no orchestration stacks: their nodes only have addresses.
"""

from __future__ import annotations

from openstack_emulator.container_infra.routes.services import VERSIONS
from openstack_emulator.container_infra.routes.table import ROOT, ROUTES
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.http import BodyMessages

RULES = {
    "GET /clustertemplates": "clustertemplate:get_all",
    "POST /clustertemplates": "clustertemplate:create",
    "GET /clustertemplates/detail": "clustertemplate:detail",
    "GET /clustertemplates/{key}": "clustertemplate:get",
    "PATCH /clustertemplates/{key}": "clustertemplate:update",
    "DELETE /clustertemplates/{key}": "clustertemplate:delete",
    "GET /clusters": "cluster:get_all",
    "POST /clusters": "cluster:create",
    "GET /clusters/detail": "cluster:detail",
    "GET /clusters/{key}": "cluster:get",
    "PATCH /clusters/{key}": "cluster:update",
    "DELETE /clusters/{key}": "cluster:delete",
    "POST /clusters/{key}/actions/resize": "cluster:resize",
    "POST /clusters/{key}/actions/upgrade": "cluster:upgrade",
    "GET /clusters/{key}/nodegroups": "nodegroup:get_all",
    "POST /clusters/{key}/nodegroups": "nodegroup:create",
    "GET /clusters/{key}/nodegroups/{group}": "nodegroup:get",
    "PATCH /clusters/{key}/nodegroups/{group}": "nodegroup:update",
    "DELETE /clusters/{key}/nodegroups/{group}": "nodegroup:delete",
    "POST /certificates": "certificate:create",
    "GET /certificates/{key}": "certificate:get",
    "PATCH /certificates/{key}": "certificate:rotate_ca",
    "GET /quotas": "quota:get_all",
    "POST /quotas": "quota:create",
    "PATCH /quotas/{project_id}/{resource}": "quota:update",
    "DELETE /quotas/{project_id}/{resource}": "quota:delete",
    "GET /mservices": "magnum-service:get_all",
}
"""Routes and the rules of the service's policy."""

CONTAINER_INFRA = Service(
    name="magnum",
    mount="/container-infra",
    records=ContainerClusters,
    endpoints={"container-infra": "/container-infra/v1"},
    prefixes=("/v1",),
    routes=ROUTES,
    root=ROOT,
    public=frozenset({"GET /", "GET /v1"}),
    microversions=VERSIONS,
    error_body=error_bodies.magnum,
    body_messages=BodyMessages(not_json="Request is not in valid JSON format"),
    rules=RULES,
    refusal="Policy doesn't allow {rule} to be performed.",
)
