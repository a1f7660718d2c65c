"""A scripted engine, callers with tokens, and views as the engine makes them."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from oslo_config import cfg

from stoker.api.auth import WSGIApplication
from stoker.base.errors import EntityNotFound
from stoker.contract.request import Request
from stoker.rpc.contract import RequestContext, json_copy

PROJECT = "4f0a1b2c3d4e5f60718293a4b5c6d7e8"
STACK_ID = "2f1d9d4f-6b86-4ee1-8d6f-3a37be4d4e6b"
NESTED_ID = "9ab4d4c8-5d7a-4c55-8b9b-0f6e5a1f3c22"
EVENT_ID = "5d0f2a55-21a0-4b4a-9a70-2f1b2a6f7a10"
SNAPSHOT_ID = "c1f3a0de-65a8-4a64-a0f4-9b2f4e8f1a77"
OPERATION_ID = "7d7e2bb0-58c0-43a0-9c3e-6a7a4d0c2b11"
CONFIG_ID = "0b7a2c7e-2d41-4f4e-8a43-50f1de1c9f05"
DEPLOYMENT_ID = "e9b2b7b4-3a0d-4d0a-9b52-7d60ae0b8c51"

CREATED = 1_700_000_000.25
CREATED_TEXT = "2023-11-14T22:13:20Z"
UPDATED = CREATED + 100
UPDATED_TEXT = "2023-11-14T22:15:00Z"

ROLES = {
    "admin-token": ("admin", "member", "reader"),
    "member-token": ("member", "reader"),
    "reader-token": ("reader",),
    "stack-user-token": ("heat_stack_user",),
    "no-role-token": (),
}
OTHER_PROJECT_TOKEN = "other-project-token"
OTHER_PROJECT = "ffffffffffffffffffffffffffffffff"


def check_tokens(application: WSGIApplication) -> WSGIApplication:
    """Stands in for keystonemiddleware: removes identity headers, and sets them for the tokens above."""

    def checked(environ: dict[str, Any], start_response: Any) -> Any:
        for name in [name for name in environ if name in _IDENTITY_HEADERS]:
            del environ[name]
        token = environ.get("HTTP_X_AUTH_TOKEN", "")
        roles = ("member", "reader") if token == OTHER_PROJECT_TOKEN else ROLES.get(token)
        if roles is not None:
            environ.update(
                HTTP_X_IDENTITY_STATUS="Confirmed",
                HTTP_X_USER_ID="u1",
                HTTP_X_USER_NAME="alice",
                HTTP_X_PROJECT_ID=OTHER_PROJECT if token == OTHER_PROJECT_TOKEN else PROJECT,
                HTTP_X_PROJECT_NAME="demo",
                HTTP_X_ROLES=",".join(roles),
            )
        return application(environ, start_response)

    return checked


_IDENTITY_HEADERS = (
    "HTTP_X_IDENTITY_STATUS",
    "HTTP_X_USER_ID",
    "HTTP_X_PROJECT_ID",
    "HTTP_X_ROLES",
    "HTTP_X_IS_ADMIN_PROJECT",
)


def every_argument(request: Request[Any]) -> dict[str, Any]:
    """The arguments of a request, those included that have their default."""
    assert is_dataclass(request)
    return {item.name: getattr(request, item.name) for item in fields(request)}


@dataclass
class FakeEngine:
    """An `EngineClient` that answers from a script, and remembers what it was asked.

    An answer that is an exception is raised. Arguments and answers go through JSON as on a wire.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    contexts: list[RequestContext] = field(default_factory=list)

    def call(self, context: RequestContext, request: Request[Any], timeout: float = 60.0) -> Any:
        method = request.method
        self.calls.append((method, json_copy(every_argument(request))))
        self.contexts.append(RequestContext.from_dict(json_copy(context.to_dict())))
        answer = self.answers[method]
        if isinstance(answer, Exception):
            raise answer
        return json_copy(answer)

    @property
    def last(self) -> dict[str, Any]:
        """The arguments of the last call."""
        return self.calls[-1][1]


