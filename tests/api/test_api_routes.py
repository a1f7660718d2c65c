"""Every route: who may call it, what the engine is asked, and which status it answers."""

from __future__ import annotations

import re
from typing import Any

from falcon import testing
from oslo_config import cfg

from stoker.api.app import make_app
from stoker.api.faults import BadRequest
from stoker.api.policies import RULE_SETS
from stoker.api.v1.routes import ROUTES
from stoker.operations import OPERATIONS
from testing.cases import check_each
from tests.api.api_support import (
    CONFIG_ID,
    DEPLOYMENT_ID,
    DETECTION_ID,
    EVENT_ID,
    OPERATION_ID,
    OTHER_PROJECT_TOKEN,
    PROJECT,
    SNAPSHOT_ID,
    STACK_ID,
    FakeEngine,
    check_tokens,
)
from tests.api.conftest import Request

STACK = f"/stacks/web/{STACK_ID}"
RESOURCE = f"{STACK}/resources/server"
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {}}
REF = {"name": "web", "id": STACK_ID}
DEFINITION = {"template": TEMPLATE, "environment": {}, "environment_files": [], "files": {}, "parameters": {}}
NEW = {
    "name": "web",
    **DEFINITION,
    "tags": None,
    "disable_rollback": True,
    "timeout_mins": None,
    "plan_digest": None,
    "preflight": None,
    "adopt_stack_data": None,
}
HANDLING = {
    "tags": None,
    "disable_rollback": None,
    "timeout_mins": None,
    "plan_digest": None,
    "converge": None,
    "refresh": None,
    "supersede": True,
    "preflight": None,
}
_CHANGE = {"ref": REF, **DEFINITION, **HANDLING}
CHANGE = {**_CHANGE, "existing_parameters": False}
PATCH = {"as_of": None, **_CHANGE, "clear_parameters": [], "keep_parameters": None, "policy": None}
DRIFT: dict[str, Any] = {**dict.fromkeys(PATCH), "ref": REF, "converge": True, "supersede": True, "show_nested": False}
DRIFT["detection"] = None
MOVED = {"from": {"stack": "a", "resource": "net"}, "to": {"stack": "c", "resource": "net"}}
EngineCall = tuple[str, dict[str, Any]]
"""A method of the engine, and its arguments; a case without one is answered by the API itself."""

LISTED: dict[str, Any] = {
    "filters": {},
    "tags": None,
    "tags_any": None,
    "not_tags": None,
    "not_tags_any": None,
    "limit": None,
    "marker": None,
    "sort_keys": [],
    "sort_dir": None,
    "global_tenant": False,
    "show_deleted": False,
    "show_nested": False,
    "show_hidden": False,
    "with_count": False,
    "with_latest": False,
}
EVENTS: dict[str, Any] = {
    "operation_id": None,
    "ref": REF,
    "filters": {},
    "limit": None,
    "marker": None,
    "sort_keys": [],
    "sort_dir": None,
    "nested_depth": 0,
}
DEPLOYMENT = {"config_id": CONFIG_ID, "server_id": "srv-1"}
LOOKUP = ("stack_identify", {"ref": {"name": "web", "id": None}, "show_deleted": False})
LOOKUP_GET = ("stack_identify", {"ref": {"name": "web", "id": None}, "show_deleted": True})

# method, path, body, status, (engine's method, its arguments)
UNRETAINED = {"ref": REF, "retain": [], "force": False}
RETAINED = {"ref": REF, "retain": ["net", "group.0.disk"], "force": True}

