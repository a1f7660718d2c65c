"""The routes of executions, tasks, action executions and cron triggers."""

from __future__ import annotations

import re
from typing import Any

from openstack_emulator.core.component import visible
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.workflow import views
from openstack_emulator.workflow.actions import ACTIONS, ActionError
from openstack_emulator.workflow.fields import body_of, json_object, json_value, string_of
from openstack_emulator.workflow.lists import everywhere, listing
from openstack_emulator.workflow.records import WorkflowRecords
from openstack_emulator.workflow.runs import missing_execution

_UUID = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\Z", re.IGNORECASE)
_EXECUTION = frozenset({
    "id", "workflow_id", "workflow_name", "workflow_namespace", "source_execution_id", "input", "params", "description",
})  # fmt: skip
_ACTION_CALL = frozenset({"name", "input", "description", "params"})
_ACTION_RESULT = frozenset({"id", "state", "output", "input", "name"})
_TRIGGER = frozenset({
    "name", "workflow_name", "workflow_id", "workflow_input", "workflow_params", "pattern", "first_execution_time",
    "remaining_executions", "scope",
})  # fmt: skip


def _listed(mistral: WorkflowRecords, request: Request, rows: list[Record]) -> list[Record]:
    return mistral.sharing.listed(rows, request.context, everywhere(request))


# -- executions -----------------------------------------------------------------------------------------------------


def list_executions(mistral: WorkflowRecords, request: Request) -> Response:
    rows = _listed(mistral, request, list(mistral.runs.executions))
    return _executions(request, rows)


def _executions(request: Request, rows: list[Record]) -> Response:
    return listing(request, rows, views.execution, "executions", ("output", "published_global"))


def create_execution(mistral: WorkflowRecords, request: Request) -> Response:
    context, body = request.context, body_of(request, "wf_ex", _EXECUTION)
    key = string_of(body, "id", 36)
    if key is not None and not _UUID.match(key):
        raise missing_execution(key)
    known = mistral.runs.executions.get(key or "")
    if known is not None:
        if not context.may_see(known):
            raise conflict(f"The id {key} is in use.")
        return Response(views.started_execution(known), 201)
    source_id = string_of(body, "source_execution_id", 36)
    source = visible(mistral.runs.executions, context, source_id) if source_id else None
    identifier = body.get("workflow_id") or body.get("workflow_name") or (source or {}).get("workflow_id")
    if not isinstance(identifier, str):
        raise bad_request("Workflow ID or workflow name must be provided. Workflow ID is recommended.")
    workflow = mistral.definitions.workflow(context, identifier, string_of(body, "workflow_namespace") or "")
    made = mistral.execution_starter.start(
        workflow,
        context.project,
        json_object(body, "input", "wf_ex") or (source or {}).get("input", {}),
        json_object(body, "params", "wf_ex") or (source or {}).get("params", {}),
        string_of(body, "description") or "",
        key,
    )
    mistral.runs.executions.update(made, source_execution_id=source_id)
    return Response(views.started_execution(made), 201)


def _execution(mistral: WorkflowRecords, request: Request) -> Record:
    return visible(mistral.runs.executions, request.context, request.vars["id"])


def show_execution(mistral: WorkflowRecords, request: Request) -> Response:
    return Response(views.execution(_execution(mistral, request)))


def change_execution(mistral: WorkflowRecords, request: Request) -> Response:
    row, body = (
        _execution(mistral, request),
        body_of(request, "wf_ex", frozenset({"state", "state_info", "description", "params"})),
    )
    env = json_object(body, "params", "wf_ex").get("env")
    state, description = string_of(body, "state"), string_of(body, "description")
    if state is None and description is None and env is None:
        raise bad_request("The property state, description, or env is not provided for update.")
    if env is not None and not isinstance(env, dict):
        raise bad_request("The env of params must be an object.")
    if env is not None and row["state"] not in ("IDLE", "PAUSED", "ERROR"):
        raise bad_request(
            f"The environment can be updated in the states IDLE, PAUSED and ERROR only, not {row['state']}."
        )
    if description is not None:
        if state is not None:
            raise bad_request("The property description must be updated separately from state.")
        mistral.runs.change(mistral.runs.executions, row, description=description)
    if env:
        mistral.runs.change(mistral.runs.executions, row, _env={**row["_env"], **env})
    if state is not None:
        mistral.execution_starter.change_state(row, state, string_of(body, "state_info", 65536))
    only_described = state is None and env is None
    return Response((views.described_execution if only_described else views.started_execution)(row))


