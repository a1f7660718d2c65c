"""The workflow service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.http import BodyMessages, Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.workflow.routes.table import ROUTES
from openstack_emulator.workflow.rules.composition import Workflows

_VERSION = ApiVersion("v2.0", ({**own("/v2"), "target": "v2"},))


def version(service: Workflows, request: Request) -> Response:
    """Return the address of the API's version 2."""
    return Response({"uri": f"{request.base}/v2"})


WORKFLOW = Service(
    name="mistral",
    mount="/workflow",
    records=Workflows,
    endpoints={"workflowv2": "/workflow/v2"},
    prefixes=("/v2",),
    routes=ROUTES,
    root={"/": {"GET": all_versions(_VERSION)}, "/v2": {"GET": version}},
    public=frozenset({"GET /", "GET /v2"}),
    error_body=error_bodies.mistral,
    token_error_body=error_bodies.mistral_token,
    token_error_headers=dict.fromkeys(("Server-Error-Message", "WWW-Authenticate"), error_bodies.UNAUTHENTICATED),
    sends_request_id=False,
    body_messages=BodyMessages(not_json="Request is not in valid JSON format"),
)
