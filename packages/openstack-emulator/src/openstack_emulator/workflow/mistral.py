"""The workflow service: its table of routes."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Records, Service
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Phrases, Request, Response
from openstack_emulator.core.routing import NO_ROUTE
from openstack_emulator.workflow import definition_routes, event_trigger_routes, execution_routes
from openstack_emulator.workflow.definition_routes import OF_TEXT
from openstack_emulator.workflow.records import WorkflowRecords

UNAUTHENTICATED = "Failed to validate access token: Authentication required"


def versions(mistral: Records, request: Request) -> Response:
    """Return the versions of the API."""
    links = [{"href": f"{request.base}/v2", "target": "v2", "rel": "self"}]
    return Response({"versions": [{"id": "v2.0", "status": "CURRENT", "links": links}]})


def version(mistral: Records, request: Request) -> Response:
    """Return the address of the API's version 2."""
    return Response({"uri": f"{request.base}/v2"})


def error_body(error: ApiError) -> dict[str, Any]:
    """Return Mistral's form of an error; that of its framework where no content type fits."""
    if error.status == 406 or error.message == NO_ROUTE:
        return {"code": error.status, "title": error.title, "description": None}
    if error.kind == OF_TEXT:
        return {"faultstring": error.message}
    code = "Client" if error.status < 500 else "Server"
    return {"faultcode": code, "faultstring": error.message, "debuginfo": None}


def token_error_body(error: ApiError) -> dict[str, Any]:
    """Return the body of the answer to a request without a valid token."""
    return {"code": error.status, "title": error.title, "description": UNAUTHENTICATED}


WORKFLOW = Service(
    name="mistral",
    mount="/workflow",
    records=WorkflowRecords,
    endpoints={"workflowv2": "/workflow/v2"},
    prefixes=("/v2",),
    routes={**definition_routes.ROUTES, **execution_routes.ROUTES, **event_trigger_routes.ROUTES},
    root={"/": {"GET": versions}, "/v2": {"GET": version}},
    public=frozenset({"GET /", "GET /v2"}),
    error_body=error_body,
    token_error_body=token_error_body,
    token_error_headers={"Server-Error-Message": UNAUTHENTICATED, "WWW-Authenticate": UNAUTHENTICATED},
    sends_request_id=False,
    phrases=Phrases(not_json="Request is not in valid JSON format"),
)
