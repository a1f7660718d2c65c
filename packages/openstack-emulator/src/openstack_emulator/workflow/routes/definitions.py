"""Workflows, workbooks and ad-hoc actions: their definitions."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core.error_bodies import TEXT
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.workflow import views
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.actions import ACTIONS
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import definition_of, text_of
from openstack_emulator.workflow.rules.sharing import scope_of

_TEXT_ANSWER = "application/json;charset=utf-8"


def _namespace(request: Request) -> str:
    return request.query.get("namespace") or ""


def of_text(handler: Callable[[Workflows, Request], Response]) -> Callable[[Workflows, Request], Response]:
    """Return the handler of a request whose body is a definition: its answers have another media type."""

    def handle(service: Workflows, request: Request) -> Response:
        try:
            response = handler(service, request)
        except ApiError as error:
            error.kind, error.headers["Content-Type"] = TEXT, _TEXT_ANSWER
            raise
        response.headers["Content-Type"] = _TEXT_ANSWER
        return response

    return handle


def _scope(request: Request) -> str | None:
    scope = request.query.get("scope")
    return scope_of(scope, request.context) if scope else None


def list_workflows(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.definitions.workflows))
    return list_response(request, rows, views.workflow, "workflows")


def create_workflows(service: Workflows, request: Request) -> Response:
    scope = _scope(request) or "private"
    definitions = service.definitions.create_workflows(
        request.context, definition_of(request), scope, _namespace(request)
    )
    return Response({"workflows": [views.made_workflow(row) for row in definitions]}, 201)


def update_workflows(service: Workflows, request: Request) -> Response:
    changed = service.definitions.update_workflows(
        request.context, definition_of(request), _scope(request), _namespace(request), request.vars.get("id")
    )
    return Response({"workflows": [views.made_workflow(row) for row in changed]})


def show_workflow(service: Workflows, request: Request) -> Response:
    return Response(views.workflow(service.definitions.workflow(request.context, key(request), _namespace(request))))


def delete_workflow(service: Workflows, request: Request) -> Response:
    service.definitions.remove_workflow(request.context, key(request), _namespace(request))
    return Response(status=204)


def validating(read: Callable[[str], object]) -> Callable[[Workflows, Request], Response]:
    """Return the handler that checks a definition without storing it."""

    def validate(service: Workflows, request: Request) -> Response:
        try:
            read(text_of(request))
        except ApiError as error:
            return Response({"valid": False, "error": error.message})
        return Response({"valid": True})

    return validate


# -- workbooks and actions ---------------------------------------------------------------------------------------------


def list_workbooks(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.definitions.workbooks))
    return list_response(request, rows, views.workbook, "workbooks")


def create_workbook(service: Workflows, request: Request) -> Response:
    scope = _scope(request) or "private"
    workbook = service.definitions.create_workbook(request.context, definition_of(request), scope, _namespace(request))
    return Response(views.made(views.workbook(workbook)), 201)


def update_workbook(service: Workflows, request: Request) -> Response:
    return Response(
        views.workbook(service.definitions.update_workbook(request.context, definition_of(request), _scope(request)))
    )


def show_workbook(service: Workflows, request: Request) -> Response:
    return Response(views.workbook(service.definitions.workbook(request.context, key(request))))


def delete_workbook(service: Workflows, request: Request) -> Response:
    service.definitions.remove_workbook(request.context, key(request))
    return Response(status=204)


def list_actions(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.definitions.actions))
    shown = [*(views.system_action(name) for name in ACTIONS), *(views.adhoc_action(row) for row in rows)]
    return list_response(request, shown, dict, "actions")


def create_actions(service: Workflows, request: Request) -> Response:
    actions = service.definitions.create_actions(request.context, definition_of(request), _scope(request) or "private")
    return Response({"actions": [views.made(views.adhoc_action(row)) for row in actions]}, 201)


def update_actions(service: Workflows, request: Request) -> Response:
    changed = service.definitions.update_actions(request.context, definition_of(request), _scope(request))
    return Response({"actions": [views.adhoc_action(row) for row in changed]})


def show_action(service: Workflows, request: Request) -> Response:
    name = key(request)
    if name in ACTIONS:
        return Response(views.system_action(name))
    return Response(views.adhoc_action(service.definitions.action(request.context, name)))


def delete_action(service: Workflows, request: Request) -> Response:
    service.definitions.remove_action(request.context, key(request))
    return Response(status=204)
