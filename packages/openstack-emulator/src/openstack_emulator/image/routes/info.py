"""What the service can do: versions, import methods, usage."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.imports import IMPORT_NEEDS

NEWEST_MINOR = 17
VERSIONS = [
    ApiVersion(f"v2.{minor}", (own("/v2/"),), "CURRENT" if minor == NEWEST_MINOR else "SUPPORTED")
    for minor in range(NEWEST_MINOR, -1, -1)
]
choices = all_versions(*VERSIONS, status=300)
versions = all_versions(*VERSIONS)


def import_info(service: ImageService, request: Request) -> Response:
    methods = {"description": "Import methods available.", "type": "array", "value": list(IMPORT_NEEDS)}
    return Response({"import-methods": methods})


def usage(service: ImageService, request: Request) -> Response:
    """Quotas are off, so that there is nothing to report."""
    return Response({"usage": {}})