def delete_execution(mistral: WorkflowRecords, request: Request) -> Response:
    row = _execution(mistral, request)
    mistral.execution_starter.remove(row, request.query.boolean("force") is True)
    return Response(status=204)


def list_tasks_of(mistral: WorkflowRecords, request: Request) -> Response:
    return _tasks(mistral, request, mistral.runs.tasks_of(_execution(mistral, request)))


def list_executions_of(mistral: WorkflowRecords, request: Request) -> Response:
    execution = _execution(mistral, request)
    rows = [row for row in mistral.runs.executions if row["root_execution_id"] == execution["id"] or row is execution]
    return _executions(request, rows)


# -- tasks ----------------------------------------------------------------------------------------------------------


def _tasks(mistral: WorkflowRecords, request: Request, rows: list[Record]) -> Response:
    return listing(request, rows, lambda row: views.task(mistral.runs, row), "tasks", ("result",))


def list_tasks(mistral: WorkflowRecords, request: Request) -> Response:
    return _tasks(mistral, request, _listed(mistral, request, list(mistral.runs.tasks)))


def _task(mistral: WorkflowRecords, request: Request) -> Record:
    return visible(mistral.runs.tasks, request.context, request.vars["id"])


def show_task(mistral: WorkflowRecords, request: Request) -> Response:
    return Response(views.task(mistral.runs, _task(mistral, request)))


def rerun_task(mistral: WorkflowRecords, request: Request) -> Response:
    """Run a failed task again: the state must be RUNNING."""
    row = _task(mistral, request)
    body = body_of(request, "task", frozenset({"id", "name", "workflow_name", "state", "reset", "env"}))
    if body.get("state") != "RUNNING":
        raise bad_request(f"Invalid task state: {body.get('state')}; only updating a task to RUNNING is supported.")
    reset = body.get("reset", True)
    if not reset and row["_items"] is None:
        raise bad_request("Only with-items task has the option to not reset.")
    mistral.execution_starter.rerun(row, bool(reset), json_object(body, "env", "task"))
    return Response(views.task(mistral.runs, row))


def list_actions_of(mistral: WorkflowRecords, request: Request) -> Response:
    rows = mistral.runs.actions.select(task_execution_id=_task(mistral, request)["id"])
    return listing(request, rows, views.action_execution, "action_executions", ("output",))


def list_workflows_of(mistral: WorkflowRecords, request: Request) -> Response:
    return _executions(request, mistral.runs.executions.select(task_execution_id=_task(mistral, request)["id"]))


# -- action executions ----------------------------------------------------------------------------------------------


def list_action_executions(mistral: WorkflowRecords, request: Request) -> Response:
    rows = _listed(mistral, request, list(mistral.runs.actions))
    return listing(request, rows, views.action_execution, "action_executions", ("output",))


