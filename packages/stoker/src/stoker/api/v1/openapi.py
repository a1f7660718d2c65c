"""The OpenAPI 3.1 description of the API, generated from the route table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from stoker import __version__
from stoker.api.faults import EXPLANATIONS
from stoker.api.requests import PREFIX, Body, Query
from stoker.api.v1.call import Action
from stoker.api.v1.event_stream import CONTENT_TYPE
from stoker.api.v1.routes import ROUTES
from stoker.api.values import STRING, Field

PATH = "/openapi.json"

_VARIABLE = re.compile(r"\{(\w+)\}")
_TEXT: Mapping[str, object] = {"type": "string"}
_REDIRECTION = 302

_FAULT: Mapping[str, object] = {
    "type": "object",
    "required": ["code", "title", "explanation", "error"],
    "properties": {
        "code": {"type": "integer"},
        "title": _TEXT,
        "explanation": _TEXT,
        "error": {
            "type": "object",
            "required": ["type", "message", "traceback"],
            "properties": {
                "type": _TEXT,
                "message": _TEXT,
                "traceback": {"type": "null"},
                "diagnostics": {"type": "array", "items": {"type": "object"}},
            },
        },
    },
}


def document(base: str) -> dict[str, Any]:
    """Return the description; `base` is the URL with which the client reached the service."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Orchestration",
            "version": __version__,
            "description": "Stacks of cloud resources from templates: Heat's API, version 1.",
        },
        "servers": [{"url": base}],
        "security": [{"token": []}],
        "paths": {f"{PREFIX}/{{project_id}}{path}": _path(path, methods) for path, methods in ROUTES.items()},
        "components": {
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}},
            "schemas": {"Fault": _FAULT},
            "responses": {f"Fault{status}": _fault(text) for status, text in EXPLANATIONS.items()},
        },
    }


def _path(path: str, methods: Mapping[str, Action]) -> dict[str, object]:
    variables = ["project_id", *_VARIABLE.findall(path)]
    parameters = [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in variables]
    operations = {method.lower(): _operation(path, method, action) for method, action in methods.items()}
    return {"parameters": parameters, **operations}


def _operation(path: str, method: str, action: Action) -> dict[str, object]:
    found: dict[str, object] = {
        "operationId": _identifier(path, method),
        "summary": _summary(path, action),
        "responses": {
            str(action.success): _success(action),
            **{str(status): {"$ref": f"#/components/responses/Fault{status}"} for status in EXPLANATIONS},
        },
    }
    if isinstance(action.policy, str):
        found["x-policy"] = action.policy
    if parameters := _query(action.query):
        found["parameters"] = parameters
    if action.body is not None:
        found["requestBody"] = _body(action.body)
    return found


def _summary(path: str, action: Action) -> str:
    if action.success == _REDIRECTION:
        return "Redirects to the stack's canonical URL."
    described = inspect.getdoc(action.handler) or f"The stack's {path.rpartition('/')[2]}."
    return described.partition("\n")[0]


def _identifier(path: str, method: str) -> str:
    words = [word for word in re.split(r"\W+", path) if word]
    return "_".join([method.lower(), *words])


def _query(query: Query) -> list[dict[str, object]]:
    fields = [_parameter(name, spec) for name, spec in query.fields.items()]
    filters = [_parameter(name, Field(STRING, repeatable=True)) for name in query.filters]
    return [*fields, *filters]


def _parameter(name: str, spec: Field) -> dict[str, object]:
    schema = spec.kind.schema
    if spec.repeatable:
        schema = {"type": "array", "items": schema}
    return {"name": name, "in": "query", "required": spec.required, "schema": schema}


def _body(body: Body) -> dict[str, Any]:
    return {"required": body.required, "content": {"application/json": {"schema": body.schema}}}


def _success(action: Action) -> dict[str, object]:
    headers = {"X-Openstack-Request-Id": {"schema": _TEXT, "description": "Identifies the request in the log."}}
    if action.success == _REDIRECTION:
        headers["Location"] = {"schema": _TEXT, "description": "The stack's canonical URL."}
    found: dict[str, Any] = {"description": "Done.", "headers": headers}
    if action.success != 204:
        found["content"] = {"application/json": {"schema": {}}}
    if action.as_stream is not None:
        found["content"][CONTENT_TYPE] = {"schema": _TEXT}
    return found


def _fault(text: str) -> dict[str, object]:
    schema = {"$ref": "#/components/schemas/Fault"}
    return {"description": text, "content": {"application/json": {"schema": schema}}}
