"""The messaging service.

Messages reach subscribers that are web hooks (http, https, and these with a token of a trust); subscriptions of other
kinds are kept, and get nothing.
Version 1.1, which agents in older images speak, is answered as version 2 is.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.messaging.routes.table import ROOT, ROUTES
from openstack_emulator.messaging.rules.composition import Messaging

MESSAGING = Service(
    name="zaqar",
    mount="/messaging",
    records=Messaging,
    endpoints={"messaging": "/messaging"},
    prefixes=("/v2", "/v1.1"),
    routes=ROUTES,
    root=ROOT,
    error_body=error_bodies.zaqar,
    error_headers={"Vary": "Accept"},
    optional_token=True,
)
