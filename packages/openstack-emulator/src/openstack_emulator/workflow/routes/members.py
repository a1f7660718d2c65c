"""Members: the projects that a workflow is shared with."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.typed import to_public
from openstack_emulator.workflow import views
from openstack_emulator.workflow.records import Member
from openstack_emulator.workflow.routes.lists import key
from openstack_emulator.workflow.rules.composition import Workflows
from openstack_emulator.workflow.rules.fields import body_of

_MEMBER = frozenset({"member_id", "status"})


def list_members(service: Workflows, request: Request) -> Response:
    row = service.definitions.workflows.require(key(request))
    found = service.sharing.of(row.id, request.context)
    if not found and not service.sharing.is_visible(request.context, row):
        raise service.definitions.workflows.missing(row.id)
    return Response({"members": [to_public(member) for member in found]})


def add_member(service: Workflows, request: Request) -> Response:
    row = service.definitions.workflow(request.context, key(request))
    body = body_of(request, "member_info", _MEMBER)
    member = service.sharing.add(row, request.context, body.get("member_id"))
    return Response(views.made(to_public(member)), 201)


def _member(service: Workflows, request: Request) -> Member:
    return service.sharing.member(key(request), request.vars["member_id"], request.context)


def show_member(service: Workflows, request: Request) -> Response:
    return Response(to_public(_member(service, request)))


def change_member(service: Workflows, request: Request) -> Response:
    member = _member(service, request)
    body = body_of(request, "member_info", _MEMBER)
    service.sharing.decide(member, request.context, body.get("status"))
    return Response(to_public(member))


def remove_member(service: Workflows, request: Request) -> Response:
    member = _member(service, request)
    service.sharing.remove(member, request.context)
    return Response(status=204)
