"""The identity service."""

from __future__ import annotations

from openstack_emulator.core.cloud import Service
from openstack_emulator.core.http import BodyMessages
from openstack_emulator.identity.routes.table import ROOT, ROUTES
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.errors import MALFORMED

IDENTITY = Service(
    name="keystone",
    mount="/identity",
    records=Identity,
    endpoints={"identity": "/identity"},
    routes=ROUTES,
    prefixes=("/v3",),
    root=ROOT,
    public=frozenset({"GET /", "GET /v3", "POST /auth/tokens", "POST /users/{id}/password"}),
    headers={"Vary": "X-Auth-Token"},
    body_messages=BodyMessages(
        not_json=f"Expecting to find valid JSON in request body. {MALFORMED}",
        no_object=f"Expecting to find {{key}} in request body. {MALFORMED}",
    ),
)