Case = tuple[str, str, Any, int, EngineCall | None]
CASES: list[Case] = [
    ("GET", "/build_info", None, 200, ("build_info", {})),
    ("GET", "/permissions", None, 200, None),
    ("GET", "/services", None, 200, ("service_list", {})),
    (
        "POST",
        "/validate",
        {"template": TEMPLATE},
        200,
        ("validate_template", {**DEFINITION, "show_nested": False, "ignore_errors": []}),
    ),
    ("GET", "/template_versions", None, 200, ("template_version_list", {})),
    (
        "GET",
        "/template_versions/heat_template_version.2021-04-16/functions",
        None,
        200,
        ("template_function_list", {"version": "heat_template_version.2021-04-16", "with_condition_func": False}),
    ),
    (
        "GET",
        "/resource_types",
        None,
        200,
        ("resource_type_list", {"support_status": None, "name": None, "version": None, "with_description": False}),
    ),
    (
        "GET",
        "/resource_types/OS::Heat::None",
        None,
        200,
        ("resource_type_show", {"type_name": "OS::Heat::None", "with_description": False}),
    ),
    (
        "GET",
        "/resource_types/OS::Heat::None/template",
        None,
        200,
        ("resource_type_template", {"type_name": "OS::Heat::None", "template_type": "cfn"}),
    ),
    ("GET", "/stacks", None, 200, ("stack_list", LISTED)),
    ("POST", "/stacks", {"stack_name": "web", "template": TEMPLATE}, 201, ("stack_create", NEW)),
    ("GET", "/stacks/detail", None, 200, ("stack_list", LISTED)),
    (
        "POST",
        "/stacks/preview",
        {"stack_name": "web", "template": TEMPLATE},
        200,
        ("stack_preview", {**NEW, "joint_deployment": None, "plan_policies": None}),
    ),
    ("GET", "/stacks/web", None, 302, LOOKUP_GET),
    ("POST", "/stacks/web", None, 302, LOOKUP),
    ("PUT", "/stacks/web", None, 302, LOOKUP),
    ("PATCH", "/stacks/web", None, 302, LOOKUP),
    ("DELETE", "/stacks/web", None, 302, LOOKUP),
    *[
        ("GET", f"/stacks/web/{tail}", None, 302, LOOKUP_GET)
        for tail in ("resources", "events", "template", "actions", "environment", "files")
    ],
    *[("POST", f"/stacks/web/{tail}", None, 302, LOOKUP) for tail in ("resources", "events", "template", "actions")],
    ("GET", STACK, None, 200, ("stack_show", {"ref": REF, "resolve_outputs": True})),
    ("PUT", STACK, {"template": TEMPLATE}, 202, ("stack_update", CHANGE)),
    ("PATCH", STACK, {"template": TEMPLATE}, 202, ("stack_patch", {**PATCH, "settings": None})),
    (
        "PATCH",
        STACK,
        {"as_of": "op"},
        202,
        ("stack_patch", {**PATCH, "template": None, "as_of": "op", "settings": None}),
    ),
    ("DELETE", STACK, None, 204, ("stack_delete", {**UNRETAINED, "plan_digest": None})),
    (
        "PUT",
        f"{STACK}/preview",
        {"template": TEMPLATE},
        200,
        ("stack_update_preview", {**CHANGE, "show_nested": False, "joint_deployment": None, "plan_policies": None}),
    ),
    (
        "PATCH",
        f"{STACK}/preview",
        {"template": TEMPLATE},
        200,
        ("stack_patch_preview", {**PATCH, "show_nested": False, "detection": None}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"suspend": None},
        200,
        ("stack_action", {"ref": REF, "action": "suspend", "plan_digest": None, "skip": [], "refresh": None}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"retry": None},
        200,
        ("stack_action", {"ref": REF, "action": "retry", "plan_digest": None, "skip": [], "refresh": None}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"retry": {"skip": ["net", "group.0"]}},
        200,
        (
            "stack_action",
            {"ref": REF, "action": "retry", "plan_digest": None, "skip": ["net", "group.0"], "refresh": None},
        ),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"rollback": None},
        200,
        ("stack_action", {"ref": REF, "action": "rollback", "plan_digest": None, "skip": [], "refresh": None}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"rollback": {"plan_digest": "d"}},
        200,
        ("stack_action", {"ref": REF, "action": "rollback", "plan_digest": "d", "skip": [], "refresh": None}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"rollback": {"refresh": "none"}},
        200,
        ("stack_action", {"ref": REF, "action": "rollback", "plan_digest": None, "skip": [], "refresh": "none"}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"retry": {"plan_digest": "d", "skip": ["net"], "refresh": "all"}},
        200,
        ("stack_action", {"ref": REF, "action": "retry", "plan_digest": "d", "skip": ["net"], "refresh": "all"}),
    ),
    (
        "POST",
        f"{STACK}/actions/preview",
        {"retry": {"skip": ["net"], "refresh": "none"}},
        200,
        (
            "stack_action_preview",
            {**UNRETAINED, "refresh": "none", "skip": ["net"], "action": "retry", "snapshot_id": None},
        ),
    ),
    (
        "POST",
        f"{STACK}/actions/preview",
        {"rollback": {"refresh": "all"}},
        200,
        (
            "stack_action_preview",
            {**UNRETAINED, "skip": [], "refresh": "all", "action": "rollback", "snapshot_id": None},
        ),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"accept_drift": None},
        200,
        ("drift_accept", {"ref": REF, "resources": None}),
    ),
    (
        "POST",
        f"{STACK}/actions",
        {"accept_drift": {"resources": ["net", "group.0"]}},
        200,
        ("drift_accept", {"ref": REF, "resources": ["net", "group.0"]}),
    ),
    (
        "POST",
        f"{STACK}/actions/preview",
        {"rollback": None},
        200,
        (
            "stack_action_preview",
            {**UNRETAINED, "skip": [], "refresh": None, "action": "rollback", "snapshot_id": None},
        ),
    ),
    (
        "GET",
        f"{STACK}/drift",
        None,
        200,
        ("stack_patch_preview", DRIFT),
    ),
    (
        "GET",
        f"{STACK}/drift?detection={DETECTION_ID}",
        None,
        200,
        ("stack_patch_preview", {**DRIFT, "detection": DETECTION_ID}),
    ),
    ("POST", f"{STACK}/drift/detections", None, 201, ("drift_detect", {"ref": REF, "names": None})),
    ("GET", f"{STACK}/drift/detections/{DETECTION_ID}", None, 200, ("drift_status", {"detection_id": DETECTION_ID})),
    (
        "GET",
        f"{STACK}/drift/watch",
        None,
        200,
        ("drift_watch_show", {"ref": REF}),
    ),
    (
        "PATCH",
        f"{STACK}/drift/watch",
        {"mode": "detect"},
        200,
        ("drift_watch_change", {"ref": REF, "mode": "detect"}),
    ),
    (
        "PATCH",
        f"{STACK}/drift/watch",
        {"mode": "default"},
        200,
        ("drift_watch_change", {"ref": REF, "mode": None}),
    ),
    (
        "DELETE",
        f"{STACK}?plan_digest=d&retain=net&retain=group.0.disk&force=true",
        None,
        204,
        ("stack_delete", {**RETAINED, "plan_digest": "d"}),
    ),
    (
        "DELETE",
        f"{STACK}/preview",
        None,
        200,
        ("stack_action_preview", {**UNRETAINED, "skip": [], "refresh": None, "action": "delete", "snapshot_id": None}),
    ),
    (
        "DELETE",
        f"{STACK}/preview?refresh=none",
        None,
        200,
        (
            "stack_action_preview",
            {**UNRETAINED, "skip": [], "refresh": "none", "action": "delete", "snapshot_id": None},
        ),
    ),
    (
        "DELETE",
        f"{STACK}/preview?retain=net&retain=group.0.disk&force=true",
        None,
        200,
        ("stack_action_preview", {**RETAINED, "skip": [], "refresh": None, "action": "delete", "snapshot_id": None}),
    ),
    (
        "POST",
        f"{STACK}/snapshots/{SNAPSHOT_ID}/restore/preview",
        None,
        200,
        (
            "stack_action_preview",
            {**UNRETAINED, "skip": [], "refresh": None, "action": "restore", "snapshot_id": SNAPSHOT_ID},
        ),
    ),
    (
        "GET",
        "/generated_template",
        None,
        200,
        ("project_generate", {"types": [], "tags": [], "name": None, "ids": [], "groups": False}),
    ),
    ("GET", "/generated_template/resource_types", None, 200, ("generated_type_list", {})),
    (
        "GET",
        "/resources",
        None,
        200,
        (
            "resource_find",
            {
                **dict.fromkeys(("text", "id", "name", "address", "type", "limit", "marker")),
                "global_tenant": False,
            },
        ),
    ),
    ("GET", f"{STACK}/operations", None, 200, ("operation_list", {"ref": REF, "limit": None, "marker": None})),
    (
        "GET",
        f"{STACK}/operations/{OPERATION_ID}",
        None,
        200,
        ("operation_show", {"ref": REF, "operation_id": OPERATION_ID}),
    ),
    ("GET", f"{STACK}/template", None, 200, ("stack_template", {"ref": REF, "operation_id": None})),
    ("GET", f"{STACK}/template?operation_id=op", None, 200, ("stack_template", {"ref": REF, "operation_id": "op"})),
    ("GET", f"{STACK}/environment", None, 200, ("stack_environment", {"ref": REF, "operation_id": None})),
    (
        "GET",
        f"{STACK}/environment?operation_id=op",
        None,
        200,
        ("stack_environment", {"ref": REF, "operation_id": "op"}),
    ),
    ("GET", f"{STACK}/files", None, 200, ("stack_files", {"ref": REF, "operation_id": None})),
    ("GET", f"{STACK}/files?operation_id=op", None, 200, ("stack_files", {"ref": REF, "operation_id": "op"})),
    ("GET", f"{STACK}/export", None, 200, ("stack_export", {"ref": REF})),
    ("DELETE", f"{STACK}/abandon", None, 200, ("stack_abandon", {"ref": REF})),
    ("GET", "/orphans", None, 200, ("orphan_find", {})),
    ("GET", "/exports", None, 200, ("export_list", {})),
    ("GET", "/refactors", None, 200, ("stack_refactor_list", {})),
    (
        "POST",
        "/refactors",
        {"stacks": {"web": {"template": "t", "parameters": {"size": 1}}}},
        201,
        (
            "stack_refactor_create",
            {
                "templates": {"web": "t"},
                "moved": [],
                "creates": False,
                "description": "",
                "inputs": {"web": {"parameters": {"size": 1}}},
                "changes": False,
            },
        ),
    ),
    (
        "POST",
        "/refactors",
        {
            "stacks": {"web": {"template": {"a": 1}}},
            "moved": [MOVED],
            "create_stacks": True,
            "description": "why",
            "changes": True,
        },
        201,
        (
            "stack_refactor_create",
            {
                "templates": {"web": '{"a":1}'},
                "moved": [MOVED],
                "creates": True,
                "description": "why",
                "inputs": {},
                "changes": True,
            },
        ),
    ),
    ("GET", "/refactors/refactor", None, 200, ("stack_refactor_show", {"refactor_id": "refactor"})),
    ("GET", "/refactors/refactor/actions", None, 200, ("stack_refactor_actions", {"refactor_id": "refactor"})),
    ("POST", "/refactors/refactor/execute", None, 200, ("stack_refactor_execute", {"refactor_id": "refactor"})),
    ("GET", "/change_requests", None, 200, ("change_request_list", {"status": [], "plan_digest": None})),
    (
        "GET",
        "/change_requests?status=WAITING&plan_digest=a.b.c",
        None,
        200,
        ("change_request_list", {"status": ["WAITING"], "plan_digest": "a.b.c"}),
    ),
    ("GET", "/change_requests/request", None, 200, ("change_request_show", {"request_id": "request"})),
    (
        "PUT",
        "/change_requests/request/approval",
        {"verdict": "APPROVED"},
        200,
        ("change_request_judge", {"request_id": "request", "verdict": "APPROVED", "comment": ""}),
    ),
    (
        "POST",
        "/change_requests/request/break_glass",
        {"reason": "why"},
        200,
        ("change_request_break_glass", {"request_id": "request", "reason": "why"}),
    ),
    ("GET", "/change_control", None, 200, ("change_control_show", {"ref": None})),
    (
        "PUT",
        "/change_control",
        {"change_control": {"approvals": []}},
        200,
        ("change_control_change", {"ref": None, "control": {"approvals": []}}),
    ),
    ("DELETE", "/change_control", None, 200, ("change_control_change", {"ref": None, "control": None})),
    ("GET", f"{STACK}/settings/change_control", None, 200, ("change_control_show", {"ref": REF})),
    (
        "PUT",
        f"{STACK}/settings/change_control",
        {"change_control": {"approvals": []}},
        200,
        ("change_control_change", {"ref": REF, "control": {"approvals": []}}),
    ),
    (
        "DELETE",
        f"{STACK}/settings/change_control",
        None,
        200,
        ("change_control_change", {"ref": REF, "control": None}),
    ),
    ("GET", "/plan_policies", None, 200, ("plan_policies_show", {"ref": None})),
    (
        "PUT",
        "/plan_policies",
        {"plan_policies": "policies: []"},
        200,
        ("plan_policies_change", {"ref": None, "policies": "policies: []"}),
    ),
    ("DELETE", "/plan_policies", None, 200, ("plan_policies_change", {"ref": None, "policies": None})),
    ("GET", f"{STACK}/settings/plan_policies", None, 200, ("plan_policies_show", {"ref": REF})),
    (
        "PUT",
        f"{STACK}/settings/plan_policies",
        {"plan_policies": "policies: []"},
        200,
        ("plan_policies_change", {"ref": REF, "policies": "policies: []"}),
    ),
    ("DELETE", f"{STACK}/settings/plan_policies", None, 200, ("plan_policies_change", {"ref": REF, "policies": None})),
    ("GET", f"{STACK}/settings", None, 200, ("stack_settings_show", {"ref": REF})),
    ("PUT", f"{STACK}/settings/lock", {"reason": "why"}, 200, ("stack_lock", {"ref": REF, "reason": "why"})),
    ("DELETE", f"{STACK}/settings/lock", None, 204, ("stack_unlock", {"ref": REF})),
    (
        "PUT",
        f"{STACK}/settings/policy",
        {"policy": {"Statement": []}},
        204,
        ("stack_settings_change", {"ref": REF, "changes": {"policy": {"Statement": []}}}),
    ),
    (
        "DELETE",
        f"{STACK}/settings/policy",
        None,
        204,
        ("stack_settings_change", {"ref": REF, "changes": {"policy": None}}),
    ),
    (
        "PUT",
        f"{STACK}/settings/protection",
        None,
        204,
        ("stack_settings_change", {"ref": REF, "changes": {"protected": True}}),
    ),
    (
        "DELETE",
        f"{STACK}/settings/protection",
        None,
        204,
        ("stack_settings_change", {"ref": REF, "changes": {"protected": False}}),
    ),
    ("GET", f"{STACK}/outputs", None, 200, ("output_list", {"ref": REF})),
    ("GET", f"{STACK}/outputs/address", None, 200, ("output_show", {"ref": REF, "key": "address"})),
    ("GET", f"{STACK}/snapshots", None, 200, ("snapshot_list", {"ref": REF})),
    ("POST", f"{STACK}/snapshots", {"name": "before"}, 200, ("snapshot_create", {"ref": REF, "name": "before"})),
    (
        "GET",
        f"{STACK}/snapshots/{SNAPSHOT_ID}",
        None,
        200,
        ("snapshot_show", {"ref": REF, "snapshot_id": SNAPSHOT_ID}),
    ),
    (
        "DELETE",
        f"{STACK}/snapshots/{SNAPSHOT_ID}",
        None,
        204,
        ("snapshot_delete", {"ref": REF, "snapshot_id": SNAPSHOT_ID}),
    ),
    (
        "POST",
        f"{STACK}/snapshots/{SNAPSHOT_ID}/restore",
        None,
        202,
        ("snapshot_restore", {"ref": REF, "snapshot_id": SNAPSHOT_ID, "plan_digest": None, "refresh": None}),
    ),
    (
        "POST",
        f"{STACK}/snapshots/{SNAPSHOT_ID}/restore/preview",
        {"refresh": "none"},
        200,
        (
            "stack_action_preview",
            {**UNRETAINED, "skip": [], "refresh": "none", "action": "restore", "snapshot_id": SNAPSHOT_ID},
        ),
    ),
    ("GET", f"{STACK}/events", None, 200, ("event_list", {**EVENTS, "resource_name": None})),
    (
        "GET",
        f"{STACK}/resources",
        None,
        200,
        ("resource_list", {"ref": REF, "filters": {}, "nested_depth": 0, "with_detail": False}),
    ),
    ("GET", RESOURCE, None, 200, ("resource_show", {"ref": REF, "name": "server", "with_attr": []})),
    (
        "PATCH",
        RESOURCE,
        {"mark_unhealthy": True},
        200,
        (
            "resource_mark_unhealthy",
            {"ref": REF, "name": "server", "mark_unhealthy": True, "resource_status_reason": ""},
        ),
    ),
    ("GET", f"{RESOURCE}/metadata", None, 200, ("resource_metadata", {"ref": REF, "name": "server"})),
    (
        "POST",
        f"{RESOURCE}/signal",
        {"status": "SUCCESS"},
        200,
        ("resource_signal", {"ref": REF, "name": "server", "details": {"status": "SUCCESS"}}),
    ),
    ("GET", f"{RESOURCE}/events", None, 200, ("event_list", {**EVENTS, "resource_name": "server"})),
    (
        "GET",
        f"{RESOURCE}/events/{EVENT_ID}",
        None,
        200,
        ("event_show", {"ref": REF, "resource_name": "server", "event_id": EVENT_ID}),
    ),
    (
        "GET",
        "/software_configs",
        None,
        200,
        ("software_config_list", {"limit": None, "marker": None, "global_tenant": False}),
    ),
    (
        "POST",
        "/software_configs",
        {"name": "install", "config": "x"},
        200,
        (
            "software_config_create",
            {"name": "install", "group": None, "config": "x", "inputs": [], "outputs": [], "options": {}},
        ),
    ),
    ("GET", f"/software_configs/{CONFIG_ID}", None, 200, ("software_config_show", {"config_id": CONFIG_ID})),
    ("DELETE", f"/software_configs/{CONFIG_ID}", None, 204, ("software_config_delete", {"config_id": CONFIG_ID})),
    ("GET", "/software_deployments", None, 200, ("software_deployment_list", {"server_id": None})),
    (
        "POST",
        "/software_deployments",
        DEPLOYMENT,
        200,
        (
            "software_deployment_create",
            {
                **DEPLOYMENT,
                "input_values": None,
                "action": None,
                "status": None,
                "status_reason": None,
                "stack_user_project_id": None,
            },
        ),
    ),
    (
        "GET",
        "/software_deployments/metadata/srv-1",
        None,
        200,
        ("software_deployment_metadata", {"server_id": "srv-1"}),
    ),
    (
        "GET",
        f"/software_deployments/{DEPLOYMENT_ID}",
        None,
        200,
        ("software_deployment_show", {"deployment_id": DEPLOYMENT_ID}),
    ),
    (
        "PUT",
        f"/software_deployments/{DEPLOYMENT_ID}",
        {"status": "COMPLETE"},
        200,
        ("software_deployment_update", {"deployment_id": DEPLOYMENT_ID, "values": {"status": "COMPLETE"}}),
    ),
    (
        "DELETE",
        f"/software_deployments/{DEPLOYMENT_ID}",
        None,
        204,
        ("software_deployment_delete", {"deployment_id": DEPLOYMENT_ID}),
    ),
]


