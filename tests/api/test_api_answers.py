"""What answers look like: names, times, links, redirects, versions, faults."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from falcon import testing
from oslo_config import cfg

from stoker.api.app import make_app
from stoker.base import errors
from stoker.base.config import load_config
from stoker.base.diagnostics import Diagnostic, Position
from stoker.base.errors import Bug, CloudError, Conflict, StackExists, TemplateInvalid
from stoker.rpc.contract import EngineUnavailable
from tests.api.api_support import (
    ANSWERS,
    CREATED_TEXT,
    EVENT_ID,
    FOUND,
    NESTED_ID,
    PROJECT,
    STACK_ID,
    UPDATED,
    UPDATED_TEXT,
    FakeEngine,
    check_tokens,
    event_view,
    listed_stack_view,
    resource_list,
    resource_view,
    stack_view,
)
from tests.api.conftest import Request

BASE = f"http://falconframework.org/v1/{PROJECT}/stacks"
STACK = f"/stacks/web/{STACK_ID}"
STACK_URL = f"{BASE}/web/{STACK_ID}"

LIFETIME = {
    "creation_time": CREATED_TEXT,
    "updated_time": None,
    "deletion_time": None,
    "stack_owner": "alice",
    "parent": None,
    "stack_user_project_id": None,
    "tags": ["blue", "green"],
}
SUMMARY = {
    "id": STACK_ID,
    "stack_name": "web",
    "description": "",
    "stack_status": "CREATE_COMPLETE",
    "stack_status_reason": "Stack CREATE completed successfully",
    **LIFETIME,
    "links": [{"href": STACK_URL, "rel": "self"}],
}
RESOURCE = {
    "resource_name": "server",
    "logical_resource_id": "server",
    "resource_type": "OS::Nova::Server",
    "resource_status": "CREATE_COMPLETE",
    "resource_status_reason": "state changed",
    "physical_resource_id": "srv-1",
    "creation_time": CREATED_TEXT,
    "updated_time": CREATED_TEXT,
    "required_by": ["ip"],
    "links": [{"href": f"{STACK_URL}/resources/server", "rel": "self"}, {"href": STACK_URL, "rel": "stack"}],
}
EVENT = {
    "id": EVENT_ID,
    "event_time": CREATED_TEXT,
    "timestamp": "2023-11-14T22:13:20.250Z",
    "resource_name": "server",
    "logical_resource_id": "server",
    "physical_resource_id": None,
    "resource_status": "CREATE_IN_PROGRESS",
    "resource_status_reason": "state changed",
    "links": [
        {"href": f"{STACK_URL}/resources/server/events/{EVENT_ID}", "rel": "self"},
        {"href": f"{STACK_URL}/resources/server", "rel": "resource"},
        {"href": STACK_URL, "rel": "stack"},
    ],
}


def test_stack(request_as: Request, engine: FakeEngine) -> None:
    shown = {
        **SUMMARY,
        "description": "A web server",
        "template_description": "A web server",
        "disable_rollback": True,
        "timeout_mins": None,
        "parameters": {"OS::stack_name": "web", "flavor": "m1.small"},
        "outputs": [{"output_key": "address", "description": "Where", "output_value": "10.0.0.3"}],
        "capabilities": [],
        "notification_topics": [],
    }
    assert request_as("GET", STACK).json == {"stack": shown}
    engine.answers["stack_show"] = stack_view(outputs=None, updated_at=UPDATED, deleted_at=UPDATED)
    without = {key: value for key, value in shown.items() if key != "outputs"}
    assert request_as("GET", STACK, query_string="resolve_outputs=False").json == {
        "stack": {**without, "updated_time": UPDATED_TEXT, "deletion_time": UPDATED_TEXT}
    }


def test_failures_are_shown_as_data(request_as: Request, engine: FakeEngine) -> None:
    failure = {"kind": "NotFound", "path": ["group", "0", "server"], "message": "No such flavor"}
    engine.answers["stack_show"] = stack_view(status="FAILED", failure=failure)
    assert request_as("GET", STACK).json["stack"]["failure"] == failure
    engine.answers["resource_list"] = resource_list(status="FAILED", failure=failure)
    assert request_as("GET", f"{STACK}/resources").json["resources"] == [
        {**RESOURCE, "resource_status": "CREATE_FAILED", "failure": failure}
    ]


@pytest.mark.parametrize("failure", [None, {"kind": "ResourceFailure", "path": [], "message": "Timed out"}])
def test_stack_without_failed_resources_has_no_failure(
    request_as: Request, engine: FakeEngine, failure: dict[str, Any] | None
) -> None:
    engine.answers["stack_show"] = stack_view(status="FAILED", failure=failure)
    assert "failure" not in request_as("GET", STACK).json["stack"]


def test_missing_descriptions_are_reported(request_as: Request, engine: FakeEngine) -> None:
    bare = {"output_key": "absent", "description": "", "enabled": False, "output_value": None}
    named = {"output_key": "absent", "description": "No description given"}
    engine.answers["stack_show"] = stack_view(description="", template_description="", outputs=[bare])
    shown = request_as("GET", STACK).json["stack"]
    assert shown["description"] == shown["template_description"] == "No description"
    assert shown["outputs"] == [{**named, "output_value": None}]
    engine.answers["output_list"] = [{"output_key": "absent", "description": ""}]
    assert request_as("GET", f"{STACK}/outputs").json == {"outputs": [named]}
    engine.answers["output_show"] = bare
    assert request_as("GET", f"{STACK}/outputs/absent").json == {"output": {**named, "output_value": None}}
    below = {"Description": "", "Parameters": {}, "Type": "below.yaml"}
    engine.answers["validate_template"] = {"Description": "", "Parameters": {}, "NestedParameters": {"one": below}}
    found = request_as("POST", "/validate", json={"template": {}}).json
    assert (found["Description"], found["NestedParameters"]["one"]["Description"]) == ("No description",) * 2


def test_stack_list(request_as: Request, engine: FakeEngine) -> None:
    assert request_as("GET", "/stacks").json == {"stacks": [SUMMARY]}
    assert request_as("GET", "/stacks", query_string="with_count=true").json["count"] == 1
    assert request_as("GET", "/stacks/detail", token="admin-token").json == {"stacks": [SUMMARY]}
    as_admin = request_as("GET", "/stacks", token="admin-token").json
    assert as_admin == {"stacks": [{**SUMMARY, "project": PROJECT}]}


def test_full_stack_list_page_links_to_next_page(request_as: Request, engine: FakeEngine) -> None:
    query = "limit=1&tags=a%2Cb&status=COMPLETE&status=FAILED&marker=old"
    answer = request_as("GET", "/stacks", query_string=query).json
    (link,) = answer["links"]
    assert link == {
        "href": f"{BASE}?limit=1&tags=a%2Cb&status=COMPLETE&status=FAILED&marker={STACK_ID}",
        "rel": "next",
    }
    assert engine.last["filters"] == {"status": ["COMPLETE", "FAILED"]}
    assert "links" not in request_as("GET", "/stacks", query_string="limit=2").json


def test_found_resources_have_their_path_and_a_link_to_the_next_page(request_as: Request, engine: FakeEngine) -> None:
    engine.answers["resource_find"] = {**ANSWERS["resource_find"], "next": FOUND["id"]}
    answer = request_as("GET", "/resources", query_string="text=10.0.0.4&limit=1&marker=old").json
    place = BASE.removesuffix("/stacks")
    nested = f"{BASE}/web-group-0/{NESTED_ID}"
    [found] = answer["resources"]
    assert (found["path"], found["stack_name"], found["resource_status"]) == (
        "group.0.server",
        "web",
        "CREATE_COMPLETE",
    )
    assert found["links"] == [
        {"href": f"{nested}/resources/server", "rel": "self"},
        {"href": f"{BASE}/web/{STACK_ID}", "rel": "stack"},
    ]
    following = f"{place}/resources?text=10.0.0.4&limit=1&marker={FOUND['id']}"
    assert answer["links"] == [{"href": following, "rel": "next"}]
    assert (answer["unsearchable"], answer["most_counted"]) == (0, 1000)
    assert (engine.last["text"], engine.last["limit"], engine.last["marker"]) == ("10.0.0.4", 1, "old")
    assert request_as("GET", "/resources", query_string="txt=a").status_code == 400
    allowed = request_as("GET", "/resources", query_string="text=a&global_tenant=true", token="admin-token")
    assert allowed.status_code == 403, (
        "the policy lets nobody search all projects by default, as it lets nobody list them"
    )


def test_stack_list_ignores_unknown_sort_keys_and_parameters(request_as: Request, engine: FakeEngine) -> None:
    assert request_as("GET", "/stacks", query_string="sort_keys=colour&sort_keys=stack_name&x=1").status_code == 200
    assert engine.last["sort_keys"] == ["stack_name"]


def client_with_policy(engine: FakeEngine, directory: Path, rules: str) -> testing.TestClient:
    """A client of an API whose operator has written these rules."""
    policy = directory / "policy.yaml"
    policy.write_text(rules)
    settings = directory / "heat.conf"
    settings.write_text(f"[oslo_policy]\npolicy_file = {policy}\n")
    return testing.TestClient(make_app(load_config([], [str(settings)]), engine, check_tokens))


def test_global_lists_need_their_own_policy(request_as: Request, engine: FakeEngine, tmp_path: Path) -> None:
    for path in ("/stacks", "/software_configs"):
        assert request_as("GET", path, token="admin-token", query_string="global_tenant=true").status_code == 403
    assert engine.calls == []
    other = "22222222222222222222222222222222"
    engine.answers["stack_list"] = {"stacks": [listed_stack_view(project_id=other)], "count": None}
    client = client_with_policy(engine, tmp_path, '"stacks:global_index": "role:admin"')
    headers = {"X-Auth-Token": "admin-token"}
    answer = client.simulate_get(f"/v1/{PROJECT}/stacks", query_string="global_tenant=True", headers=headers)
    (stack,) = answer.json["stacks"]
    assert stack["project"] == other
    assert stack["links"][0]["href"].startswith(f"http://falconframework.org/v1/{other}/")


def test_created_stack(request_as: Request) -> None:
    answer = request_as("POST", "/stacks", json={"stack_name": "web", "template": {}})
    assert answer.json == {"stack": {"id": STACK_ID, "links": [{"href": STACK_URL, "rel": "self"}]}}
    assert answer.headers["Location"] == STACK_URL


def test_accepted_update(request_as: Request) -> None:
    answer = request_as("PUT", STACK, json={"template": {}})
    assert answer.json == {"code": "202 Accepted", "title": "Accepted", "message": ""}


def test_preview(request_as: Request, engine: FakeEngine) -> None:
    nested = [resource_view(name="inner", nested_id=NESTED_ID, nested_name="web-g")]
    engine.answers["stack_preview"] = {**ANSWERS["stack_preview"], "resources": [nested, resource_view()]}
    stack = request_as("POST", "/stacks/preview", json={"stack_name": "web", "template": {}}).json["stack"]
    assert "stack_status" not in stack
    assert stack["plan"]["summary"] == {"keep": 1}
    ((inner,), outer) = stack["resources"]
    identity = {"tenant": PROJECT, "stack_name": "web", "stack_id": STACK_ID, "path": ""}
    assert inner["nested_stack_id"] == {**identity, "stack_name": "web-g", "stack_id": NESTED_ID}
    assert outer["resource_identity"] == {**identity, "path": "/resources/server"}
    assert outer["stack_identity"] == identity
    assert (outer["resource_action"], outer["resource_status"]) == ("CREATE", "COMPLETE")


def test_resources(request_as: Request, engine: FakeEngine) -> None:
    assert request_as("GET", f"{STACK}/resources").json == {"resources": [RESOURCE]}
    engine.answers["resource_list"] = resource_list(
        physical_id=None,
        updated_at=UPDATED,
        parent_resource="group",
        nested_id=NESTED_ID,
        nested_name="web-g",
        name="a b/ü",
    )
    (resource,) = request_as("GET", f"{STACK}/resources", query_string="type=a&type=b&name=x").json["resources"]
    assert engine.last["filters"] == {"type": ["a", "b"], "name": ["x"]}
    assert (resource["physical_resource_id"], resource["updated_time"]) == ("", UPDATED_TEXT)
    assert resource["parent_resource"] == "group"
    assert resource["links"][0]["href"] == f"{STACK_URL}/resources/a%20b%2F%C3%BC"
    assert resource["links"][2] == {"href": f"{BASE}/web-g/{NESTED_ID}", "rel": "nested"}
    detail = request_as("GET", f"{STACK}/resources/server").json["resource"]
    assert detail == {**RESOURCE, "attributes": {"name": "n"}, "description": "The server"}


def test_events(request_as: Request, engine: FakeEngine) -> None:
    assert request_as("GET", f"{STACK}/events").json == {"events": [EVENT]}
    engine.answers["event_list"] = [event_view(root_stack_id=NESTED_ID, root_stack_name="root")]
    (nested,) = request_as("GET", f"{STACK}/events", query_string="nested_depth=1").json["events"]
    assert nested["links"][3] == {"href": f"{BASE}/root/{NESTED_ID}", "rel": "root_stack"}
    engine.answers["event_list"] = [
        event_view(within=["group", "0"], cause=["server"], hook="pre-create", hook_held=True)
    ]
    (placed,) = request_as("GET", f"{STACK}/events", query_string="nested_depth=2").json["events"]
    assert placed["path"] == placed["cause"] == ["group", "0", "server"]
    assert placed["hook"] == {"name": "pre-create", "held": True}
    full = {**EVENT, "resource_type": "OS::Nova::Server", "resource_properties": {"flavor": "m1"}}
    assert request_as("GET", f"{STACK}/resources/server/events/{EVENT_ID}").json == {"event": full}


def test_events_of_resource_without_events_are_not_found_and_of_stack_are_empty(
    request_as: Request, engine: FakeEngine
) -> None:
    engine.answers["event_list"] = []
    assert request_as("GET", f"{STACK}/resources/server/events").status_code == 404
    assert request_as("GET", f"{STACK}/events").json == {"events": []}


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/stacks/web", "web"),
        (f"/stacks/{STACK_ID}", STACK_ID),
        (f"/stacks/arn:openstack:heat::{PROJECT}:stacks/web/{STACK_ID}", "the ARN"),
        (f"/stacks/arn%3Aopenstack%3Aheat%3A%3A{PROJECT}%3Astacks%2Fweb%2F{STACK_ID}", "the ARN"),
        ("/stacks/preview", "preview"),
    ],
)
def test_redirect(request_as: Request, engine: FakeEngine, path: str, asked: str) -> None:
    answer = request_as("GET", path, query_string="resolve_outputs=False&a=b%20c")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"{STACK_URL}?resolve_outputs=False&a=b%20c"
    assert answer.json == {"code": "302 Found", "title": "Found", "message": ""}
    arn = f"arn:openstack:heat::{PROJECT}:stacks/web/{STACK_ID}"
    assert engine.last["ref"] == {"name": arn if asked == "the ARN" else asked, "id": None}


def test_redirect_header_is_quoted(request_as: Request) -> None:
    answer = request_as("GET", "/stacks/web", query_string="a=1%0A&b=\r\nX-Other: 1")
    assert answer.headers["Location"] == f"{STACK_URL}?a=1%0A&b=%0D%0AX-Other:%201"


def test_redirect_of_an_arn_keeps_the_rest_of_the_path(request_as: Request) -> None:
    answer = request_as("GET", f"/stacks/arn:openstack:heat::{PROJECT}:stacks/web/{STACK_ID}/events")
    assert answer.headers["Location"] == f"{STACK_URL}/events"


@pytest.mark.parametrize("below", ["/resources/web%20server", "/resources/web/events/5", "/resources"])
def test_redirect_of_the_arn_of_a_resource(request_as: Request, engine: FakeEngine, below: str) -> None:
    arn = f"arn:openstack:heat::{PROJECT}:stacks/web/{STACK_ID}"
    for path in (arn + below, quote(arn, safe="") + below):
        answer = request_as("GET", f"/stacks/{path}")
        assert (answer.status_code, answer.headers["Location"]) == (302, f"{STACK_URL}{below}")
        assert engine.last["ref"] == {"name": arn, "id": None}


@pytest.mark.parametrize(
    ("path", "accept", "status"),
    [
        ("/", "", 300),
        ("/versions", "", 300),
        ("/v1", "", 300),
        ("/v1/", "", 300),
        (f"/v1.0/{PROJECT}/stacks", "", 200),
        (f"/v1.1/{PROJECT}/stacks", "", 300),
        (f"/v2/{PROJECT}/stacks", "", 300),
        (f"/{PROJECT}/stacks", "", 404),
        (f"/{PROJECT}/stacks", "text/html", 404),
        (f"/{PROJECT}/stacks", "application/vnd.openstack.orchestration-v1", 200),
        (f"/{PROJECT}/stacks", "application/vnd.openstack.orchestration-v2", 300),
    ],
)
def test_version_negotiation(client: testing.TestClient, path: str, accept: str | None, status: int) -> None:
    answer = client.simulate_get(path, headers={"Accept": accept, "X-Auth-Token": "member-token"})
    assert answer.status_code == status
    if status == 300:
        link = {"href": "http://falconframework.org/v1/", "rel": "self"}
        assert answer.json == {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [link]}]}


def test_public_routes_need_no_token(client: testing.TestClient) -> None:
    assert client.simulate_get("/").status_code == 300
    assert client.simulate_get("/healthcheck").status_code == 200
    assert client.simulate_get(f"/v1/{PROJECT}/nothing").status_code == 401


def test_proxy_headers_are_used_only_when_configured(client: testing.TestClient, config: cfg.ConfigOpts) -> None:
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "heat.example.com", "X-Forwarded-Prefix": "/stoker"}
    path = "/versions"
    assert "http://falconframework.org/v1/" in client.simulate_get(path, headers=headers).text
    config.set_override("enable_proxy_headers_parsing", True, "oslo_middleware")
    assert "https://heat.example.com/stoker/v1/" in client.simulate_get(path, headers=headers).text


@pytest.mark.parametrize("path", ["/", "/nothing", f"/v1/{PROJECT}/stacks", f"/v1/{PROJECT}/nowhere", "/openapi.json"])
def test_every_response_has_a_request_id(client: testing.TestClient, path: str) -> None:
    seen = {client.simulate_get(path).headers["X-OpenStack-Request-ID"] for _ in range(2)}
    assert len(seen) == 2
    assert all(identifier.startswith("req-") for identifier in seen)


def test_denied_types_are_part_of_the_request_context(request_as: Request, engine: FakeEngine) -> None:
    request_as("POST", "/stacks", json={"stack_name": "web", "template": {}})
    context = engine.contexts[-1]
    assert not context.may_use("OS::Keystone::User") and not context.may_use("OS::Nova::Flavor")
    assert context.may_use("OS::Nova::Server") and context.may_use("My::Own::Type")
    assert (context.user_id, context.token, context.roles) == ("u1", "member-token", ("member", "reader"))
    assert "member-token" not in repr(context)
    request_as("POST", "/stacks", token="admin-token", json={"stack_name": "web", "template": {}})
    assert engine.contexts[-1].denied_types == ()
    assert request_as("GET", "/resource_types/OS::Keystone::User").status_code == 403
    described = [{"resource_type": name, "description": ""} for name in ANSWERS["resource_type_list"]]
    engine.answers["resource_type_list"] = described
    listed = request_as("GET", "/resource_types", query_string="with_description=true").json["resource_types"]
    assert [item["resource_type"] for item in listed] == ["OS::Heat::None", "OS::Nova::Server"]


def test_patch_without_changes_has_its_own_policy_rule(engine: FakeEngine, tmp_path: Path) -> None:
    client = client_with_policy(engine, tmp_path, '"stacks:update_patch": "!"\n"stacks:update_no_change": "@"\n')

    def patch(body: dict[str, object]) -> int:
        headers = {"X-Auth-Token": "member-token"}
        return client.simulate_patch(f"/v1/{PROJECT}{STACK}", json=body, headers=headers).status_code

    assert patch({"environment": {}, "files": {}, "converge": True}) == 202
    assert patch({"parameters": {"a": 1}}) == 403
    assert patch({"disable_rollback": False}) == 403


def test_environment_is_ignored_when_environment_files_are_given(request_as: Request, engine: FakeEngine) -> None:
    body = {"stack_name": "web", "template": {}, "environment": {"a": 1}, "environment_files": ["e"]}
    request_as("POST", "/stacks", json={**body, "files": {"e": "parameters: {}"}})
    assert engine.last["environment"] == {} and engine.last["environment_files"] == ["e"]
    adopted = '{"name": "old", "template": {"resources": {}}}'
    request_as("POST", "/stacks", json={"stack_name": "web", "adopt_stack_data": adopted})
    assert engine.last["template"] == {"resources": {}}
    assert engine.last["adopt_stack_data"]["name"] == "old"


FAULTS: list[tuple[errors.StokerError, int, str, str]] = [
    (StackExists("There is a stack web."), 409, "StackExists", "Conflict"),
    (Conflict("Busy."), 409, "Conflict", "Conflict"),
    (errors.EntityNotFound("No."), 404, "EntityNotFound", "Not Found"),
    (errors.Forbidden("No."), 403, "Forbidden", "Forbidden"),
    (errors.NotSupported("No."), 400, "NotSupported", "Bad Request"),
    (errors.BadValue("No."), 400, "ValueError", "Bad Request"),
    (EngineUnavailable("No engine."), 503, "ServiceUnavailable", "Service Unavailable"),
]


@pytest.mark.parametrize(("error", "status", "kind", "title"), FAULTS, ids=[repr(fault[0]) for fault in FAULTS])
def test_fault(
    request_as: Request, engine: FakeEngine, error: errors.StokerError, status: int, kind: str, title: str
) -> None:
    engine.answers["stack_show"] = error
    answer = request_as("GET", STACK)
    assert answer.status_code == status
    assert answer.json["code"] == status and answer.json["title"] == title and answer.json["explanation"]
    assert answer.json["error"] == {"type": kind, "message": error.message, "traceback": None}


OF_SERVICES = [
    (CloudError("nova", 400, "No"), 400, "BadRequest"),
    (CloudError("nova", 401, "No"), 403, "Unauthorized"),
    (CloudError("nova", 403, "No"), 403, "Forbidden"),
    (CloudError("nova", 404, "No"), 400, "NotFound"),
    (CloudError("nova", 409, "No"), 409, "Conflict"),
    (CloudError("nova", 413, "No"), 403, "OverLimit"),
    (CloudError("nova", 422, "No"), 400, "CloudError"),
    (CloudError("nova", 429, "No", transient=True), 503, "OverLimit"),
    (CloudError("nova", 500, "No"), 502, "CloudError"),
    (CloudError("nova", 302, "No"), 502, "CloudError"),
    (CloudError("nova", 503, "No", transient=True), 503, "ServiceUnavailable"),
    (CloudError("nova", 0, "No"), 503, "CloudError"),
]


@pytest.mark.parametrize(("error", "status", "kind"), OF_SERVICES, ids=[str(case[0].status) for case in OF_SERVICES])
def test_service_refusal_keeps_its_message(
    request_as: Request, engine: FakeEngine, error: CloudError, status: int, kind: str
) -> None:
    engine.answers["stack_create"] = error
    answer = request_as("POST", "/stacks", json={"stack_name": "web", "template": {}})
    assert answer.status_code == answer.json["code"] == status
    assert answer.json["error"] == {"type": kind, "message": f"nova: {error.message}", "traceback": None}


def test_template_fault_lists_all_problems(request_as: Request, engine: FakeEngine) -> None:
    first = Diagnostic(
        "unknown-property", "no such property", ("resources", "a"), "web.yaml", Position(3, 5), "drop it"
    )
    second = Diagnostic("missing", "a type is needed", ("resources", "b"), "web.yaml", Position(9, 1))
    engine.answers["stack_create"] = TemplateInvalid([first, second])
    answer = request_as("POST", "/stacks", json={"stack_name": "web", "template": {}})
    assert answer.status_code == 400
    error = answer.json["error"]
    assert error["type"] == "StackValidationFailed"
    assert error["message"].splitlines() == [
        "web.yaml:3:5: resources.a: no such property; drop it",
        "web.yaml:9:1: resources.b: a type is needed",
    ]
    assert error["diagnostics"][0]["position"] == {"line": 3, "column": 5}


@pytest.mark.parametrize("error", [KeyError("secret detail"), Bug("secret detail")], ids=["stranger", "bug"])
def test_internal_error_has_a_reference_that_is_logged(
    request_as: Request, engine: FakeEngine, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    engine.answers["stack_show"] = error
    with caplog.at_level(logging.ERROR):
        answer = request_as("GET", STACK)
    assert answer.status_code == 500
    assert "secret detail" not in answer.text and "Traceback" not in answer.text
    reference = answer.json["error"]["message"].rpartition(" ")[2]
    assert reference in caplog.text and "secret detail" in caplog.text


def test_engine_fault_keeps_its_reference(request_as: Request, engine: FakeEngine) -> None:
    engine.answers["stack_show"] = Bug("broken", "ref-77")
    assert request_as("GET", STACK).json["error"]["message"].endswith("ref-77")


def test_stack_history(request_as: Request) -> None:
    answer = request_as("GET", f"/stacks/web/{STACK_ID}/operations")
    (entry,) = answer.json["operations"]
    assert entry["user_name"] == "alice"
    assert (entry["started_at"], entry["finished_at"], entry["duration"]) == (CREATED_TEXT, UPDATED_TEXT, 100.0)
    assert entry["timestamps"]["started_at"] == "2023-11-14T22:13:20.250Z"
    answer = request_as("GET", f"/stacks/web/{STACK_ID}/operations/{entry['id']}")
    assert answer.json["operation"]["plan"]["action"] == "UPDATE"
