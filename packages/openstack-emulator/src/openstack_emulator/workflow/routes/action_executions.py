"""Action executions, of tasks and by themselves."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.workflow import views
from openstack_emulator.workflow.records import ActionExecution
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.actions import ACTIONS, ActionError
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of, json_object, json_value, string_of

_ACTION_CALL = frozenset({"name", "input", "description", "params"})
_ACTION_RESULT = frozenset({"id", "state", "output", "input", "name"})


def list_action_executions(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.runs.actions))
    return list_response(request, rows, views.action_execution, "action_executions", ("output",))


def create_action_execution(service: Workflows, request: Request) -> Response:
    """Run an action without a workflow. The response has the result, unless the action is asynchronous or `save_result`
    without `run_sync` is requested; without `save_result`, a result in a response is not kept.
    """
    context, body = request.context, body_of(request, "action_ex", _ACTION_CALL)
    name, params = string_of(body, "name"), json_object(body, "params", "action_ex")
    if unknown := sorted(params.keys() - {"run_sync", "save_result"}):
        raise bad_request(f"The emulator does not support the parameter {unknown[0]} of an action.")
    if not name:
        raise bad_request("Please provide at least action name to run action.")
    adhoc = service.definitions.find_action(context.project, name)
    if name not in ACTIONS and adhoc is None:
        raise bad_request(f"Failed to find action [action_name={name}]")
    action = ACTIONS.get(name if adhoc is None else adhoc.spec.base)
    waits, saved = params.get("run_sync") is True, params.get("save_result") is True
    synchronous = action is None or action.synchronous
    if waits and not synchronous:
        raise bad_request(f"Action does not support synchronous execution: {name}")
    values, running = json_object(body, "input", "action_ex"), service.actions
    try:
        running.check_input(name, values, context.project)
    except ActionError as error:
        raise bad_request(str(error)) from None
    in_response = synchronous and (waits or not saved)
    row = (running.create if in_response else running.start)(name, values, context.project, None)
    row.description = string_of(body, "description")
    service.runs.actions.save(row)
    if not in_response:
        return Response(views.action_execution(row), 201)
    return Response(status=201, later=_result(service, row, saved))


async def _result(service: Workflows, row: ActionExecution, saved: bool) -> dict[str, object]:
    """Run an action; return what the response shows."""
    await service.actions.run_to_end(row)
    if not saved:
        service.runs.actions.remove(row)
    return views.executed_action(row, saved)


def _action(service: Workflows, request: Request) -> ActionExecution:
    return visible(service.runs.actions, request.context, key(request))


def show_action_execution(service: Workflows, request: Request) -> Response:
    return Response(views.action_execution(_action(service, request)))


def change_action_execution(service: Workflows, request: Request) -> Response:
    """Report the result of an action that is executed elsewhere."""
    row, body = _action(service, request), body_of(request, "action_ex", _ACTION_RESULT)
    service.actions.change(row, str(body.get("state")), json_value(body.get("output"), "output"))
    return Response(views.action_execution(row))


def delete_action_execution(service: Workflows, request: Request) -> Response:
    """Refuse the request, as Mistral does unless its configuration allows it (`allow_action_execution_deletion`)."""
    raise ApiError(403, "Action execution deletion is not allowed.")
