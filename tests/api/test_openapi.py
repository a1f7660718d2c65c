"""The OpenAPI description of the API: it has every route, and each of their arguments."""

from __future__ import annotations

import re

import pytest
import requests
from falcon import testing

from stoker.api.v1 import openapi
from stoker.api.v1.routes import ROUTES
from tests.api.api_support import PROJECT

DOCUMENT = openapi.document("http://stoker.test")


def test_document_is_served_without_a_token(client: testing.TestClient) -> None:
    answer = client.simulate_get("/openapi.json")
    assert answer.status_code == 200
    assert answer.json == openapi.document("http://falconframework.org")


def test_document_describes_every_route() -> None:
    described = {
        (path.removeprefix("/v1/{project_id}"), method.upper())
        for path, methods in DOCUMENT["paths"].items()
        for method in methods
        if method != "parameters"
    }
    assert described == {(path, method) for path, methods in ROUTES.items() for method in methods}


def test_operations_have_unique_names_and_all_path_variables() -> None:
    names: list[str] = []
    for path, methods in DOCUMENT["paths"].items():
        assert [item["name"] for item in methods["parameters"]] == re.findall(r"\{(\w+)\}", path)
        names += [operation["operationId"] for method, operation in methods.items() if method != "parameters"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_every_field_has_a_schema(path: str) -> None:
    for method, operation in DOCUMENT["paths"][path].items():
        if method == "parameters":
            continue
        assert operation["summary"].endswith(".")
        for parameter in operation.get("parameters", []):
            assert parameter["schema"], f"{method} {path}: {parameter['name']}"
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, schema in content.get("schema", {}).get("properties", {}).items():
            assert schema and {} not in schema.get("anyOf", []), f"{method} {path}: {name}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "\x7f"},
        {"Content-Type": "multipart/form-data"},
        {"Accept": "\xff"},
        {"Accept": "application/vnd.openstack.orchestration-v99999999999.0"},
        {"Content-Encoding": "gzip"},
        {"X-Forwarded-Host": "a b\tc"},
        {"Origin": "null"},
        {"X-Openstack-Request-Id": "x" * 5000},
    ],
)
def test_unusual_headers_cause_no_internal_error(url: str, headers: dict[str, str]) -> None:
    target = f"{url}/v1/{PROJECT}/stacks"
    given = {name: value.encode("latin-1") for name, value in headers.items()}
    answer = requests.post(target, data=b"{}", headers={"X-Auth-Token": "admin-token", **given}, timeout=10)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text
