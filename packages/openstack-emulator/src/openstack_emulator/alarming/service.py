"""The alarming service."""

from __future__ import annotations

from openstack_emulator.alarming.routes.table import ROOT, ROUTES
from openstack_emulator.alarming.rules.composition import Alarming
from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import READERS, Service
from openstack_emulator.core.guards import restricted
from openstack_emulator.core.http import BodyMessages

_SEARCHES = ("/query/alarms", "/query/alarms/history")
"""What only reads, with `POST`."""
_FOR_ALL = ("/capabilities",)

ALARMING = Service(
    name="aodh",
    mount="/alarming",
    records=Alarming,
    endpoints={"alarming": "/alarming"},
    prefixes=("/v2",),
    routes={
        **restricted(ROUTES, READERS, {"member"}),
        **restricted({path: ROUTES[path] for path in _SEARCHES}, READERS, READERS),
        **{path: ROUTES[path] for path in _FOR_ALL},
    },
    root=ROOT,
    public=frozenset({"GET /"}),
    error_body=error_bodies.aodh,
    body_messages=BodyMessages(not_json="Request is not in valid JSON format"),
)
