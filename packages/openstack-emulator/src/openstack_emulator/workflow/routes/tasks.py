"""Tasks of executions."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.workflow import views
from openstack_emulator.workflow.records import Task
from openstack_emulator.workflow.routes.executions import execution_of, executions_of
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of, json_object

_CHANGE = frozenset({"id", "name", "workflow_name", "state", "reset", "env"})


def _tasks(service: Workflows, request: Request, rows: list[Task]) -> Response:
    return list_response(request, rows, lambda row: views.task(service.runs, row), "tasks", ("result",))


def list_tasks_of(service: Workflows, request: Request) -> Response:
    return _tasks(service, request, service.runs.tasks_of(execution_of(service, request)))


def list_tasks(service: Workflows, request: Request) -> Response:
    return _tasks(service, request, listed(service, request, list(service.runs.tasks)))


def _task(service: Workflows, request: Request) -> Task:
    return visible(service.runs.tasks, request.context, key(request))


def show_task(service: Workflows, request: Request) -> Response:
    return Response(views.task(service.runs, _task(service, request)))


def rerun_task(service: Workflows, request: Request) -> Response:
    """Run a failed task again: the state must be RUNNING."""
    row = _task(service, request)
    body = body_of(request, "task", _CHANGE)
    if body.get("state") != "RUNNING":
        raise bad_request(f"Invalid task state: {body.get('state')}; only updating a task to RUNNING is supported.")
    reset = body.get("reset", True)
    if not reset and row.items is None:
        raise bad_request("Only with-items task has the option to not reset.")
    service.executions.rerun(row, bool(reset), json_object(body, "env", "task"))
    return Response(views.task(service.runs, row))


def list_actions_of(service: Workflows, request: Request) -> Response:
    rows = service.runs.actions.select(task_execution_id=_task(service, request).id)
    return list_response(request, rows, views.action_execution, "action_executions", ("output",))


def list_workflows_of(service: Workflows, request: Request) -> Response:
    return executions_of(request, service.runs.executions.select(task_execution_id=_task(service, request).id))