IDS = [f"{method} {path}" for method, path, *_ in CASES]
NAMED_CASES = list(zip(IDS, CASES, strict=True))

FOR_STACK_USERS = {"stacks:lookup", "resource:metadata", "resource:signal", "software_deployments:metadata"}
"""All that the role heat_stack_user may do over this API."""


def route_of(path: str) -> str:
    """The template in the table that routes `path`: of those that match, the one with the fewest variables."""
    bare = path.partition("?")[0]
    matching = [template for template in ROUTES if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), bare)]
    return min(matching, key=lambda template: template.count("{"))


def test_route_cases_cover_all_routes() -> None:
    reached = {(method, route_of(path)) for method, path, *_ in CASES}
    declared = {(method, path) for path, methods in ROUTES.items() for method in methods}
    named_like_routes = {pair for pair in declared - reached if pair[1] in ("/stacks/detail", "/stacks/preview")}
    assert declared - reached == named_like_routes
    assert len({name for rules in RULE_SETS for name in rules.names}) == 129


def test_each_route(request_as: Request, engine: FakeEngine) -> None:
    def check(case: Case) -> None:
        method, path, body, status, call = case
        engine.calls.clear()
        engine.contexts.clear()
        answer = request_as(method, path, token="admin-token", json=body)
        assert answer.status_code == status, answer.text
        assert engine.calls == ([] if call is None else [call])
        assert {context.request_id for context in engine.contexts} <= {answer.headers["X-Openstack-Request-Id"]}
        if status == 204:
            assert answer.content == b""
        else:
            assert answer.headers["Content-Type"] == "application/json"

    check_each(NAMED_CASES, check)


