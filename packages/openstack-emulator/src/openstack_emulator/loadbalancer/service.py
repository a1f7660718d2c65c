"""The load-balancer service.

Load balancers pass connections on to guests, and probe them. In a cloud without guests no traffic passes them: whether
a monitored member is healthy follows from the network service: a port with its address must be ACTIVE.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.guards import restricted
from openstack_emulator.core.http import BodyMessages
from openstack_emulator.loadbalancer.routes.table import ROOT, ROUTES
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing

ROLES = ("member", "reader", "load-balancer_member", "load-balancer_observer", "load-balancer_global_observer",
         "load-balancer_quota_admin")  # fmt: skip
"""The roles with which a user may send requests at all; those that change something need more."""

LOAD_BALANCER = Service(
    name="octavia",
    mount="/load-balancer",
    records=LoadBalancing,
    endpoints={"load-balancer": "/load-balancer"},
    routes=restricted(ROUTES, ROLES, ROLES),
    prefixes=("/v2/lbaas", "/v2.0/lbaas"),
    root=ROOT,
    public=frozenset({"GET /"}),
    error_body=error_bodies.octavia,
    body_messages=BodyMessages(not_json="Request is not in valid JSON format"),
)
