"""The bare-metal service: its records and its table of routes.

There are no machines: states change on the cloud's clock alone. BIOS settings, indicators, runbooks, events, the
interface of the deployment ramdisk, and vendor methods are missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.baremetal.allocations import ALLOCATION_ROUTES, Allocations
from openstack_emulator.baremetal.chassis import CHASSIS_ROUTES, Chassis
from openstack_emulator.baremetal.conductors import CONDUCTOR_ROUTES
from openstack_emulator.baremetal.node_routes import NODE_ROUTES
from openstack_emulator.baremetal.nodes import Nodes
from openstack_emulator.baremetal.ports import PORT_ROUTES, Ports
from openstack_emulator.baremetal.templates import TEMPLATE_ROUTES, Templates
from openstack_emulator.baremetal.vifs import VIF_ROUTES
from openstack_emulator.baremetal.volumes import VOLUME_ROUTES, Volumes
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Microversions, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.microversions import negotiate, write
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


class BareMetalRecords(Records):
    """Everything that the bare-metal service keeps."""

    service = "ironic"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rows = self.collection("chassis", missing=lambda key: not_found(f"Chassis {key} could not be found."))
        self.nodes = Nodes(self, rows)
        Chassis(self, self.nodes, rows)
        Ports(self, self.nodes)
        Volumes(self, self.nodes)
        Templates(self)
        Allocations(self, self.nodes)

    def seed(self) -> None:
        self.nodes.seed()


_VERSION = ApiVersion("v1", (own("/v1/"),), details={"min_version": write(OLDEST), "version": write(NEWEST)})
_SERVICE = {
    "name": "OpenStack Ironic API",
    "description": "Ironic is an OpenStack project which enables the provision and management of baremetal machines.",
}


def version(records: Records, request: Request) -> Response:
    """The document of version 1: the collections of the microversion. Raises ApiError 400 and 406."""
    negotiate(MICROVERSIONS, request)
    known = {name: f"{name}/" for name, since in COLLECTIONS.items() if request.version >= since}
    document, found = _VERSION.document(request), collections(request, "/v1", known)
    shown = {"id": "v1", "links": document["links"], "media_types": [media_type("ironic.v1")], "version": document}
    return Response({**shown, **found})


BARE_METAL = Service(
    name="ironic",
    mount="/baremetal",
    records=BareMetalRecords,
    endpoints={"baremetal": "/baremetal"},
    # A path without a version is one of the default version.
    prefixes=("/v1", ""),
    routes=merged(
        NODE_ROUTES,
        PORT_ROUTES,
        VIF_ROUTES,
        CHASSIS_ROUTES,
        ALLOCATION_ROUTES,
        VOLUME_ROUTES,
        TEMPLATE_ROUTES,
        CONDUCTOR_ROUTES,
    ),
    root={"/": {"GET": all_versions(_VERSION, default=True, around=_SERVICE)}, "/v1": {"GET": version}},
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.ironic,
    request_id_header="openstack-request-id",
    microversions=MICROVERSIONS,
)