def test_each_route_refuses(request_as: Request, engine: FakeEngine) -> None:
    def check(case: Case) -> None:
        method, path, body, _, _ = case
        no_token = request_as(method, path, token="", json=body)
        assert no_token.status_code == 401
        assert no_token.json["error"]["type"] == "HTTPUnauthorized"
        assert no_token.headers["WWW-Authenticate"].startswith("Keystone")
        for token in (OTHER_PROJECT_TOKEN, "no-role-token"):
            refused = request_as(method, path, token=token, json=body)
            assert refused.status_code == 403, refused.text
            assert refused.json["error"]["type"] == "HTTPForbidden"
        assert engine.calls == []

    check_each(NAMED_CASES, check)


def test_stack_users_may_only_look_up_stacks_read_metadata_and_signal(request_as: Request) -> None:
    def check(case: Case) -> None:
        method, path, body, status, _ = case
        allowed = ROUTES[route_of(path)][method].policy in FOR_STACK_USERS
        answer = request_as(method, path, token="stack-user-token", json=body)
        assert answer.status_code == (status if allowed else 403)

    check_each(NAMED_CASES, check)


def test_every_route_has_an_existing_policy_rule() -> None:
    known = {name for rules in RULE_SETS for name in rules.names}
    for methods in ROUTES.values():
        for action in methods.values():
            choices: list[dict[str, Any]] = [
                {"suspend": 1},
                {"retry": 1},
                {"rollback": 1},
                {"check": 1},
                {"template": "x"},
                {},
            ]
            names = {action.policy} if isinstance(action.policy, str) else _rules(action, choices)
            assert names and names <= known


