"""Environments."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.workflow import views
from openstack_emulator.workflow.routes.lists import key, list_response, listed
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of

_ENVIRONMENT = frozenset({"name", "description", "variables", "scope"})


def list_environments(service: Workflows, request: Request) -> Response:
    rows = listed(service, request, list(service.environments.rows))
    return list_response(request, rows, views.environment, "environments")


def create_environment(service: Workflows, request: Request) -> Response:
    row = service.environments.create(request.context, body_of(request, "env", _ENVIRONMENT))
    return Response(views.made(views.environment(row)), 201)


def change_environment(service: Workflows, request: Request) -> Response:
    body = body_of(request, "env", _ENVIRONMENT)
    if not isinstance(body.get("name"), str):
        raise bad_request("The request must name an environment.")
    return Response(views.environment(service.environments.change(request.context, body)))


def show_environment(service: Workflows, request: Request) -> Response:
    return Response(views.environment(service.environments.require(request.context, key(request))))


def delete_environment(service: Workflows, request: Request) -> Response:
    service.environments.remove(request.context, key(request))
    return Response(status=204)
