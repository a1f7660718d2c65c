"""Which versions of the Identity API there are."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import IdentityRecords

VERSION = "v3.14"


def versions(identity: IdentityRecords, request: Request) -> Response:
    return Response({"versions": {"values": [_version(request)]}}, 300, {"Location": f"{request.base}/v3/"})


def version(identity: IdentityRecords, request: Request) -> Response:
    return Response({"version": _version(request)})


def _version(request: Request) -> dict[str, Any]:
    return {
        "id": VERSION,
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": f"{request.base}/v3/"}],
        "media-types": [{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}],
    }
