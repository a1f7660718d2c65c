"""What the service can do: versions, import methods, usage."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.http import Request, Response
from openstack_emulator.image.records import IMPORT_NEEDS, ImageRecords

VERSIONS = tuple(f"v2.{minor}" for minor in range(17, -1, -1))


def choices(images: ImageRecords, request: Request) -> Response:
    return Response({"versions": _versions(request)}, 300)


def versions(images: ImageRecords, request: Request) -> Response:
    return Response({"versions": _versions(request)})


def import_info(images: ImageRecords, request: Request) -> Response:
    methods = {"description": "Import methods available.", "type": "array", "value": list(IMPORT_NEEDS)}
    return Response({"import-methods": methods})


def usage(images: ImageRecords, request: Request) -> Response:
    """Quotas are off, so that there is nothing to report."""
    return Response({"usage": {}})


def _versions(request: Request) -> list[dict[str, Any]]:
    links = [{"rel": "self", "href": f"{request.base}/v2/"}]
    return [
        {"id": version, "status": "SUPPORTED" if at else "CURRENT", "links": links}
        for at, version in enumerate(VERSIONS)
    ]
