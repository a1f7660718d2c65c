"""Requests of the workflow service that several types make."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from stoker.base.json_text import dumps
from stoker.cloud.finders import is_uuid
from stoker.plugins.resource import Call
from stoker.resources.wire import without_nulls

SERVICE = "mistral"


def workflow_key(value: object) -> dict[str, str]:
    """Return the field of a body that names a workflow: by its ID, or by its name."""
    return {"workflow_id" if is_uuid(str(value)) else "workflow_name": str(value)}


def json_string(value: Mapping[str, object]) -> str:
    """Return a map as a string of JSON, as bodies contain it."""
    return dumps(value).decode()


async def start_execution(
    call: Call,
    workflow: object,
    given: Mapping[str, object],
    params: Mapping[str, object],
    description: str | None = None,
    identifier: str | None = None,
) -> dict[str, object]:
    """Start a workflow and return the execution. With an identifier, a repeated request starts no second one."""
    body = {
        **workflow_key(workflow),
        "input": json_string(given),
        "params": json_string(params),
        "description": description,
        "id": identifier,
    }
    shown: dict[str, object] = await call.cloud.post(SERVICE, "/executions", without_nulls(body))
    return shown


def execution_path(identifier: str) -> str:
    """Return the path of an execution."""
    return f"/executions/{quote(identifier, safe='')}"
