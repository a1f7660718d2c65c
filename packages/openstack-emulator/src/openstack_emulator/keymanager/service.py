"""The key manager.

Secret stores, transport keys and consumers of secrets are not there. Orders of certificates, which Barbican no longer
has, are signed by a certificate authority of the emulator.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.http import BodyMessages
from openstack_emulator.keymanager.routes.table import ROOT, ROUTES
from openstack_emulator.keymanager.rules.composition import KeyManager

KEY_MANAGER = Service(
    name="barbican",
    mount="/key-manager",
    records=KeyManager,
    endpoints={"key-manager": "/key-manager"},
    prefixes=("/v1",),
    routes=ROUTES,
    root=ROOT,
    public=frozenset({"GET /", "GET /v1"}),
    error_body=error_bodies.barbican,
    headers={"OpenStack-API-Version": "key-manager 1.0", "Vary": "openstack-api-version"},
    body_messages=BodyMessages(not_json="Malformed JSON"),
)
