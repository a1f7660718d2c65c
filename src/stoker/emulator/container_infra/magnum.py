"""The service for container clusters: its records and its table of routes.

No servers are created for clusters, and no orchestration stacks: their nodes only have addresses.
"""

from __future__ import annotations

from typing import Any

from stoker.emulator.container_infra.certificates import CERTIFICATE_ROUTES, Certificates
from stoker.emulator.container_infra.cluster_routes import CLUSTER_ROUTES
from stoker.emulator.container_infra.clusters import Clusters
from stoker.emulator.container_infra.nodegroup_routes import NODEGROUP_ROUTES
from stoker.emulator.container_infra.nodegroups import NodeGroups
from stoker.emulator.container_infra.quotas import QUOTA_ROUTES, Quotas
from stoker.emulator.container_infra.templates import TEMPLATE_ROUTES, Templates
from stoker.emulator.core.cloud import Cloud, Microversions, Records, Service
from stoker.emulator.core.component import merged
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.microversions import write
from stoker.emulator.core.objects import TIMESTAMP, missing
from stoker.emulator.core.parsable_errors import parsable_body

VERSIONS = Microversions("container-infra", (1, 1), (1, 11), (1, 1))
COLLECTIONS = ("clustertemplates", "clusters", "certificates", "quotas", "mservices", "stats")


class ContainerInfraRecords(Records):
    """Cluster templates, clusters with their node groups and certificate authorities, and quotas."""

    service = "magnum"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rows = self.collection("clusters", ("project_id", "cluster_template_id"), missing("cluster"))
        quotas, templates = Quotas(self), Templates(self, rows)
        clusters = Clusters(self, rows, templates, NodeGroups(self), quotas)
        Certificates(self, clusters)


def versions(records: Records, request: Request) -> Response:
    return Response(
        {
            "name": "OpenStack Magnum API",
            "description": "Magnum is an OpenStack project which aims to provide container cluster management.",
            "versions": [
                {
                    "id": "v1",
                    "status": "CURRENT",
                    "min_version": write(VERSIONS.minimum),
                    "max_version": write(VERSIONS.maximum),
                    "links": [{"rel": "self", "href": f"{request.base}/v1/"}],
                }
            ],
        }
    )


def version(records: Records, request: Request) -> Response:
    media_type = {"base": "application/json", "type": "application/vnd.openstack.magnum.v1+json"}
    body: dict[str, Any] = {"id": "v1", "media_types": [media_type]}
    body["links"] = [{"rel": "self", "href": f"{request.base}/v1/"}]
    for name in COLLECTIONS:
        body[name] = [{"rel": "self", "href": f"{request.base}/v1/{name}/"}]
    return Response(body)


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
    root={"/": {"GET": versions}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    microversions=VERSIONS,
    error_body=parsable_body,
)
