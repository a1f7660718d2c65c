"""The service for single containers: its records and its table of routes.

Nothing runs in emulated containers; `processes` says what their commands would do. Capsules, registries, commits,
rebuilds, lists of actions, and connections to terminals are not there.
"""

from __future__ import annotations

from openstack_emulator.container.archives import ARCHIVE_ROUTES
from openstack_emulator.container.container_routes import CONTAINER_ROUTES
from openstack_emulator.container.containers import Containers
from openstack_emulator.container.hosts import HOST_ROUTES, Hosts
from openstack_emulator.container.images import IMAGE_ROUTES, Images
from openstack_emulator.container.networking import Networking
from openstack_emulator.container.quotas import QUOTA_ROUTES, Quotas
from openstack_emulator.container.storage import Storage
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Microversions, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.microversions import negotiate, write
from openstack_emulator.core.objects import missing
from openstack_emulator.core.versions import ApiVersion, all_versions, collections, media_type, own

VERSIONS = Microversions(
    "container",
    (1, 1),
    (1, 40),
    (1, 1),
    range_headers=("OpenStack-API-Minimum-Version", "OpenStack-API-Maximum-Version"),
    malformed=406,
)
COLLECTIONS = ("containers", "images", "hosts", "services", "availability_zones", "quotas")
DESCRIPTION = {
    "rel": "describedby",
    "type": "text/html",
    "href": "https://docs.openstack.org/developer/zun/dev/api-spec-v1.html",
}
RULES = {
    "GET /containers": "container:get_all_all_projects",
    "DELETE /containers/{key}": "container:delete_force",
    "GET /images": "image:get_all",
    "POST /images": "image:pull",
    "GET /hosts": "host:get_all",
    "GET /hosts/{key}": "host:get",
    "GET /services": "zun-service:get_all",
    "PUT /services/enable": "zun-service:enable",
    "PUT /services/disable": "zun-service:disable",
    "PUT /services/force_down": "zun-service:force_down",
    "PUT /quotas/{project_id}": "quota:update",
    "DELETE /quotas/{project_id}": "quota:delete",
}
"""Routes for administrators, and the rules of the service's policy."""


class ContainerRecords(Records):
    """Containers with their interfaces and mounts, images, hosts and quotas."""

    service = "zun"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rows = self.collection("containers", ("project_id", "name"), missing("container"))
        self._hosts, quotas, images = Hosts(self, rows), Quotas(self, rows), Images(self)
        Containers(self, rows, self._hosts, images, quotas, Networking(self), Storage(self))

    def seed(self) -> None:
        self._hosts.seed()


_VERSION = ApiVersion(
    "v1",
    (own("/v1/"),),
    details={"min_version": write(VERSIONS.minimum), "max_version": write(VERSIONS.maximum)},
)
_SERVICE = {
    "name": "OpenStack Zun API",
    "description": "Zun is an OpenStack project which aims to provide containers service.",
}


def version(records: Records, request: Request) -> Response:
    """The document of version 1, in a microversion. Raises ApiError 406."""
    negotiate(VERSIONS, request)
    links = [*_VERSION.document(request)["links"], DESCRIPTION]
    found = collections(request, "/v1", {name: f"{name}/" for name in COLLECTIONS})
    return Response({"id": "v1", "media_types": [media_type("zun.v1")], "links": links, **found})


CONTAINER = Service(
    name="zun",
    mount="/container",
    records=ContainerRecords,
    endpoints={"container": "/container/v1"},
    prefixes=("/v1",),
    routes=merged(CONTAINER_ROUTES, ARCHIVE_ROUTES, IMAGE_ROUTES, HOST_ROUTES, QUOTA_ROUTES),
    root={"/": {"GET": all_versions(_VERSION, default=True, around=_SERVICE)}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    microversions=VERSIONS,
    error_body=error_bodies.zun,
    rules=RULES,
    refusal="Policy doesn't allow {rule} to be performed.",
)
