"""The network service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.network.routes.table import ROOT, ROUTES
from openstack_emulator.network.rules.composition import NetworkService

NETWORK_SERVICE = Service(
    name="neutron",
    mount="/network",
    records=NetworkService,
    endpoints={"network": "/network"},
    routes=ROUTES,
    prefixes=("/v2.0",),
    root=ROOT,
    public=frozenset({"GET /"}),
    error_body=error_bodies.neutron,
)