def stack_view(**changes: Any) -> dict[str, Any]:
    """A stack as stack_show gives it."""
    return {
        "id": STACK_ID,
        "name": "web",
        "description": "A web server",
        "project_id": PROJECT,
        "owner": None,
        "user_name": "alice",
        "action": "CREATE",
        "status": "COMPLETE",
        "status_reason": "Stack CREATE completed successfully",
        "created_at": CREATED,
        "updated_at": None,
        "deleted_at": None,
        "disable_rollback": True,
        "timeout_mins": None,
        "parent_id": None,
        "stack_user_project_id": None,
        "tags": ["blue", "green"],
        "parameters": {"OS::stack_name": "web", "flavor": "m1.small"},
        "outputs": [{"output_key": "address", "description": "Where", "output_value": "10.0.0.3"}],
        "template_description": "A web server",
        "capabilities": [],
        "notification_topics": [],
        **changes,
    }


def refactor_view(**changes: Any) -> dict[str, Any]:
    """A refactoring as stack_refactor_show gives it."""
    return {
        "id": "refactor",
        "project_id": PROJECT,
        "description": "why",
        "status": "CREATE_COMPLETE",
        "status_reason": "",
        "execution_status": "AVAILABLE",
        "execution_status_reason": "",
        "stacks": [{"id": STACK_ID, "name": "web", "is_new": False}],
        "created_at": CREATED,
        **changes,
    }


def listed_stack_view(**changes: Any) -> dict[str, Any]:
    """A stack as stack_list gives it."""
    view = stack_view(**changes)
    del view["parameters"], view["outputs"]
    return view


FOUND: dict[str, Any] = {
    "id": "8d1c8c9e-9f9a-4c53-a0bb-0d2d7b0c0d11",
    "path": "group.0.server",
    "name": "server",
    "type": "OS::Nova::Server",
    "action": "CREATE",
    "status": "COMPLETE",
    "physical_id": "srv-1",
    "owns": True,
    "stack_id": STACK_ID,
    "stack_name": "web",
    "nested_stack_id": NESTED_ID,
    "nested_stack_name": "web-group-0",
    "project_id": PROJECT,
}
"""A resource as resource_find gives it."""


def resource_view(**changes: Any) -> dict[str, Any]:
    """A resource as resource_show gives it."""
    return {
        "name": "server",
        "type": "OS::Nova::Server",
        "action": "CREATE",
        "status": "COMPLETE",
        "status_reason": "state changed",
        "physical_id": "srv-1",
        "created_at": CREATED,
        "updated_at": None,
        "required_by": ["ip"],
        "stack_id": STACK_ID,
        "stack_name": "web",
        "project_id": PROJECT,
        "parent_resource": None,
        "nested_id": None,
        "nested_name": None,
        "root_stack_id": STACK_ID,
        **changes,
    }


def resource_list(**changes: Any) -> dict[str, Any]:
    """A stack's only resource as resource_list gives it."""
    view = resource_view(**changes)
    place = {key: view.pop(key) for key in ("stack_name", "project_id", "parent_resource", "root_stack_id")}
    return {"resources": [view], "stacks": {STACK_ID: {"stack_id": STACK_ID, **place}}}


def event_view(**changes: Any) -> dict[str, Any]:
    """An event as event_list gives it."""
    return {
        "id": EVENT_ID,
        "stack_id": STACK_ID,
        "stack_name": "web",
        "project_id": PROJECT,
        "resource_name": "server",
        "resource_type": "OS::Nova::Server",
        "action": "CREATE",
        "status": "IN_PROGRESS",
        "status_reason": "state changed",
        "physical_id": None,
        "time": CREATED,
        "root_stack_id": STACK_ID,
        "root_stack_name": "web",
        **changes,
    }


def snapshot_view() -> dict[str, Any]:
    """A snapshot as snapshot_show gives it."""
    return {
        "id": SNAPSHOT_ID,
        "name": "before",
        "status": "COMPLETE",
        "status_reason": "Stack SNAPSHOT completed successfully",
        "data": None,
        "created_at": CREATED,
    }


def config_view() -> dict[str, Any]:
    """A software config as software_config_show gives it."""
    return {
        "id": CONFIG_ID,
        "name": "install",
        "group": "script",
        "config": "echo hello",
        "inputs": [],
        "outputs": [],
        "options": {},
        "project_id": PROJECT,
        "created_at": CREATED,
    }


def change_request_view(**more: Any) -> dict[str, Any]:
    output = {"user_id": "u2", "user_name": "alice", "verdict": "APPROVED", "comment": "", "created_at": CREATED}
    return {
        "id": "request",
        "project_id": PROJECT,
        "stack_id": STACK_ID,
        "stack_name": "web",
        "action": "UPDATE",
        "plan_digest": "a.b.c",
        "status": "WAITING",
        "user_id": "u",
        "user_name": "bob",
        "created_at": CREATED,
        "expires_at": CREATED,
        "opens_at": None,
        "requires": [{"role": None, "number": 2}],
        "lacks": [{"role": None, "number": 1}],
        "approvals": [output],
        "emergency": {"user_id": "u", "user_name": "bob", "reason": "the shop is down", "created_at": CREATED},
        "operation": None,
        "waits_for_caller": True,
        **more,
    }