def create_action_execution(mistral: WorkflowRecords, request: Request) -> Response:
    """Run an action without a workflow. The response has the result, unless the action is asynchronous or `save_result`
    without `run_sync` is wanted; without `save_result`, a result in a response is not kept.
    """
    context, body = request.context, body_of(request, "action_ex", _ACTION_CALL)
    name, params = string_of(body, "name"), json_object(body, "params", "action_ex")
    if unknown := sorted(params.keys() - {"run_sync", "save_result"}):
        raise bad_request(f"The emulator does not support the parameter {unknown[0]} of an action.")
    if not name:
        raise bad_request("Please provide at least action name to run action.")
    adhoc = mistral.definitions.find_action(context.project, name)
    if name not in ACTIONS and adhoc is None:
        raise bad_request(f"Failed to find action [action_name={name}]")
    action = ACTIONS.get(name if adhoc is None else adhoc["_spec"]["base"])
    waits, saved = params.get("run_sync") is True, params.get("save_result") is True
    synchronous = action is None or action.synchronous
    if waits and not synchronous:
        raise bad_request(f"Action does not support synchronous execution: {name}")
    given, running = json_object(body, "input", "action_ex"), mistral.running_actions
    try:
        running.check_input(name, given, context.project)
    except ActionError as error:
        raise bad_request(str(error)) from None
    in_response = synchronous and (waits or not saved)
    row = (running.create if in_response else running.start)(name, given, context.project, None)
    mistral.runs.actions.update(row, description=string_of(body, "description"))
    if not in_response:
        return Response(views.action_execution(row), 201)
    return Response(status=201, later=_result(mistral, row, saved))


async def _result(mistral: WorkflowRecords, row: Record, saved: bool) -> dict[str, Any]:
    """Run an action; return what the response shows."""
    await mistral.running_actions.run_to_end(row)
    if not saved:
        mistral.runs.actions.remove(row)
    return views.executed_action(row, saved)


def _action(mistral: WorkflowRecords, request: Request) -> Record:
    return visible(mistral.runs.actions, request.context, request.vars["id"])


def show_action_execution(mistral: WorkflowRecords, request: Request) -> Response:
    return Response(views.action_execution(_action(mistral, request)))


def change_action_execution(mistral: WorkflowRecords, request: Request) -> Response:
    """Report the result of an action that is executed elsewhere."""
    row, body = _action(mistral, request), body_of(request, "action_ex", _ACTION_RESULT)
    mistral.running_actions.change(row, str(body.get("state")), json_value(body.get("output"), "output"))
    return Response(views.action_execution(row))


def delete_action_execution(mistral: WorkflowRecords, request: Request) -> Response:
    """Refuse the request, as Mistral does unless its configuration allows it (`allow_action_execution_deletion`)."""
    raise ApiError(403, "Action execution deletion is not allowed.")


# -- cron triggers --------------------------------------------------------------------------------------------------


def list_triggers(mistral: WorkflowRecords, request: Request) -> Response:
    return listing(request, _listed(mistral, request, list(mistral.triggers.rows)), views.trigger, "cron_triggers")


def create_trigger(mistral: WorkflowRecords, request: Request) -> Response:
    body: dict[str, Any] = body_of(request, "cron_trigger", _TRIGGER)
    return Response(views.made(views.trigger(mistral.triggers.create(request, body))), 201)


def show_trigger(mistral: WorkflowRecords, request: Request) -> Response:
    return Response(views.trigger(mistral.triggers.require(request.context, request.vars["id"])))


def delete_trigger(mistral: WorkflowRecords, request: Request) -> Response:
    mistral.triggers.remove(mistral.triggers.require(request.context, request.vars["id"]))
    return Response(status=204)


ROUTES = {
    "/executions": {"GET": list_executions, "POST": create_execution},
    "/executions/{id}": {"GET": show_execution, "PUT": change_execution, "DELETE": delete_execution},
    "/executions/{id}/tasks": {"GET": list_tasks_of},
    "/executions/{id}/executions": {"GET": list_executions_of},
    "/tasks": {"GET": list_tasks},
    "/tasks/{id}": {"GET": show_task, "PUT": rerun_task},
    "/tasks/{id}/action_executions": {"GET": list_actions_of},
    "/tasks/{id}/workflow_executions": {"GET": list_workflows_of},
    "/action_executions": {"GET": list_action_executions, "POST": create_action_execution},
    "/action_executions/{id}": {
        "GET": show_action_execution,
        "PUT": change_action_execution,
        "DELETE": delete_action_execution,
    },
    "/cron_triggers": {"GET": list_triggers, "POST": create_trigger},
    "/cron_triggers/{id}": {"GET": show_trigger, "DELETE": delete_trigger},
}
