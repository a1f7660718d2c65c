"""The routes of workflows, workbooks, ad-hoc actions, members and environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openstack_emulator.core.component import merged, using
from openstack_emulator.core.error_bodies import TEXT
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import public
from openstack_emulator.workflow import views
from openstack_emulator.workflow.actions import ACTIONS
from openstack_emulator.workflow.definitions import Definitions
from openstack_emulator.workflow.environments import Environments
from openstack_emulator.workflow.fields import body_of, definition_of, text_of
from openstack_emulator.workflow.language import actions_of, workbook_of, workflows_of
from openstack_emulator.workflow.lists import everywhere, listing
from openstack_emulator.workflow.sharing import Sharing, scope_of

_TEXT_ANSWER = "application/json;charset=utf-8"
_MEMBER = frozenset({"member_id", "status"})
_ENVIRONMENT = frozenset({"name", "description", "variables", "scope"})


def _namespace(request: Request) -> str:
    return request.query.get("namespace") or ""


def _of_text(handler: Callable[[Definitions, Request], Response]) -> Callable[[Definitions, Request], Response]:
    """Return the handler of a request whose body is a definition: its answers have another media type."""

    def handle(definitions: Definitions, request: Request) -> Response:
        try:
            response = handler(definitions, request)
        except ApiError as error:
            error.kind, error.headers["Content-Type"] = TEXT, _TEXT_ANSWER
            raise
        response.headers["Content-Type"] = _TEXT_ANSWER
        return response

    return handle


def _scope(request: Request) -> str | None:
    given = request.query.get("scope")
    return scope_of(given, request.context) if given else None


# -- workflows ------------------------------------------------------------------------------------------------------


def list_workflows(definitions: Definitions, request: Request) -> Response:
    rows = definitions.sharing.listed(list(definitions.workflows), request.context, everywhere(request))
    return listing(request, rows, views.workflow, "workflows")


def create_workflows(definitions: Definitions, request: Request) -> Response:
    scope = _scope(request) or "private"
    made = definitions.create_workflows(request.context, definition_of(request), scope, _namespace(request))
    return Response({"workflows": [views.made_workflow(row) for row in made]}, 201)


def update_workflows(definitions: Definitions, request: Request) -> Response:
    changed = definitions.update_workflows(
        request.context, definition_of(request), _scope(request), _namespace(request), request.vars.get("id")
    )
    return Response({"workflows": [views.made_workflow(row) for row in changed]})


def show_workflow(definitions: Definitions, request: Request) -> Response:
    return Response(views.workflow(definitions.workflow(request.context, request.vars["id"], _namespace(request))))


def delete_workflow(definitions: Definitions, request: Request) -> Response:
    definitions.remove_workflow(request.context, request.vars["id"], _namespace(request))
    return Response(status=204)


def _validating(read: Callable[[str], Any]) -> Callable[[Definitions, Request], Response]:
    """Return the handler that checks a definition without storing it."""

    def validate(definitions: Definitions, request: Request) -> Response:
        try:
            read(text_of(request))
        except ApiError as error:
            return Response({"valid": False, "error": error.message})
        return Response({"valid": True})

    return validate


# -- workbooks and actions ------------------------------------------------------------------------------------------


def list_workbooks(definitions: Definitions, request: Request) -> Response:
    rows = definitions.sharing.listed(list(definitions.workbooks), request.context, everywhere(request))
    return listing(request, rows, views.workbook, "workbooks")


def create_workbook(definitions: Definitions, request: Request) -> Response:
    scope = _scope(request) or "private"
    made = definitions.create_workbook(request.context, definition_of(request), scope, _namespace(request))
    return Response(views.made(views.workbook(made)), 201)


def update_workbook(definitions: Definitions, request: Request) -> Response:
    return Response(
        views.workbook(definitions.update_workbook(request.context, definition_of(request), _scope(request)))
    )


def show_workbook(definitions: Definitions, request: Request) -> Response:
    return Response(views.workbook(definitions.workbook(request.context, request.vars["name"])))


def delete_workbook(definitions: Definitions, request: Request) -> Response:
    definitions.remove_workbook(request.context, request.vars["name"])
    return Response(status=204)


def _system_action(name: str) -> dict[str, Any]:
    action = ACTIONS[name]
    return {
        "id": name,
        "name": name,
        "namespace": "",
        "project_id": None,
        "scope": "public",
        "description": action.description,
        "tags": [],
        "definition": None,
        "created_at": None,
        "updated_at": None,
        "input": action.signature,
        "is_system": True,
    }


def list_actions(definitions: Definitions, request: Request) -> Response:
    rows = definitions.sharing.listed(list(definitions.actions), request.context, everywhere(request))
    shown = [*(_system_action(name) for name in ACTIONS), *(views.adhoc_action(row) for row in rows)]
    return listing(request, shown, dict, "actions")


def create_actions(definitions: Definitions, request: Request) -> Response:
    made = definitions.create_actions(request.context, definition_of(request), _scope(request) or "private")
    return Response({"actions": [views.made(views.adhoc_action(row)) for row in made]}, 201)


def update_actions(definitions: Definitions, request: Request) -> Response:
    changed = definitions.update_actions(request.context, definition_of(request), _scope(request))
    return Response({"actions": [views.adhoc_action(row) for row in changed]})


def show_action(definitions: Definitions, request: Request) -> Response:
    key = request.vars["id"]
    if key in ACTIONS:
        return Response(_system_action(key))
    return Response(views.adhoc_action(definitions.action(request.context, key)))


def delete_action(definitions: Definitions, request: Request) -> Response:
    definitions.remove_action(request.context, request.vars["id"])
    return Response(status=204)


# -- members ----------------------------------------------------------------------------------------------------------


def list_members(definitions: Definitions, request: Request) -> Response:
    row = definitions.workflows.require(request.vars["id"])
    found = definitions.sharing.of(row["id"], request.context)
    if not found and not definitions.sharing.sees(request.context, row):
        raise definitions.workflows.missing(row["id"])
    return Response({"members": [public(member) for member in found]})


def add_member(definitions: Definitions, request: Request) -> Response:
    row = definitions.workflow(request.context, request.vars["id"])
    body = body_of(request, "member_info", _MEMBER)
    member = definitions.sharing.add(row, request.context, body.get("member_id"))
    return Response(views.made(public(member)), 201)


def show_member(sharing: Sharing, request: Request) -> Response:
    return Response(public(sharing.member(request.vars["id"], request.vars["member_id"], request.context)))


def change_member(sharing: Sharing, request: Request) -> Response:
    member = sharing.member(request.vars["id"], request.vars["member_id"], request.context)
    body = body_of(request, "member_info", _MEMBER)
    sharing.decide(member, request.context, body.get("status"))
    return Response(public(member))


def remove_member(sharing: Sharing, request: Request) -> Response:
    member = sharing.member(request.vars["id"], request.vars["member_id"], request.context)
    sharing.remove(member, request.context)
    return Response(status=204)


# -- environments -----------------------------------------------------------------------------------------------------


def list_environments(environments: Environments, request: Request) -> Response:
    rows = environments.listed(request.context, everywhere(request))
    return listing(request, rows, views.environment, "environments")


def create_environment(environments: Environments, request: Request) -> Response:
    row = environments.create(request.context, body_of(request, "env", _ENVIRONMENT))
    return Response(views.made(views.environment(row)), 201)


def change_environment(environments: Environments, request: Request) -> Response:
    body = body_of(request, "env", _ENVIRONMENT)
    if not isinstance(body.get("name"), str):
        raise bad_request("The request must name an environment.")
    return Response(views.environment(environments.change(request.context, body)))


def show_environment(environments: Environments, request: Request) -> Response:
    return Response(views.environment(environments.require(request.context, request.vars["name"])))


def delete_environment(environments: Environments, request: Request) -> Response:
    environments.remove(request.context, request.vars["name"])
    return Response(status=204)


ROUTES = merged(
    using(
        Definitions,
        {
            "/workflows": {
                "GET": list_workflows,
                "POST": _of_text(create_workflows),
                "PUT": _of_text(update_workflows),
            },
            "/workflows/validate": {"POST": _of_text(_validating(workflows_of))},
            "/workflows/{id}": {"GET": show_workflow, "PUT": _of_text(update_workflows), "DELETE": delete_workflow},
            "/workflows/{id}/members": {"GET": list_members, "POST": add_member},
            "/workbooks": {"GET": list_workbooks, "POST": _of_text(create_workbook), "PUT": _of_text(update_workbook)},
            "/workbooks/validate": {"POST": _of_text(_validating(workbook_of))},
            "/workbooks/{name}": {"GET": show_workbook, "DELETE": delete_workbook},
            "/actions": {"GET": list_actions, "POST": _of_text(create_actions), "PUT": _of_text(update_actions)},
            "/actions/validate": {"POST": _of_text(_validating(actions_of))},
            "/actions/{id}": {"GET": show_action, "DELETE": delete_action},
        },
    ),
    using(
        Sharing,
        {"/workflows/{id}/members/{member_id}": {"GET": show_member, "PUT": change_member, "DELETE": remove_member}},
    ),
    using(
        Environments,
        {
            "/environments": {"GET": list_environments, "POST": create_environment, "PUT": change_environment},
            "/environments/{name}": {"GET": show_environment, "DELETE": delete_environment},
        },
    ),
)