def _rules(action: Any, bodies: list[dict[str, Any]]) -> set[str]:
    found = set()
    for body in bodies:
        try:
            found.add(action.rule(body))
        except BadRequest:
            continue
    return found


def test_engine_accepts_every_api_request() -> None:
    def check(case: Case) -> None:
        if (call := case[-1]) is not None:
            operation, arguments = call
            assert OPERATIONS[operation].decode(arguments) is not None

    check_each(NAMED_CASES, check)


def test_permissions_list_the_policy_rules_of_the_caller(request_as: Request) -> None:
    """The answer is what the requests themselves are refused or permitted by."""

    def passed(token: str) -> dict[str, bool]:
        found: dict[str, bool] = request_as("GET", "/permissions", token=token).json["permissions"]
        return found

    admin, reader = passed("admin-token"), passed("reader-token")
    assert set(admin) == set(reader) and len(admin) > 70
    assert not any(name.startswith("resource_types:") or ":" not in name for name in admin)
    assert admin["stacks:update_patch"] and admin["actions:suspend"] and not admin["stacks:global_index"]
    assert reader["stacks:index"] and reader["actions:check"]
    assert not reader["stacks:update_patch"] and not reader["stacks:delete"] and not reader["actions:suspend"]


def test_readers_may_not_write(request_as: Request, engine: FakeEngine) -> None:
    for method, path, body, _, _ in CASES:
        if method in ("PUT", "DELETE") and path.startswith(STACK):
            assert request_as(method, path, token="reader-token", json=body).status_code == 403
    assert engine.calls == []


def test_administrator_may_access_other_projects_by_policy(config: cfg.ConfigOpts, engine: FakeEngine) -> None:
    path, headers = "/v1/ffffffffffffffffffffffffffffffff/stacks", {"X-Auth-Token": "admin-token"}
    assert (
        testing.TestClient(make_app(config, engine, check_tokens)).simulate_get(path, headers=headers).status_code
        == 403
    )
    config.set_override("enforce_new_defaults", False, "oslo_policy")
    assert (
        testing.TestClient(make_app(config, engine, check_tokens)).simulate_get(path, headers=headers).status_code
        == 200
    )
    assert engine.contexts[-1].project_id == PROJECT
    assert engine.contexts[-1].is_admin
