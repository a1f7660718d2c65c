"""The object store."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.objectstore.routes import info
from openstack_emulator.objectstore.routes.table import ROOT, ROUTES, traced
from openstack_emulator.objectstore.rules.composition import ObjectStore

OBJECT_STORE = Service(
    name="swift",
    mount="/object-store",
    records=ObjectStore,
    endpoints={"object-store": "/object-store/v1/AUTH_%(project_id)s"},
    prefixes=("/v1",),
    routes={
        pattern: {method: traced(handler) for method, handler in methods.items()} for pattern, methods in ROUTES.items()
    },
    root=ROOT,
    optional_token=True,
    error_body=error_bodies.swift,
)
"""Accounts, containers and objects."""

OBJECT_STORE_INFO = Service(
    name="swift-info",
    mount="/info",
    records=info.NoRecords,
    endpoints={},
    routes={"/": {"GET": info.info}},
    optional_token=True,
    error_body=error_bodies.swift,
)
"""`/info` at the root of the cloud: clients make its address from the host alone."""
