"""The service for single containers.

Nothing runs in emulated containers; `rules.commands` says what their commands would do. Capsules, registries, commits,
rebuilds, lists of actions, and connections to terminals are not there.
"""

from __future__ import annotations

from openstack_emulator.container.routes.table import ROUTES
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Microversions, Service
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.microversions import negotiate, version_text
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


_VERSION = ApiVersion(
    "v1",
    (own("/v1/"),),
    details={"min_version": version_text(VERSIONS.minimum), "max_version": version_text(VERSIONS.maximum)},
)
_SERVICE = {
    "name": "OpenStack Zun API",
    "description": "Zun is an OpenStack project which aims to provide containers service.",
}


def version(service: SingleContainers, request: Request) -> Response:
    """The document of version 1, in a microversion. Raises ApiError 406."""
    negotiate(VERSIONS, request)
    links = [*_VERSION.document(request)["links"], DESCRIPTION]
    found = collections(request, "/v1", {name: f"{name}/" for name in COLLECTIONS})
    return Response({"id": "v1", "media_types": [media_type("zun.v1")], "links": links, **found})


CONTAINER = Service(
    name="zun",
    mount="/container",
    records=SingleContainers,
    endpoints={"container": "/container/v1"},
    prefixes=("/v1",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION, default=True, around=_SERVICE)}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    microversions=VERSIONS,
    error_body=error_bodies.zun,
    rules=RULES,
    refusal="Policy doesn't allow {rule} to be performed.",
)
