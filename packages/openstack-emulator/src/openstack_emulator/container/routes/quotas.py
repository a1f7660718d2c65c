"""Quotas over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.container.routes.description import described
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.container.rules.quotas import DEFAULTS
from openstack_emulator.core.error_bodies import POLICY
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_integer

_FORMS = dict.fromkeys(DEFAULTS, fields.integer(-1))


def _project(request: Request) -> str:
    project: str = request.vars["project_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow quota:get to be performed.", POLICY)
    return project


def show(service: SingleContainers, request: Request) -> Response:
    project = _project(request)
    limits: dict[str, Any] = service.quotas.limits_of(project)
    if request.query.boolean("usages"):
        used = service.quotas.used(project)
        limits = {name: {"limit": limit, "in_use": used[name]} for name, limit in limits.items()}
    return Response(limits)


def show_defaults(service: SingleContainers, request: Request) -> Response:
    _project(request)
    return Response(service.quotas.default_limits())


def change(service: SingleContainers, request: Request) -> Response:
    request.context.require()
    limits, project = described(request, _FORMS), _project(request)
    service.quotas.set_limits(project, {name: as_integer(value) or 0 for name, value in limits.items()})
    return Response(service.quotas.limits_of(project))


def reset(service: SingleContainers, request: Request) -> Response:
    request.context.require()
    service.quotas.reset_limits(_project(request))
    return Response(b"null", headers={"Content-Type": "application/json"})
