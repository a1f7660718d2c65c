"""Placement, which keeps nothing: the compute service counts what its hosts have."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Microversions, Records, Service
from openstack_emulator.placement.routes import NEWEST, OLDEST, ROOT, ROUTES


class PlacementRecords(Records):
    """Nothing."""

    service = "placement"


PLACEMENT = Service(
    name="placement",
    mount="/placement",
    records=PlacementRecords,
    endpoints={"placement": "/placement"},
    routes=ROUTES,
    root=ROOT,
    public=frozenset({"GET /"}),
    error_body=error_bodies.placement,
    microversions=Microversions("placement", OLDEST, NEWEST, default=OLDEST),
)
