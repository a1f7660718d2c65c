"""The policy service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.guards import restricted
from openstack_emulator.policy.routes import ROOT, ROUTES
from openstack_emulator.policy.rules.composition import PolicyEngine

POLICY = Service(
    name="congress",
    mount="/policy",
    records=PolicyEngine,
    endpoints={"policy": "/policy"},
    prefixes=("/v1",),
    routes=restricted(ROUTES, (), ()),
    root=ROOT,
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.congress,
)
