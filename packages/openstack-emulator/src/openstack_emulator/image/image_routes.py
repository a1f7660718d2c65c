"""Images: create, list, show, change, delete; tags; deactivation."""

from __future__ import annotations

from urllib.parse import urlencode

from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.http import Context, Query, Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Record
from openstack_emulator.image.attributes import WRITABLE, check
from openstack_emulator.image.errors import EXPLANATIONS, detailed, unauthorized
from openstack_emulator.image.filters import filtered, sorted_images
from openstack_emulator.image.patch import applied, changes_of, created
from openstack_emulator.image.records import IMPORT_NEEDS, STORES, ImageRecords
from openstack_emulator.image.views import image_view

PAGE_SIZE = "25"


def create(images: ImageRecords, request: Request) -> Response:
    wanted, owner = created(request.json)
    context = request.context
    if owner is not None and owner != context.project_id and not context.is_admin:
        raise detailed(403, f"You are not permitted to create images owned by '{owner}'")
    refuse_publishing(context, wanted)
    image = images.create(owner or context.project, wanted)
    headers = {
        "Location": f"{request.base}/v2/images/{image['id']}",
        "OpenStack-image-import-methods": ",".join(IMPORT_NEEDS),
        "OpenStack-image-store-ids": ",".join(STORES),
    }
    return Response(image_view(image), 201, headers)


def index(images: ImageRecords, request: Request) -> Response:
    query = request.query
    rows = sorted_images(filtered(candidates(images, request.context, query), query), query)
    _check_limit(query)
    paged = query if "limit" in query else Query(f"{request.query_string}&limit={PAGE_SIZE}")
    shown = page(rows, paged, missing=lambda marker: bad_request(f"No image found with ID {marker}"))
    kept = urlencode([pair for pair in query.pairs if pair[0] != "marker"])
    body = {
        "images": [image_view(image) for image in shown.rows],
        "first": f"/v2/images?{kept}" if kept else "/v2/images",
        "schema": "/v2/schemas/images",
    }
    if shown.next_marker is not None:
        body["next"] = f"/v2/images?{query.with_marker(shown.next_marker)}"
    return Response(body)


def _check_limit(query: Query) -> None:
    try:
        limit = int(query.get("limit") or 0)
    except ValueError:
        raise bad_request("limit param must be an integer") from None
    if limit < 0:
        raise bad_request("limit param must be positive")


def show(images: ImageRecords, request: Request) -> Response:
    return Response(image_view(images.image_in(request.context, request.vars["image_id"])))


def update(images: ImageRecords, request: Request) -> Response:
    changes = changes_of(request)
    context = request.context
    image = images.owned_image(context, request.vars["image_id"])
    fields = applied(image, changes)
    refuse_publishing(context, fields)
    if fields.get("project_id", image["project_id"]) != image["project_id"] and not context.is_admin:
        raise forbidden("You are not permitted to change the owner of this image.")
    images.change(image, fields)
    return Response(image_view(image))


def delete(images: ImageRecords, request: Request) -> Response:
    image_id = request.vars["image_id"]
    try:
        image = images.owned_image(request.context, image_id, "delete_image")
    except ApiError as error:
        if error.status == 404:
            error.message = f"Failed to find image {image_id} to delete"
        raise
    images.delete(image)
    return Response(status=204)


def deactivate(images: ImageRecords, request: Request) -> Response:
    images.set_active(images.owned_image(request.context, request.vars["image_id"], "deactivate"), "deactivated")
    return Response(status=204)


def reactivate(images: ImageRecords, request: Request) -> Response:
    images.set_active(images.owned_image(request.context, request.vars["image_id"], "reactivate"), "active")
    return Response(status=204)


def add_tag(images: ImageRecords, request: Request) -> Response:
    image = images.owned_image(request.context, request.vars["image_id"])
    check("tags", [request.vars["tag"]])
    images.set_tags(image, [*image["tags"], request.vars["tag"]])
    return Response(status=204)


def remove_tag(images: ImageRecords, request: Request) -> Response:
    image = images.owned_image(request.context, request.vars["image_id"])
    tag = request.vars["tag"]
    if tag not in image["tags"]:
        raise not_found(EXPLANATIONS[404])
    images.set_tags(image, (kept for kept in image["tags"] if kept != tag))
    return Response(status=204)


def refuse_publishing(context: Context, wanted: Record) -> None:
    """403 when someone else than an admin makes an image public."""
    if wanted.get("visibility") == "public" and not context.is_admin:
        raise unauthorized("publicize_image")


def candidates(images: ImageRecords, context: Context, query: Query) -> list[Record]:
    """What the caller may list, of the visibility asked for: community images only on demand, shared ones
    once they are accepted (or as `member_status` says), hidden ones with `os_hidden`."""
    visibility = query.get("visibility")
    if visibility is not None and visibility not in (*WRITABLE["visibility"]["enum"], "all"):
        raise bad_request(f"Invalid visibility value: {visibility}")
    status = query.get("member_status", "accepted")
    if status not in ("pending", "accepted", "rejected", "all"):
        raise bad_request(f"Invalid status: {status}")
    hidden = query.boolean("os_hidden") or False
    rows = [image for image in images.images if image["os_hidden"] == hidden]
    if visibility not in (None, "all"):
        rows = [image for image in rows if image["visibility"] == visibility]
    accepted = {
        member["image_id"]
        for member in images.members.select(project_id=context.project_id)
        if status in ("all", member["status"])
    }
    return [image for image in rows if _listed(image, context, visibility, accepted)]


def _listed(image: Record, context: Context, visibility: str | None, accepted: set[str]) -> bool:
    if image["project_id"] == context.project_id:
        return True
    match image["visibility"]:
        case "public":
            return True
        case "community":
            return visibility in ("community", "all")
        case "shared":
            return context.is_admin or image["id"] in accepted
        case _:
            return context.is_admin
