"""Objects of other services by name or ID, as the caller of a request may see them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request
from openstack_emulator.core.internal import call_service


def one_of_collection(cloud: Cloud, request: Request, path: str, members: str, key: str) -> dict[str, Any] | None:
    """Return the object with this ID, or else this name, from a list; None if there is none.

    path: of the list, from the root of the cloud: `/network/v2.0/networks`. members: the list's key in the answer.
    Raises: ApiError 409 if several have the name.
    """
    for field in ("id", "name"):
        query = f"{field}={quote(key, safe='')}"
        found = [
            row for row in call_service(cloud, request, "GET", path, query=query)[members] if row.get(field) == key
        ]
        if len(found) > 1:
            raise ApiError(409, f"Multiple {members} exist with same name '{key}'. Please use the ID instead.")
        if found:
            return dict(found[0])
    return None


def member_of_collection(cloud: Cloud, request: Request, path: str, member: str, key: str) -> dict[str, object] | None:
    """Return the object that `GET <path>/<key>` shows, under the key `member`; None if there is none."""
    try:
        shown = call_service(cloud, request, "GET", f"{path}/{quote(key, safe='')}")
    except ApiError as error:
        if error.status != 404:
            raise
        return None
    return dict(shown[member] if member else shown)
