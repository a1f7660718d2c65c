"""The bytes of images: upload, download, staging, import, and the tasks an import leaves behind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.urls import split_url
from openstack_emulator.image.errors import unauthorized, unsupported
from openstack_emulator.image.patch import created
from openstack_emulator.image.records import COPY, IMPORT_NEEDS, ImageRecords
from openstack_emulator.image.stores import of_import, of_upload
from openstack_emulator.image.views import task_view


def upload(images: ImageRecords, request: Request) -> Response:
    _require_octets(request)
    stores = of_upload(request)
    image = images.owned_image(request.context, request.vars["image_id"], "upload_image")
    images.upload(image, request.body, stores)
    return Response(status=204)


def stage(images: ImageRecords, request: Request) -> Response:
    _require_octets(request)
    images.stage(images.owned_image(request.context, request.vars["image_id"]), request.body)
    return Response(status=204)


def download(images: ImageRecords, request: Request) -> Response:
    """The data or, with a `Range` of bytes, a part of it; 204 while there is none."""
    image = images.image_in(request.context, request.vars["image_id"])
    data = images.data(image)
    if data is None:
        return Response(status=204)
    headers = {"Content-Type": "application/octet-stream", "Content-MD5": image["checksum"]}
    if (wanted := request.headers.get("range")) is None:
        return Response(data, 200, headers)
    start, end = _range(wanted, len(data))
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return Response(data[start:end], 206, headers)


def begin_import(images: ImageRecords, request: Request) -> Response:
    body = request.json
    if not isinstance(body, Mapping):
        raise bad_request("The request body must be a JSON object.")
    method = _import_method(body)
    image = images.owned_image(request.context, request.vars["image_id"])
    stores = of_import(body, image, copied=method["name"] == COPY)
    images.begin_import(request.context, image, method, request.id, stores)
    return Response(status=202)


def image_tasks(images: ImageRecords, request: Request) -> Response:
    image = images.image_in(request.context, request.vars["image_id"])
    return Response({"tasks": [task_view(task) for task in images.tasks.select(image_id=image["id"])]})


def index_tasks(images: ImageRecords, request: Request) -> Response:
    rows = [task_view(task) for task in images.tasks if request.context.may_see(task)]
    return Response({"tasks": rows, "first": "/v2/tasks", "schema": "/v2/schemas/tasks"})


def create_task(images: ImageRecords, request: Request) -> Response:
    """Import an image by a task, as operators do: `{type: import, input: {import_from, import_from_format,
    image_properties}}`."""
    context, body = request.context, request.json
    if not context.is_admin:
        raise unauthorized("add_task")
    if not isinstance(body, Mapping) or body.get("type") != "import" or not isinstance(body.get("input"), Mapping):
        raise bad_request("A task must be of the type 'import' and have an 'input'.")
    wanted = body["input"]
    for name in ("import_from", "import_from_format", "image_properties"):
        if not wanted.get(name):
            raise bad_request(f"Input does not contain '{name}' field")
    if not _is_web_address(wanted["import_from"]) or not split_url(wanted["import_from"]).path.strip("/"):
        raise bad_request(f"import_from must be the address of a file on the web, not {wanted['import_from']}.")
    fields, owner = created(wanted["image_properties"])
    task = images.begin_task(context, dict(wanted), owner or context.project, fields, request.id)
    return Response(task_view(task), 201, {"Location": f"{request.base}/v2/tasks/{task['id']}"})


def show_task(images: ImageRecords, request: Request) -> Response:
    task = images.tasks.require(request.vars["task_id"])
    if not request.context.may_see(task):
        raise forbidden("You are not permitted to see this task.")
    return Response(task_view(task))


def _require_octets(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != "application/octet-stream":
        raise unsupported(media_type, f"Invalid content type {media_type}")


def _import_method(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The method to import with; 400 when it is unknown or incomplete."""
    method = body.get("method")
    if not isinstance(method, Mapping):
        raise bad_request("Import request requires a 'method' field.")
    if not isinstance(method.get("name"), str):
        raise bad_request("Import request requires a 'name' field.")
    if method["name"] not in IMPORT_NEEDS:
        raise bad_request(f"Unknown import method name '{method['name']}'.")
    if method["name"] == "web-download" and not _is_web_address(method.get("uri")):
        raise bad_request(f"URI for web-download does not pass filtering: {method.get('uri')}")
    return method


def _is_web_address(uri: Any) -> bool:
    parts = split_url(str(uri or ""))
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _range(header: str, size: int) -> tuple[int, int]:
    """First byte and the one after the last; 416 when nothing of the range exists."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", header.strip())
    if match is None or match.group(0).endswith("=-"):
        raise bad_request(f"Invalid range: {header}")
    first, last = match.groups()
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last) + 1, size) if first and last else size
    if start >= end:
        raise ApiError(416, f"The range {header} is outside of the image's {size} bytes.")
    return start, end
