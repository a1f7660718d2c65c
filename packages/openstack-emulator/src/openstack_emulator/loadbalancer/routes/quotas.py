"""Quotas over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.core.validation.fields import integer, optional
from openstack_emulator.loadbalancer.routes import checks
from openstack_emulator.loadbalancer.routes.lists import list_response
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing
from openstack_emulator.loadbalancer.views import QUOTA_ALIASES, limits_view, quota_view

_LIMIT = optional(integer(-1, 2_147_483_647))


def index(service: LoadBalancing, request: Request) -> Response:
    rows = [quota_view(service, key) for key in service.quotas.projects()]
    return list_response(request, "quotas", rows, "project_id")


def show(service: LoadBalancing, request: Request) -> Response:
    key = _project(request)
    if not request.context.is_admin and key != request.context.project_id:
        raise forbidden("Policy does not allow this request to be performed.")
    return Response({"quota": quota_view(service, key)})


def show_default(service: LoadBalancing, request: Request) -> Response:
    return Response({"quota": limits_view(service.quotas.default_limits())})


def update(service: LoadBalancing, request: Request) -> Response:
    names = {alias: name for name, alias in QUOTA_ALIASES.items()}
    initial, body = service.quotas.initial(), request.object("quota")
    checks.GIVEN.check("quota", body, dict.fromkeys([*initial, *names], _LIMIT))
    changes: dict[str, int] = {}
    for requested_name, value in body.items():
        name, number = names.get(requested_name, requested_name), as_integer(value)
        changes[name] = initial[name] if number is None else number
    key = _project(request)
    service.quotas.set_limits(key, changes)
    return Response({"quota": quota_view(service, key)}, 202)


def reset(service: LoadBalancing, request: Request) -> Response:
    service.quotas.reset_limits(_project(request))
    return Response(status=202)


def _project(request: Request) -> str:
    return request.vars["project_id"]
