"""Quotas over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import integer
from openstack_emulator.dns.routes.bodies import body_of
from openstack_emulator.dns.routes.callers import administrator_of, caller_of
from openstack_emulator.dns.routes.lists import LARGEST_LIMIT
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.rules.quotas import LIMITS, UNLIMITED
from openstack_emulator.dns.views import limits_view
from openstack_emulator.identity.rules.composition import Identity

_FIELDS = {name: integer(UNLIMITED, 2**31 - 1) for name in LIMITS}


def _project(request: Request) -> str:
    """Return the project that the path names: other ones than the caller's only for administrators, on request."""
    caller, project = caller_of(request), request.vars["project_id"]
    if project != caller.project_id and not caller.all_projects:
        raise forbidden("")
    return project


def show_own(names: DomainNames, request: Request) -> Response:
    return Response(names.quotas.limits_of(caller_of(request).project_id))


def show(names: DomainNames, request: Request) -> Response:
    return Response(names.quotas.limits_of(_project(request)))


def update(names: DomainNames, request: Request) -> Response:
    administrator_of(request)
    project = _project(request)
    if names.cloud.of(Identity).projects.rows.get(project) is None:
        raise ApiError(400, f"{project} is not a valid project ID.", "invalid_project")
    changes = {name: int(value) for name, value in body_of(request, "quota", _FIELDS).items()}
    names.quotas.set_limits(project, changes)
    return Response(names.quotas.limits_of(project))


def reset(names: DomainNames, request: Request) -> Response:
    administrator_of(request)
    names.quotas.reset_limits(request.vars["project_id"])
    return Response(status=204)


def show_limits(names: DomainNames, request: Request) -> Response:
    return Response(limits_view(names.quotas.limits_of(caller_of(request).project_id), LARGEST_LIMIT))
