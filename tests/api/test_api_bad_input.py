"""Whatever a client may send wrongly gets a 4xx that names the thing, never a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest
from falcon import testing
from hypothesis import given
from hypothesis import strategies as st
from oslo_config import cfg

from stoker.api.faults import BadRequest
from stoker.api.requests import parse_json
from stoker.base.json_text import MAX_DEPTH
from tests.api.api_support import PROJECT, STACK_ID, FakeEngine
from tests.api.conftest import Request

STACK = f"/stacks/web/{STACK_ID}"
JSON = {"Content-Type": "application/json"}


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


BODIES = [
    (b'{"stack_name": "we\\u0000b", "template": {}}', "stack_name in the request body contains a NUL"),
    (b'{"a\\u0000": 1}', "The request body contains a NUL"),
    (b'{"template": {"x": ["\\ud800"]}}', "template.x[0] in the request body contains a lone surrogate"),
    (nested(300), "more than 100 levels"),
    (nested(100_000), "more than 100 levels"),
    (b'{"a": "\xff"}', "not UTF-8: byte 7"),
    ('{"stack_name": "ä"}'.encode("utf-16-le"), "not UTF-8: byte 32"),
    (b'{"stack_name": }', "not valid JSON: line 1, column 16"),
    (b'{"stack_name": "a"} {}', "not valid JSON: line 1, column 21"),
    (b'{"parameters": {"a": 1, "a": 2}}', "parameters.a in the request body is a repeated key"),
    (b'{"parameters": {"a": NaN}}', "NaN is not a JSON number"),
    (b'{"parameters": {"a": 1e999}}', "parameters.a in the request body is a number out of range"),
    (b'{"parameters": {"a": 18446744073709551616}}', "parameters.a in the request body is a number out of range"),
    (b'{"parameters": {"a": ' + b"9" * 5000 + b"}}", "not acceptable JSON"),
    (b"", "needs a body"),
    (b"null", "needs a body"),
    (b'["a"]', "needs a body"),
    (b'{"template": {}}', "must have the key stack_name"),
    (b'{"stack_name": null, "template": {}}', "must have the key stack_name"),
    (b'{"stack_name": "web"}', "must have the key template, or template_url"),
    (b'{"stack_name": ["web"], "template": {}}', "stack_name must be a string; it is a list"),
    (b'{"stack_name": "web", "template": 7}', "template must be a map or a string; it is 7"),
    (b'{"stack_name": "web", "template": {}, "timeout_mins": -1}', "timeout_mins must be an integer"),
    (b'{"stack_name": "web", "template": {}, "timeout_mins": true}', "timeout_mins must be an integer"),
    (b'{"stack_name": "web", "template": {}, "timeout_mins": "1h"}', "timeout_mins must be an integer"),
    (b'{"stack_name": "web", "template": {}, "disable_rollback": "maybe"}', "disable_rollback must be true or false"),
    (b'{"stack_name": "web", "template": {}, "tags": ["a"]}', "tags must be a string"),
    (
        json.dumps({"stack_name": "web", "template": {}, "tags": "ok," + "x" * 81}).encode(),
        "tags must be comma-separated strings of at most 80 characters",
    ),
    (b'{"stack_name": "web", "template": {}, "files": {"a": 1}}', "files.a must be a string; it is 1"),
    (b'{"stack_name": "web", "template": {}, "parameters": "a=b"}', "parameters must be a map"),
    (b'{"stack_name": "web", "template": {}, "environment": []}', "environment must be a map or a string"),
    (b'{"stack_name": "web", "template": {}, "environment_files": ["a", 1]}', "environment_files[1] must be a string"),
    (b'{"stack_name": "web", "template": {}, "converge": true}', "converge belongs to updates"),
    (b'{"stack_name": "web", "adopt_stack_data": "{"}', "adopt_stack_data is not valid JSON"),
    (b'{"stack_name": "web", "adopt_stack_data": "[]"}', "adopt_stack_data must be a map"),
    (b'{"stack_name": "web", "template_url": "file:///etc/passwd"}', "must be a valid http or https URL"),
    (b'{"stack_name": "web", "template_url": "http://127.0.0.1:1/x"}', "cannot be fetched"),
]


@pytest.mark.parametrize(("body", "problem"), BODIES, ids=[problem for _, problem in BODIES])
def test_body(request_as: Request, engine: FakeEngine, body: Any, problem: str) -> None:
    answer = request_as("POST", "/stacks", body=body, headers=JSON)
    assert answer.status_code == 400
    assert problem in answer.json["error"]["message"]
    assert answer.json["error"]["traceback"] is None
    assert engine.calls == []


@pytest.mark.parametrize("content_type", ["application/xml", "application/x-www-form-urlencoded", "text/html"])
def test_body_with_other_content_type_is_ignored(request_as: Request, content_type: str | None) -> None:
    body = b'{"stack_name": "web", "template": {}}'
    answer = request_as("POST", "/stacks", body=body, headers={"Content-Type": content_type})
    assert answer.status_code == 400
    assert "needs a body" in answer.json["error"]["message"]


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/json; charset=utf-8", "JSON"])
def test_body_that_is_read_as_json(request_as: Request, content_type: str | None) -> None:
    body = b' \n{"stack_name": "web", "template": "heat_template_version: 2021-04-16"}'
    headers = {"Content-Type": content_type} if content_type else {}
    assert request_as("POST", "/stacks", body=body, headers=headers).status_code == 201


@pytest.mark.parametrize("limit", [0, 1000, 1048576])
def test_body_larger_than_the_limit(request_as: Request, config: cfg.ConfigOpts, limit: int) -> None:
    config.set_override("max_json_body_size", limit)
    answer = request_as("POST", "/stacks", body=b'{"a": "' + b"x" * 10_000_000 + b'"}', headers=JSON)
    assert answer.status_code == 400
    assert answer.json["error"]["type"] == "RequestLimitExceeded"
    assert str(limit) in answer.json["error"]["message"]


QUERIES = [
    ("/stacks", "limit=-1", "limit must be an integer of at least 0; it is '-1'"),
    ("/stacks", "limit=ten", "limit must be an integer of at least 0; it is 'ten'"),
    ("/stacks", "limit=1&limit=2", "limit is given 2 times"),
    ("/stacks", "show_deleted=yes", "show_deleted must be true or false; it is 'yes'"),
    ("/stacks", "sort_dir=up", "sort_dir must be one of asc, desc; it is 'up'"),
    ("/stacks", "name=%ff", "not UTF-8"),
    ("/stacks", "name=a%00b", "contains a NUL"),
    ("/stacks", "&".join(["name=a"] * 2000), "more than 1000 parameters"),
    ("/software_configs", "limit=-1", "limit must be an integer"),
    ("/resource_types/OS::Heat::None/template", "template_type=yaml", "template_type must be one of cfn, hot"),
    (STACK, "resolve_outputs=2", "resolve_outputs must be true or false"),
    (f"{STACK}/resources", "colour=red", "Unknown query parameter: colour; it must be one of action, id, name"),
    (f"{STACK}/resources", "nested_depth=deep", "nested_depth must be an integer"),
    (f"{STACK}/events", "sort_keys=colour", "sort_keys must be one of event_time, resource_type; it is 'colour'"),
    (f"{STACK}/events", "nested_depth=-2", "nested_depth must be an integer"),
]


@pytest.mark.parametrize(("path", "query", "problem"), QUERIES, ids=[f"{p}?{q[:30]}" for p, q, _ in QUERIES])
def test_query(request_as: Request, engine: FakeEngine, path: str, query: str, problem: str) -> None:
    answer = request_as("GET", path, query_string=query)
    assert answer.status_code == 400
    assert problem in answer.json["error"]["message"]
    assert engine.calls == []


@pytest.mark.parametrize(
    "body",
    [{}, {"suspend": None, "resume": None}, {"explode": None}, {"snapshot": None}],
    ids=["none", "two", "unknown", "registered but no action"],
)
def test_action_bodies(request_as: Request, engine: FakeEngine, body: Any) -> None:
    answer = request_as("POST", f"{STACK}/actions", json=body)
    assert answer.status_code == 400
    assert "suspend, resume, check" in answer.json["error"]["message"]
    assert engine.calls == []


def test_mark_unhealthy_takes_no_unknown_key(request_as: Request) -> None:
    answer = request_as("PATCH", f"{STACK}/resources/server", json={"mark_unhealthy": True, "why": "x"})
    assert answer.status_code == 400
    assert "Unknown key of the body: why" in answer.json["error"]["message"]


def test_signal_with_unreadable_body_has_no_details(request_as: Request, engine: FakeEngine) -> None:
    for body in (b"", b"hello", b"[1]"):
        assert request_as("POST", f"{STACK}/resources/server/signal", body=body).status_code == 200
        assert engine.last["details"] is None


@pytest.mark.parametrize("path", ["/stacks/a%00b", "/stacks/%ff"])
def test_undecodable_paths_are_refused(request_as: Request, path: str) -> None:
    assert request_as("GET", path).status_code == 400


@pytest.mark.parametrize("path", ["/orphans", "/refactors"])
def test_lists_without_parameters_refuse_parameters(request_as: Request, path: str) -> None:
    answer = request_as("GET", f"{path}?limit=1")
    assert answer.status_code == 400
    assert answer.json["error"]["message"] == "Unknown query parameter: limit; there is none here."


def test_deletion_preview_refuses_unknown_parameters(request_as: Request) -> None:
    answer = request_as("DELETE", f"{STACK}/preview?retian=data")
    assert answer.status_code == 400 and "Unknown query parameter: retian" in answer.json["error"]["message"]


def test_unknown_paths_and_methods(client: testing.TestClient) -> None:
    headers = {"X-Auth-Token": "member-token"}
    unknown = client.simulate_get(f"/v1/{PROJECT}/nothing", headers=headers)
    assert (unknown.status_code, unknown.json["error"]["type"]) == (404, "HTTPNotFound")
    wrong = client.simulate_delete(f"/v1/{PROJECT}/stacks", headers=headers)
    assert (wrong.status_code, wrong.json["error"]["type"]) == (405, "HTTPMethodNotAllowed")
    assert {method.strip() for method in wrong.headers["Allow"].split(",")} >= {"GET", "POST"}
    options = client.simulate_options(f"/v1/{PROJECT}/stacks", headers=headers)
    assert (options.status_code, options.headers["Allow"]) == (204, "GET, POST")


INTEGERS = st.integers(-(2**63), 2**64 - 1)

json_values = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_parsed_body_equals_sent_body(value: Any) -> None:
    try:
        text = json.dumps(value, ensure_ascii=False)
        assert parse_json(text.encode("utf-8"), "the body") == value
    except BadRequest as refusal:
        assert "NUL" in refusal.message and "\\u0000" in json.dumps(value)


@given(st.binary(max_size=200))
def test_random_bytes_raise_only_bad_request(content: bytes) -> None:
    try:
        parse_json(content, "the body")
    except BadRequest as refusal:
        assert refusal.message.startswith("The body")


def test_the_deepest_body_that_is_accepted() -> None:
    assert parse_json(nested(MAX_DEPTH), "the body")
    with pytest.raises(BadRequest):
        parse_json(nested(MAX_DEPTH + 1), "the body")
