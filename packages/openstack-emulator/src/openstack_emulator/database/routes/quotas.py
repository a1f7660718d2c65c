"""Quotas over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.database.routes.bodies import key_of
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.quotas import INITIAL
from openstack_emulator.database.views import quotas_view


def show(service: DatabaseService, request: Request) -> Response:
    project = key_of(request)
    if project != request.context.project_id:
        request.context.require()
    return Response({"quotas": quotas_view(service.quotas.limits_of(project), service.quotas.used_by(project))})


def update(service: DatabaseService, request: Request) -> Response:
    changes = {}
    for name, value in request.object("quotas").items():
        number = as_integer(value)
        if name not in INITIAL:
            raise not_found(f"Unknown quota resources {name}.")
        if number is None or number < -1:
            raise bad_request(f"Validation error: quotas['{name}'] is not a limit of {', '.join(INITIAL)} from -1 up.")
        changes[name] = number
    service.quotas.set_limits(key_of(request), changes)
    return Response({"quotas": changes})


def show_limits(service: DatabaseService, request: Request) -> Response:
    found = service.quotas.limits_of(request.context.project)
    return Response({"limits": [{"verb": "ABSOLUTE", **{f"max_{name}": limit for name, limit in found.items()}}]})
