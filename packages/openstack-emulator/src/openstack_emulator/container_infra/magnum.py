"""The service for container clusters: its records and its table of routes.

No servers are created for clusters, and no orchestration stacks: their nodes only have addresses.
"""

from __future__ import annotations

from openstack_emulator.container_infra.certificates import CERTIFICATE_ROUTES, Certificates
from openstack_emulator.container_infra.cluster_routes import CLUSTER_ROUTES
from openstack_emulator.container_infra.clusters import Clusters
from openstack_emulator.container_infra.nodegroup_routes import NODEGROUP_ROUTES
from openstack_emulator.container_infra.nodegroups import NodeGroups
from openstack_emulator.container_infra.quotas import QUOTA_ROUTES, Quotas
from openstack_emulator.container_infra.templates import TEMPLATE_ROUTES, Templates
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Microversions, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.http import Phrases, Request, Response
from openstack_emulator.core.microversions import negotiate, write
from openstack_emulator.core.objects import TIMESTAMP, missing
from openstack_emulator.core.versions import ApiVersion, all_versions, collections, media_type, own

VERSIONS = Microversions(
    "container-infrastructure-management",
    (1, 1),
    (1, 11),
    (1, 1),
    range_headers=("OpenStack-API-Minimum-Version", "OpenStack-API-Maximum-Version"),
    aliases=("container-infra",),
    malformed=406,
    names_refused=True,
)
COLLECTIONS = {
    **{name: f"{name}/" for name in ("clustertemplates", "clusters", "certificates", "quotas", "mservices", "stats")},
    "nodegroups": "clusters/{cluster_id}/nodegroups",
}
DESCRIPTION = {
    "rel": "describedby",
    "type": "text/html",
    "href": "http://docs.openstack.org/developer/magnum/dev/api-spec-v1.html",
}
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


class ContainerInfraRecords(Records):
    """Cluster templates, clusters with their node groups and certificate authorities, and quotas."""

    service = "magnum"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rows = self.collection("clusters", ("project_id", "cluster_template_id"), missing("cluster"))
        quotas, templates = Quotas(self), Templates(self, rows)
        clusters = Clusters(self, rows, templates, NodeGroups(self), quotas)
        Certificates(self, clusters)


_VERSION = ApiVersion(
    "v1",
    (own("/v1/"),),
    details={"min_version": write(VERSIONS.minimum), "max_version": write(VERSIONS.maximum)},
)
_SERVICE = {
    "name": "OpenStack Magnum API",
    "description": "Magnum is an OpenStack project which aims to provide container cluster management.",
}


def version(records: Records, request: Request) -> Response:
    """The document of version 1, in a microversion. Raises ApiError 406."""
    negotiate(VERSIONS, request)
    links = [*_VERSION.document(request)["links"], DESCRIPTION]
    found = collections(request, "/v1", COLLECTIONS)
    return Response({"id": "v1", "media_types": [media_type("magnum.v1")], "links": links, **found})


def list_services(records: Records, request: Request) -> Response:
    """The processes of Magnum; for administrators."""
    request.context.require()
    now = records.timestamp(TIMESTAMP)
    conductor = {
        "id": 1,
        "host": "devstack",
        "binary": "magnum-conductor",
        "state": "up",
        "disabled": False,
        "disabled_reason": None,
        "report_count": 1,
        "created_at": now,
        "updated_at": now,
    }
    return Response({"mservices": [conductor]})


CONTAINER_INFRA = Service(
    name="magnum",
    mount="/container-infra",
    records=ContainerInfraRecords,
    endpoints={"container-infra": "/container-infra/v1"},
    prefixes=("/v1",),
    routes=merged(
        TEMPLATE_ROUTES,
        CLUSTER_ROUTES,
        NODEGROUP_ROUTES,
        CERTIFICATE_ROUTES,
        QUOTA_ROUTES,
        {"/mservices": {"GET": list_services}},
    ),
    root={"/": {"GET": all_versions(_VERSION, around=_SERVICE)}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    microversions=VERSIONS,
    error_body=error_bodies.magnum,
    phrases=Phrases(not_json="Request is not in valid JSON format"),
    rules=RULES,
    refusal="Policy doesn't allow {rule} to be performed.",
)
