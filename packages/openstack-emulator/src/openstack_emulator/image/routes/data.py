"""The bytes of images: upload, staging, download."""

from __future__ import annotations

import re

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.image.routes.images import owned, visible
from openstack_emulator.image.routes.stores import stores_for_upload
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.errors import unsupported


def upload(service: ImageService, request: Request) -> Response:
    _require_octets(request)
    stores = stores_for_upload(request)
    service.data.upload(owned(service, request, "upload_image"), request.body, stores)
    return Response(status=204)


def stage(service: ImageService, request: Request) -> Response:
    _require_octets(request)
    service.data.stage(owned(service, request), request.body)
    return Response(status=204)


def download(service: ImageService, request: Request) -> Response:
    """The data or, with a `Range` of bytes, a part of it; 204 while there is none."""
    image = visible(service, request)
    data = service.data.of(image)
    if data is None:
        return Response(status=204)
    headers = {"Content-Type": "application/octet-stream", "Content-MD5": image.checksum or ""}
    if (byte_range := request.headers.get("range")) is None:
        return Response(data, 200, headers)
    start, end = _range(byte_range, len(data))
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return Response(data[start:end], 206, headers)


def _require_octets(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != "application/octet-stream":
        raise unsupported(media_type, f"Invalid content type {media_type}")


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
