"""Images: create, list, show, change, delete; tags; deactivation."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlencode

from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.http import Context, Query, Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.image.records import Image
from openstack_emulator.image.routes.lists import candidates, filtered, sorted_images
from openstack_emulator.image.routes.patches import changes_of
from openstack_emulator.image.rules.attributes import check
from openstack_emulator.image.rules.changes import changed_fields, fields_of_new
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.errors import EXPLANATIONS, detailed, unauthorized
from openstack_emulator.image.rules.imports import IMPORT_NEEDS
from openstack_emulator.image.rules.inputs import NewImage
from openstack_emulator.image.rules.stores import STORES
from openstack_emulator.image.views import image_view

PAGE_SIZE = "25"


def _tag(request: Request) -> str:
    return request.vars["tag"]


def _key(request: Request) -> str:
    return request.vars["image_id"]


def visible(service: ImageService, request: Request) -> Image:
    """The image in the path, as the caller sees it. Raises ApiError 404."""
    return service.images.visible(request.context, _key(request))


def owned(service: ImageService, request: Request, rule: str = "modify_image") -> Image:
    """The image in the path, which the caller may change. Raises ApiError 404, or 403 that names the policy rule."""
    return service.images.owned(request.context, _key(request), rule)


def create(service: ImageService, request: Request) -> Response:
    fields, owner = fields_of_new(request.json)
    context = request.context
    if owner is not None and owner != context.project_id and not context.is_admin:
        raise detailed(403, f"You are not permitted to create images owned by '{owner}'")
    refuse_publishing(context, fields)
    image = service.images.create(owner or context.project, NewImage.from_json(fields))
    headers = {
        "Location": f"{request.base}/v2/images/{image.id}",
        "OpenStack-image-import-methods": ",".join(IMPORT_NEEDS),
        "OpenStack-image-store-ids": ",".join(STORES),
    }
    return Response(image_view(image), 201, headers)


def index(service: ImageService, request: Request) -> Response:
    query = request.query
    rows = sorted_images(filtered(candidates(service, request), query), query)
    _check_limit(query)
    paged = query if "limit" in query else Query(f"{request.query_string}&limit={PAGE_SIZE}")
    shown = page(rows, paged, missing=lambda marker: bad_request(f"No image found with ID {marker}"))
    parameters = urlencode([pair for pair in query.pairs if pair[0] != "marker"])
    body = {
        "images": [image_view(image) for image in shown.rows],
        "first": f"/v2/images?{parameters}" if parameters else "/v2/images",
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


def show(service: ImageService, request: Request) -> Response:
    return Response(image_view(visible(service, request)))


def update(service: ImageService, request: Request) -> Response:
    changes = changes_of(request)
    context = request.context
    image = owned(service, request)
    fields = changed_fields(image, changes)
    refuse_publishing(context, fields)
    if fields.get("project_id", image.project_id) != image.project_id and not context.is_admin:
        raise forbidden("You are not permitted to change the owner of this image.")
    service.images.change(image, fields)
    return Response(image_view(image))


def delete(service: ImageService, request: Request) -> Response:
    try:
        image = owned(service, request, "delete_image")
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            error.message = f"Failed to find image {_key(request)} to delete"
        raise
    service.images.delete(image)
    return Response(status=204)


def deactivate(service: ImageService, request: Request) -> Response:
    service.images.set_active(owned(service, request, "deactivate"), "deactivated")
    return Response(status=204)


def reactivate(service: ImageService, request: Request) -> Response:
    service.images.set_active(owned(service, request, "reactivate"), "active")
    return Response(status=204)


def add_tag(service: ImageService, request: Request) -> Response:
    image, tag = owned(service, request), _tag(request)
    check("tags", [tag])
    service.images.set_tags(image, [*image.tags, tag])
    return Response(status=204)


def remove_tag(service: ImageService, request: Request) -> Response:
    image, tag = owned(service, request), _tag(request)
    if tag not in image.tags:
        raise not_found(EXPLANATIONS[404])
    service.images.set_tags(image, (other for other in image.tags if other != tag))
    return Response(status=204)


def refuse_publishing(context: Context, body: Mapping[str, object]) -> None:
    """403 when someone else than an admin makes an image public."""
    if body.get("visibility") == "public" and not context.is_admin:
        raise unauthorized("publicize_image")
