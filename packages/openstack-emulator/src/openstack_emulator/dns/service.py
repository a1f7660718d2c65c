"""The DNS service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.guards import restricted
from openstack_emulator.dns.routes.table import ROOT, ROUTES
from openstack_emulator.dns.rules.composition import DomainNames

DNS = Service(
    name="designate",
    mount="/dns",
    records=DomainNames,
    endpoints={"dns": "/dns"},
    prefixes=("/v2",),
    routes=restricted(ROUTES, ("reader",), ("member",)),
    root=ROOT,
    public=frozenset({"GET /"}),
    error_body=error_bodies.designate,
)
