"""The load-balancer service: its table of routes.

Load balancers pass connections on to guests, and probe them. In a cloud without guests no traffic passes them: whether
a monitored member is healthy follows from the network service: a port with its address must be ACTIVE.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.guards import restricted
from openstack_emulator.core.http import Phrases
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.loadbalancer.operator_routes import AMPHORAE, setups
from openstack_emulator.loadbalancer.records import LoadBalancerRecords
from openstack_emulator.loadbalancer.routes import parts

NEWEST_MINOR = 27
"""The API is version 2 with minor versions, which clients do not select."""


_VERSIONS = [
    ApiVersion(
        f"v2.{minor}",
        (own("/v2"),),
        "CURRENT" if minor == NEWEST_MINOR else "SUPPORTED",
        {"updated": "2021-11-23T00:00:00Z"},
    )
    for minor in range(NEWEST_MINOR + 1)
]


ROLES = ("member", "reader", "load-balancer_member", "load-balancer_observer", "load-balancer_global_observer",
         "load-balancer_quota_admin")  # fmt: skip
"""The roles with which a user may send requests at all; those that change something need more."""


LOAD_BALANCER_SERVICE = Service(
    name="octavia",
    mount="/load-balancer",
    records=LoadBalancerRecords,
    endpoints={"load-balancer": "/load-balancer"},
    routes=restricted({**parts(), **setups()}, ROLES, ROLES),
    prefixes=("/v2/lbaas", "/v2.0/lbaas"),
    root={"/": {"GET": all_versions(*_VERSIONS)}, **AMPHORAE},
    public=frozenset({"GET /"}),
    error_body=error_bodies.octavia,
    phrases=Phrases(not_json="Request is not in valid JSON format"),
)
