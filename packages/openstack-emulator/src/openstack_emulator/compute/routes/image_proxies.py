"""Images as Nova shows Glance's: up to microversion 2.35, and their metadata up to 2.38."""

from __future__ import annotations

from functools import partial
from typing import Any

from openstack_emulator.compute.routes.bodies import METADATA, NO_ITEM, OTHER_KEY
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import bookmark, links
from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import call_service
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.paging import page
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.composition import ImageService

STATUSES = {
    "active": "ACTIVE",
    "queued": "SAVING",
    "saving": "SAVING",
    "uploading": "SAVING",
    "importing": "SAVING",
    "killed": "ERROR",
}
"""Nova's status of an image, by Glance's."""
PROGRESS = {"queued": 25, "saving": 50, "uploading": 50, "importing": 50, "active": 100}
"""Per cent, by Glance's status."""


def _links(request: Request, image: Image) -> list[dict[str, str]]:
    elsewhere = f"{request.base.rsplit('/', 1)[0]}/image/images/{image.id}"
    alternate = {"rel": "alternate", "type": "application/vnd.openstack.image", "href": elsewhere}
    return [*links(request, "images", image.id), alternate]


def _summary(request: Request, image: Image) -> dict[str, object]:
    return {"id": image.id, "name": image.name, "links": _links(request, image)}


def _view(request: Request, image: Image) -> dict[str, object]:
    view: dict[str, Any] = {
        **_summary(request, image),
        "status": STATUSES.get(image.status, "UNKNOWN"),
        "progress": PROGRESS.get(image.status, 0),
        "created": image.created_at,
        "updated": image.updated_at,
        "minDisk": image.min_disk,
        "minRam": image.min_ram,
        "metadata": image.properties,
        "OS-EXT-IMG-SIZE:size": image.size,
    }
    server = image.properties.get("instance_uuid")
    if server is not None:
        own = {"rel": "self", "href": f"{request.base}/v2.1/servers/{server}"}
        view |= {"server": {"id": server, "links": [own, bookmark(request, "servers", server)]}}
    automatic = image.properties.get("auto_disk_config")
    if automatic is not None:
        view |= {"OS-DCF:diskConfig": "AUTO" if as_boolean(automatic) else "MANUAL"}
    return view


def _rows(compute: ComputeService, request: Request) -> list[Image]:
    """The images that the caller may list and that the query selects, newest first."""
    query = request.query
    rows = compute.cloud.of(ImageService).images.listed(request.context)[::-1]
    if (name := query.get("name")) is not None:
        rows = [row for row in rows if row.name == name]
    if (status := query.get("status")) is not None:
        rows = [row for row in rows if STATUSES.get(row.status) == status.upper()]
    if (server := query.get("server")) is not None:
        key = server.rstrip("/").rsplit("/", 1)[-1]
        rows = [row for row in rows if row.properties.get("instance_uuid") == key]
    if (image_type := query.get("type")) is not None:
        rows = [row for row in rows if row.properties.get("image_type") == image_type]
    if (disk := query.integer("minDisk")) is not None:
        rows = [row for row in rows if row.min_disk >= disk]
    if (memory := query.integer("minRam")) is not None:
        rows = [row for row in rows if row.min_ram >= memory]
    if (since := query.get("changes-since")) is not None:
        rows = [row for row in rows if row.updated_at >= since]
    return rows


def _page(compute: ComputeService, request: Request, detailed: bool) -> Response:
    shown = page(_rows(compute, request), request.query)
    return Response(shown.body(request, "images", partial(_view if detailed else _summary, request)))


def index(compute: ComputeService, request: Request) -> Response:
    return _page(compute, request, detailed=False)


def detail(compute: ComputeService, request: Request) -> Response:
    return _page(compute, request, detailed=True)


def _image_id(request: Request) -> str:
    """The ID of the image that the path names."""
    return request.vars["image_id"]


def _image(cloud: Cloud, request: Request) -> Image:
    return cloud.of(ImageService).images.visible(request.context, _image_id(request))


def show(compute: ComputeService, request: Request) -> Response:
    return Response({"image": _view(request, _image(compute.cloud, request))})


def delete(compute: ComputeService, request: Request) -> Response:
    call_service(compute.cloud, request, "DELETE", f"/image/v2/images/{_image_id(request)}")
    return Response(status=204)


def _metadata(compute: ComputeService, request: Request) -> dict[str, str]:
    return _image(compute.cloud, request).properties


def _set_metadata(compute: ComputeService, request: Request, metadata: dict[str, str]) -> None:
    images = compute.cloud.of(ImageService).images
    image = images.owned(request.context, _image_id(request))
    compute.quotas.check_metadata(image.project_id or "", metadata)
    images.change(image, {"properties": metadata})


IMAGE_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 204)
