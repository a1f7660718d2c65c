"""What bodies of several kinds of requests about servers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.compute.records import InjectedFile, Server
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.user_data import is_base64
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Version
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields, invalid
from openstack_emulator.core.validation.problems import Check

TAG = fields.text(1, 60, r"[^,/]*")
METADATA = fields.text_map(key_form=r"[a-zA-Z0-9\-_:. ]{1,255}")
NO_ITEM = "Metadata item was not found"
OTHER_KEY = "Request body and URI mismatch"
HOSTNAME = fields.text(2, 63, r"[a-zA-Z0-9]+[a-zA-Z0-9-]*")
FULL_HOSTNAME = fields.text(2, 255, r"[a-zA-Z0-9]+[a-zA-Z0-9.-]*")
IPV4 = fields.address(4)
IPV6 = fields.address(6)
DISK_CONFIG = fields.one_of("AUTO", "MANUAL")
VersionedFields = tuple[tuple[str, Version, Check], ...]
"""Fields with the microversions that brought them; of two rows for one field the later one counts."""


def found(compute: ComputeService, request: Request) -> Server:
    """The server the path names."""
    return compute.servers.find(request.context, request.vars["server_id"])


def since(table: VersionedFields, request: Request) -> dict[str, Check]:
    """The checks of the fields that the request's microversion has."""
    return {name: check for name, version, check in table if request.version >= version}


def check_personality(compute: ComputeService, request: Request, body: Mapping[str, Any]) -> None:
    """Refuse injected files: all of them since 2.57, before that too many or too large ones."""
    files = body.get("personality")
    if files is None:
        return
    if request.version >= (2, 57):
        raise invalid("server", body, "Additional properties are not allowed ('personality' was unexpected)")
    keys = {"path": fields.text(1), "contents": fields.text(0, 10**7)}
    check_fields({"personality": files}, {"personality": fields.items(fields.anything)})
    limits = compute.quotas.limits_of(request.context.project)
    if 0 <= limits["injected_files"] < len(files):
        raise forbidden("Quota exceeded, too many injected files.")
    for row in files:
        check_fields(row, keys, ("path", "contents"), "personality")
        file = InjectedFile.from_json(row)
        if not is_base64(file.contents):
            raise bad_request(f"Personality content for {file.path} cannot be decoded")
        if 0 <= limits["injected_file_content_bytes"] < len(file.contents) * 3 // 4:
            raise forbidden("Quota exceeded, too large file content.")
