"""Who shares an image, over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.image.records import Member
from openstack_emulator.image.routes.images import owned, visible
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.views import member_view

STATUSES = ("pending", "accepted", "rejected")


def create(service: ImageService, request: Request) -> Response:
    body = request.json
    project_id = body.get("member") if isinstance(body, dict) else None
    if not isinstance(project_id, str) or not project_id:
        raise bad_request("Member to be added not specified")
    return Response(member_view(service.members.add(owned(service, request, "add_member"), project_id)))


def index(service: ImageService, request: Request) -> Response:
    rows = service.members.of(request.context, visible(service, request))
    return Response({"members": [member_view(row) for row in rows], "schema": "/v2/schemas/members"})


def show(service: ImageService, request: Request) -> Response:
    return Response(member_view(_member(service, request)))


def update(service: ImageService, request: Request) -> Response:
    """The member itself says whether it accepts."""
    member = _member(service, request)
    body = request.json
    status = body.get("status") if isinstance(body, dict) else None
    if status not in STATUSES:
        raise bad_request('Incorrect request: Status must be "pending", "accepted" or "rejected".')
    service.members.answer(request.context, member, status)
    return Response(member_view(member))


def delete(service: ImageService, request: Request) -> Response:
    member = _member(service, request)
    owned(service, request, "delete_member")
    service.members.rows.remove(member)
    return Response(status=204)


def _member(service: ImageService, request: Request) -> Member:
    return service.members.visible(request.context, visible(service, request), request.vars["member_id"])
