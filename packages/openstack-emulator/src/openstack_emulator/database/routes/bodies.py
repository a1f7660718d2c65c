"""What handlers read of requests: bodies, and the project in the path."""

from __future__ import annotations

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response


def key_of(request: Request) -> str:
    """The ID in the path."""
    return request.vars["id"]


def only_object(request: Request) -> dict[str, object]:
    """The JSON object in the request's body. Raises ApiError 400."""
    if not isinstance(request.json, dict):
        raise bad_request("The request body must be a JSON object.")
    return request.json


def action_of(request: Request) -> tuple[str, object]:
    """The name and the arguments of the action in the request's body, `{name: arguments}`. Raises ApiError 400."""
    body = only_object(request)
    if len(body) != 1:
        raise bad_request("The request body must be a JSON object with one action in it.")
    ((name, arguments),) = body.items()
    return name, arguments


def within_project(routes: Routes) -> Routes:
    """Routes below a project's ID, which must be the caller's project; administrators may name any."""
    return {
        pattern: {method: _within_project(handler) for method, handler in methods.items()}
        for pattern, methods in routes.items()
    }


def _within_project(handler: Handler) -> Handler:
    def serve(records: object, request: Request) -> Response:
        caller, named = request.context, request.vars["project_id"]
        if caller.project != named and not caller.is_admin:
            raise forbidden(f"User with tenant ID {caller.project_id} cannot access tenant {named}.")
        return handler(records, request)

    return serve
