"""The bare-metal service.

There are no machines: states change on the cloud's clock alone. BIOS settings, indicators, runbooks, events, the
interface of the deployment ramdisk, and vendor methods are missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.baremetal.routes.table import ROUTES
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Microversions, Service
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.microversions import negotiate, version_text
from openstack_emulator.core.versions import ApiVersion, all_versions, collections, media_type, own

OLDEST, NEWEST = (1, 1), (1, 75)
_HEADER = "X-OpenStack-Ironic-API"
COLLECTIONS: Mapping[str, Version] = {
    "nodes": OLDEST, "ports": OLDEST, "portgroups": OLDEST, "chassis": OLDEST, "drivers": OLDEST, "allocations": OLDEST,
    "volume": (1, 32), "conductors": (1, 49), "deploy_templates": (1, 55),
}  # fmt: skip
"""Collections that the API's version document names, and the microversions that brought them."""

MICROVERSIONS = Microversions(
    "baremetal",
    OLDEST,
    NEWEST,
    default=OLDEST,
    legacy_header=f"{_HEADER}-Version",
    alone=True,
    varies=False,
    range_headers=(f"{_HEADER}-Minimum-Version", f"{_HEADER}-Maximum-Version"),
    malformed=406,
)


_VERSION = ApiVersion(
    "v1", (own("/v1/"),), details={"min_version": version_text(OLDEST), "version": version_text(NEWEST)}
)
_SERVICE = {
    "name": "OpenStack Ironic API",
    "description": "Ironic is an OpenStack project which enables the provision and management of baremetal machines.",
}


def version(service: BareMetal, request: Request) -> Response:
    """The document of version 1: the collections of the microversion. Raises ApiError 400 and 406."""
    negotiate(MICROVERSIONS, request)
    known = {name: f"{name}/" for name, since in COLLECTIONS.items() if request.version >= since}
    document, found = _VERSION.document(request), collections(request, "/v1", known)
    shown = {"id": "v1", "links": document["links"], "media_types": [media_type("ironic.v1")], "version": document}
    return Response({**shown, **found})


BARE_METAL = Service(
    name="ironic",
    mount="/baremetal",
    records=BareMetal,
    endpoints={"baremetal": "/baremetal"},
    # A path without a version is one of the default version.
    prefixes=("/v1", ""),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION, default=True, around=_SERVICE)}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.ironic,
    request_id_header="openstack-request-id",
    microversions=MICROVERSIONS,
)
