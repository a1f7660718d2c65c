"""The reservation service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Microversions, Service
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.reservation.routes.table import ROUTES
from openstack_emulator.reservation.rules.composition import Reservations

VERSIONS = Microversions("reservation", (1, 0), (1, 0), (1, 0))
_VERSION = ApiVersion("v1.0", (own("/v1"),))
_NAMES = {"leases": "leases", "os-hosts": "oshosts", "floatingips": "floatingips"}
RULES = {
    f"{method} {pattern}": f"blazar:{_NAMES[pattern.split('/')[1]]}:{method.lower()}"
    for pattern, methods in ROUTES.items()
    for method in methods
}
"""Routes and the rules of the service's policy."""

RESERVATION = Service(
    name="blazar",
    mount="/reservation",
    records=Reservations,
    endpoints={"reservation": "/reservation/v1"},
    prefixes=("/v1",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION)}},
    public=frozenset({"GET /"}),
    identified_after_token=True,
    error_body=error_bodies.blazar,
    microversions=VERSIONS,
    rules=RULES,
    refusal="Policy doesn't allow {rule} to be performed",
)