CHANGE_CONTROL = {
    "chosen": {"approvals": [{"number": 1}]},
    "approvals": [{"role": None, "number": 1}],
    "automatic": "allowed",
    "valid_hours": 72,
    "open": False,
    "opens_at": CREATED,
}

PLAN_POLICIES = {
    "chosen": "policies: [{use: no-open-ssh}]",
    "policies": [
        {"name": "no-open-ssh", "source": "project", "verdict": "deny", "scope": "resource", "message": "open"},
    ],
}


def operation_view(**changes: Any) -> dict[str, Any]:
    """An operation as operation_list gives it."""
    return {
        "id": OPERATION_ID,
        "stack_id": STACK_ID,
        "action": "UPDATE",
        "status": "COMPLETE",
        "reason": "Stack UPDATE completed successfully",
        "reason_code": None,
        "request_id": "req-1",
        "user_id": "u1",
        "user_name": "alice",
        "created_at": CREATED,
        "started_at": CREATED,
        "finished_at": UPDATED,
        "duration": 100.0,
        "observe": False,
        "parent_operation": None,
        "engine": "e1",
        **changes,
    }


def deployment_view(**changes: Any) -> dict[str, Any]:
    """A deployment as software_deployment_show gives it."""
    return {
        "id": DEPLOYMENT_ID,
        "config_id": CONFIG_ID,
        "server_id": "srv-1",
        "input_values": {},
        "output_values": {},
        "action": "CREATE",
        "status": "IN_PROGRESS",
        "status_reason": None,
        "created_at": CREATED,
        "updated_at": None,
        **changes,
    }


PLAN: dict[str, Any] = {"action": "UPDATE", "steps": [], "summary": {"keep": 1}}

_CHANGES = {"unchanged": [resource_view()], "updated": [], "replaced": [], "added": [], "deleted": []}

DETECTION_ID = "0d7c5f1e-5d0e-4f1c-9d53-6f0d7a4e2f11"
DETECTION = {
    "id": DETECTION_ID,
    "stack_id": STACK_ID,
    "stack_name": "web",
    "project_id": PROJECT,
    "status": "IN_PROGRESS",
    "reason": "",
    "drift": None,
    "drifted": 0,
    "time": 1_700_000_000.0,
    "progress": {"resources": 3, "compared": 1, "differing": []},
}
"""A comparison with the cloud that has not ended."""

DRIFT_WATCH = {
    "mode": "detect",
    "chosen": "detect",
    "interval": 600,
    "status": "DRIFTED",
    "time": 1_700_000_000.0,
    "age": 61.4,
    "drifted": ["net"],
    "uncompared": [],
    "repair": None,
}
"""What is done about the drift of a stack, and its last look."""


