"""Executions of workflows."""

from __future__ import annotations

import re

from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.workflow import views
from openstack_emulator.workflow.records import Execution
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of, json_object, string_of
from openstack_emulator.workflow.rules.runs import missing_execution

_UUID = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\Z", re.IGNORECASE)
_EXECUTION = frozenset({
    "id", "workflow_id", "workflow_name", "workflow_namespace", "source_execution_id", "input", "params", "description",
})  # fmt: skip
_CHANGE = frozenset({"state", "state_info", "description", "params"})


def list_executions(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.runs.executions))
    return executions_of(request, rows)


def executions_of(request: Request, rows: list[Execution]) -> Response:
    """Return a list of executions."""
    return list_response(request, rows, views.execution, "executions", ("output", "published_global"))


def create_execution(service: Workflows, request: Request) -> Response:
    context, body = request.context, body_of(request, "wf_ex", _EXECUTION)
    key = string_of(body, "id", 36)
    if key is not None and not _UUID.match(key):
        raise missing_execution(key)
    known = service.runs.executions.get(key or "")
    if known is not None:
        if not context.may_see(known):
            raise conflict(f"The id {key} is in use.")
        return Response(views.started_execution(known), 201)
    source_id = string_of(body, "source_execution_id", 36)
    source = visible(service.runs.executions, context, source_id) if source_id else None
    identifier = body.get("workflow_id") or body.get("workflow_name") or (source and source.workflow_id)
    if not isinstance(identifier, str):
        raise bad_request("Workflow ID or workflow name must be provided. Workflow ID is recommended.")
    workflow = service.definitions.workflow(context, identifier, string_of(body, "workflow_namespace") or "")
    execution = service.executions.start(
        workflow,
        context.project,
        json_object(body, "input", "wf_ex") or (source.input if source else {}),
        json_object(body, "params", "wf_ex") or (source.params if source else {}),
        string_of(body, "description") or "",
        key,
    )
    execution.source_execution_id = source_id
    service.runs.executions.save(execution)
    return Response(views.started_execution(execution), 201)


def execution_of(service: Workflows, request: Request) -> Execution:
    """Return the execution that the path names. Raises ApiError 404."""
    return visible(service.runs.executions, request.context, key(request))


def show_execution(service: Workflows, request: Request) -> Response:
    return Response(views.execution(execution_of(service, request)))


def change_execution(service: Workflows, request: Request) -> Response:
    row, body = execution_of(service, request), body_of(request, "wf_ex", _CHANGE)
    env = json_object(body, "params", "wf_ex").get("env")
    state, description = string_of(body, "state"), string_of(body, "description")
    if state is None and description is None and env is None:
        raise bad_request("The property state, description, or env is not provided for update.")
    if env is not None and not isinstance(env, dict):
        raise bad_request("The env of params must be an object.")
    if env is not None and row.state not in ("IDLE", "PAUSED", "ERROR"):
        raise bad_request(f"The environment can be updated in the states IDLE, PAUSED and ERROR only, not {row.state}.")
    if description is not None:
        if state is not None:
            raise bad_request("The property description must be updated separately from state.")
        row.description = description
        service.runs.changed(service.runs.executions, row)
    if env:
        row.env = {**row.env, **env}
        service.runs.changed(service.runs.executions, row)
    if state is not None:
        service.executions.change_state(row, state, string_of(body, "state_info", 65536))
    only_described = state is None and env is None
    return Response((views.described_execution if only_described else views.started_execution)(row))


def delete_execution(service: Workflows, request: Request) -> Response:
    row = execution_of(service, request)
    service.executions.remove(row, request.query.boolean("force") is True)
    return Response(status=204)


def list_executions_of(service: Workflows, request: Request) -> Response:
    execution = execution_of(service, request)
    rows = [row for row in service.runs.executions if row.root_execution_id == execution.id or row is execution]
    return executions_of(request, rows)
