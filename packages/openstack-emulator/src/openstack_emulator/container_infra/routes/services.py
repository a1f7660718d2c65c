"""The version of the API, and the processes of the service."""

from __future__ import annotations

from openstack_emulator.core.cloud import Microversions, Records
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.microversions import negotiate, version_text
from openstack_emulator.core.objects import TIMESTAMP
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
VERSION_1 = ApiVersion(
    "v1",
    (own("/v1/"),),
    details={"min_version": version_text(VERSIONS.minimum), "max_version": version_text(VERSIONS.maximum)},
)
_SERVICE = {
    "name": "OpenStack Magnum API",
    "description": "Magnum is an OpenStack project which aims to provide container cluster management.",
}


def version(records: Records, request: Request) -> Response:
    """The document of version 1, in a microversion. Raises ApiError 406."""
    negotiate(VERSIONS, request)
    links = [*VERSION_1.document(request).get("links", ()), DESCRIPTION]
    found = collections(request, "/v1", COLLECTIONS)
    return Response({"id": "v1", "media_types": [media_type("magnum.v1")], "links": links, **found})


def list_services(records: Records, request: Request) -> Response:
    """The processes of Magnum."""
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


list_versions = all_versions(VERSION_1, around=_SERVICE)