ANSWERS: dict[str, Any] = {
    "container_files": {"child.yaml": "x: 1"},
    "stack_identify": {"name": "web", "id": STACK_ID, "project_id": PROJECT},
    "stack_create": stack_view(status="IN_PROGRESS"),
    "stack_preview": {**stack_view(), "resources": [resource_view(properties={"flavor": "m1"})], "plan": PLAN},
    "stack_update": stack_view(action="UPDATE", status="IN_PROGRESS"),
    "stack_patch": stack_view(action="UPDATE", status="IN_PROGRESS"),
    "stack_update_preview": {"resource_changes": _CHANGES, "plan": PLAN},
    "stack_patch_preview": {"resource_changes": _CHANGES, "plan": PLAN},
    "stack_delete": None,
    "stack_show": stack_view(),
    "stack_list": {"stacks": [listed_stack_view()], "count": 1},
    "stack_action": None,
    "drift_accept": [],
    "drift_detect": {"id": DETECTION_ID},
    "drift_status": DETECTION,
    "drift_watch_show": DRIFT_WATCH,
    "drift_watch_change": DRIFT_WATCH,
    "stack_action_preview": {"plan": PLAN, "snapshots": []},
    "stack_template": {"heat_template_version": "2021-04-16", "resources": {}},
    "stack_environment": {"parameters": {}},
    "stack_files": {"a.yaml": "x: 1"},
    "stack_export": {"name": "web"},
    "stack_abandon": {"name": "web"},
    "change_request_list": [change_request_view()],
    "change_request_show": change_request_view(plan=PLAN),
    "change_request_judge": change_request_view(plan=PLAN),
    "change_request_break_glass": change_request_view(plan=PLAN),
    "change_control_show": CHANGE_CONTROL,
    "change_control_change": CHANGE_CONTROL,
    "plan_policies_show": PLAN_POLICIES,
    "plan_policies_change": PLAN_POLICIES,
    "stack_lock": {"reason": "a release", "user_id": "u", "user_name": "alice", "since": CREATED},
    "stack_unlock": None,
    "export_list": [],
    "orphan_find": [],
    "stack_refactor_actions": {"stacks": [], "moves": []},
    "stack_refactor_create": refactor_view(),
    "stack_refactor_execute": refactor_view(execution_status="EXECUTE_COMPLETE"),
    "stack_refactor_list": [refactor_view()],
    "stack_refactor_show": refactor_view(),
    "stack_settings_show": {"protected": False, "policy": None, "notification_topics": [], "capabilities": []},
    "stack_settings_change": {"id": STACK_ID, "name": "web", "project_id": PROJECT},
    "output_list": [{"output_key": "address", "description": "Where"}],
    "output_show": {"output_key": "address", "description": "Where", "output_value": 1, "output_error": None},
    "operation_list": [operation_view()],
    "operation_show": operation_view(plan={"action": "UPDATE", "steps": [], "summary": {}}),
    "generated_type_list": ["OS::Neutron::Net"],
    "project_generate": {
        "template": {"heat_template_version": "2021-04-16", "resources": {}},
        "environment": {"imports": []},
        "resources": [],
        "left_out": [],
        "left_out_properties": [],
        "unread": [],
        "parameters_without_value": [],
    },
    "resource_find": {"resources": [FOUND], "next": None, "unsearchable": 0, "most_counted": 1000},
    "resource_list": resource_list(),
    "resource_show": resource_view(attributes={"name": "n"}, description="The server"),
    "resource_metadata": {"a": 1},
    "resource_signal": None,
    "resource_mark_unhealthy": None,
    "event_list": [event_view()],
    "event_show": event_view(resource_properties={"flavor": "m1"}),
    "validate_template": {"Description": "d", "Parameters": {}, "Environment": {}},
    "resource_type_list": ["OS::Heat::None", "OS::Keystone::User", "OS::Nova::Flavor", "OS::Nova::Server"],
    "resource_type_show": {"resource_type": "OS::Heat::None", "properties": {}, "attributes": {}},
    "resource_type_template": {"HeatTemplateFormatVersion": "2012-12-12"},
    "template_version_list": [{"version": "heat_template_version.2021-04-16", "type": "hot", "aliases": []}],
    "template_function_list": [{"functions": "get_attr", "description": "An attribute"}],
    "service_list": [
        {
            "id": "s1",
            "host": "h",
            "hostname": "h",
            "binary": "heat-engine",
            "topic": "engine",
            "engine_id": "e1",
            "status": "up",
            "created_at": CREATED,
            "updated_at": None,
            "deleted_at": None,
            "report_interval": 60,
        }
    ],
    "build_info": {"engine": {"revision": "r1"}},
    "snapshot_create": snapshot_view(),
    "snapshot_list": [snapshot_view()],
    "snapshot_show": snapshot_view(),
    "snapshot_delete": None,
    "snapshot_restore": None,
    "software_config_list": [config_view()],
    "software_config_create": config_view(),
    "software_config_show": config_view(),
    "software_config_delete": None,
    "software_deployment_list": [deployment_view()],
    "software_deployment_create": deployment_view(),
    "software_deployment_show": deployment_view(),
    "software_deployment_update": deployment_view(updated_at=UPDATED),
    "software_deployment_delete": None,
    "software_deployment_metadata": [config_view()],
}


def scripted_engine() -> FakeEngine:
    """An engine with an answer to everything."""
    return FakeEngine(copy.deepcopy(ANSWERS))


def no_such_stack() -> EntityNotFound:
    """What the engine says of a stack that it does not have."""
    return EntityNotFound("There is no stack web.")


def limited(config: cfg.ConfigOpts, **values: Any) -> cfg.ConfigOpts:
    """`config` with options of the DEFAULT group set."""
    for name, value in values.items():
        config.set_override(name, value)
    return config
