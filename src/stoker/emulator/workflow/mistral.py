"""The workflow service: its table of routes."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.cloud import Records, Service
from stoker.emulator.core.errors import ApiError
from stoker.emulator.core.http import Request, Response
from stoker.emulator.workflow import definition_routes, event_trigger_routes, execution_routes
from stoker.emulator.workflow.records import WorkflowRecords


def versions(mistral: Records, request: Request) -> Response:
    """Return the versions of the API."""
    links = [{"href": f"{request.base}/v2", "target": "v2", "rel": "self"}]
    return Response({"versions": [{"id": "v2.0", "status": "CURRENT", "links": links}]})


def version(mistral: Records, request: Request) -> Response:
    """Return the address of the API's version 2."""
    return Response({"uri": f"{request.base}/v2"})


def error_body(error: ApiError) -> dict[str, Any]:
    """Return Mistral's form of an error; that of its framework where no content type fits."""
    if error.status == 406:
        return {"code": 406, "title": error.title, "description": None}
    code = "Client" if error.status < 500 else "Server"
    return {"faultcode": code, "faultstring": error.message, "debuginfo": None}


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
)
