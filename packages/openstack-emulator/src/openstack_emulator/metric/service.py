"""The metric service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.metric.routes.media import json_only
from openstack_emulator.metric.routes.table import ROOT, ROUTES
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase

METRIC = Service(
    name="gnocchi",
    mount="/metric",
    records=TimeSeriesDatabase,
    endpoints={"metric": "/metric"},
    prefixes=("/v1",),
    routes=json_only(ROUTES),
    root=ROOT,
    public=frozenset({"GET /"}),
    error_body=error_bodies.gnocchi,
    sends_request_id=False,
)
