"""Who shares an image."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.image.errors import unauthorized
from openstack_emulator.image.records import ImageRecords
from openstack_emulator.image.views import member_view

STATUSES = ("pending", "accepted", "rejected")


def create(images: ImageRecords, request: Request) -> Response:
    body = request.json
    project_id = body.get("member") if isinstance(body, dict) else None
    if not isinstance(project_id, str) or not project_id:
        raise bad_request("Member to be added not specified")
    image = images.owned_image(request.context, request.vars["image_id"], "add_member")
    return Response(member_view(images.share(image, project_id)))


def index(images: ImageRecords, request: Request) -> Response:
    """All members for the owner, the own membership for a member."""
    context = request.context
    image = images.image_in(context, request.vars["image_id"])
    if image["visibility"] != "shared":
        raise forbidden("Only shared images have members.")
    mine = context.may_see(image)
    rows = [m for m in images.members.select(image_id=image["id"]) if mine or m["project_id"] == context.project_id]
    return Response({"members": [member_view(row) for row in rows], "schema": "/v2/schemas/members"})


def show(images: ImageRecords, request: Request) -> Response:
    return Response(member_view(_member(images, request)))


def update(images: ImageRecords, request: Request) -> Response:
    """The member itself says whether it accepts."""
    member = _member(images, request)
    body = request.json
    status = body.get("status") if isinstance(body, dict) else None
    if status not in STATUSES:
        raise bad_request('Incorrect request: Status must be "pending", "accepted" or "rejected".')
    context = request.context
    if member["project_id"] != context.project_id and not context.is_admin:
        raise unauthorized("modify_member")
    images.members.update(member, status=status, updated_at=images.timestamp())
    return Response(member_view(member))


def delete(images: ImageRecords, request: Request) -> Response:
    member = _member(images, request)
    images.owned_image(request.context, member["image_id"], "delete_member")
    images.members.remove(member)
    return Response(status=204)


def _member(images: ImageRecords, request: Request) -> Record:
    """The member of the path, for the owner and for itself; others get a 404."""
    context = request.context
    image = images.image_in(context, request.vars["image_id"])
    project_id = request.vars["member_id"]
    member = images.members.get(f"{image['id']}:{project_id}")
    if member is None or not (context.may_see(image) or project_id == context.project_id):
        raise not_found(f"{project_id} not found in the member list of the image {image['id']}.")
    return member
