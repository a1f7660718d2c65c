"""Objects that stand for others: `X-Symlink-Target`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.access import require_reading
from openstack_emulator.objectstore.errors import explained
from openstack_emulator.objectstore.records import ObjectStoreRecords
from openstack_emulator.objectstore.temp_url import is_signed

MOST_LINKS = 2
TARGET, TARGET_ACCOUNT, TARGET_HASH = "x-symlink-target", "x-symlink-target-account", "x-symlink-target-etag"
LINK_TYPE = "application/symlink"


def link_fields(swift: ObjectStoreRecords, request: Request, account: str) -> dict[str, Any]:
    """The fields of a new object that make it a link, as its headers say; none for another object.

    Raises: ApiError 400 for a body, 412 for a target that is no path, 409 when a target with a hash is missing or has
    another one.
    """
    if TARGET not in request.headers:
        return {}
    container, slash, name = unquote(request.headers[TARGET]).lstrip("/").partition("/")
    if not container or not slash or not name:
        raise explained(412, "X-Symlink-Target header must be of the form <container name>/<object name>")
    if request.body:
        raise explained(400, "Symlink requests require a zero byte body")
    link: dict[str, Any] = {
        "account": unquote(request.headers.get(TARGET_ACCOUNT, account)),
        "container": container,
        "object": name,
        "hash": None,
    }
    expected = request.headers.get(TARGET_HASH)
    if expected is not None:
        link["hash"] = expected.strip('"')
        _check_target(_target(swift, link), link["hash"])
    given = request.headers.get("content-type")
    return {"symlink": link, "content_type": given or LINK_TYPE}


def followed(swift: ObjectStoreRecords, request: Request, account: str, stored: Record) -> tuple[str, Record]:
    """The account and the object that an object stands for in the end: itself when it is no link, or when the query
    has `symlink=get`.

    Raises: ApiError 401 or 403 where the caller may not read, 404 for a missing target, 409 after too many links or
    when the target has changed from what the link says.
    """
    if request.query.get("symlink") == "get":
        return account, stored
    links = 0
    while (link := stored["symlink"]) is not None:
        links += 1
        if links > MOST_LINKS:
            raise explained(409, f"Too many levels of symbolic links, maximum allowed is {MOST_LINKS}")
        if link["account"] != account or not is_signed(request):
            require_reading(swift, request, link["account"], link["container"])
        account = link["account"]
        stored = swift.object(swift.container(account, link["container"]), link["object"])
        if link["hash"] is not None and stored["symlink"] is None:
            _check_target(stored, link["hash"])
    return account, stored


def path_of(link: Mapping[str, Any]) -> str:
    """The URL path of what a link leads to."""
    return quote(f"/v1/{link['account']}/{link['container']}/{link['object']}")


def link_headers(link: Mapping[str, Any]) -> dict[str, str]:
    """The answer to `symlink=get` for a link."""
    headers = {
        "X-Symlink-Target": quote(f"{link['container']}/{link['object']}"),
        "X-Symlink-Target-Account": quote(link["account"]),
    }
    return headers if link["hash"] is None else {**headers, "X-Symlink-Target-Etag": link["hash"]}


def _target(swift: ObjectStoreRecords, link: Mapping[str, Any]) -> Record | None:
    container = swift.containers.get(f"{link['account']}/{link['container']}")
    return None if container is None else swift.find_object(container, link["object"])


def _check_target(target: Record | None, expected: str) -> None:
    if target is None:
        raise explained(409, "X-Symlink-Target does not exist")
    if target["hash"] != expected:
        raise explained(409, f"Object Etag {target['hash']!r} does not match X-Symlink-Target-Etag header {expected!r}")
