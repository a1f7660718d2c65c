"""Copies within the store: `COPY` with a `Destination`, or `PUT` with `X-Copy-From`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.access import require_reading, require_writing
from openstack_emulator.objectstore.conditions import check_conditions, http_date
from openstack_emulator.objectstore.errors import explained
from openstack_emulator.objectstore.large_objects import content
from openstack_emulator.objectstore.metadata import shown
from openstack_emulator.objectstore.records import ObjectStoreRecords
from openstack_emulator.objectstore.symlinks import followed

Place = tuple[str, str, str]
"""Account, container, object."""


def copy(swift: ObjectStoreRecords, request: Request, fields: dict[str, Any]) -> Response:
    source = (request.vars["account"], request.vars["container"], request.vars["object"])
    account = request.headers.get("destination-account", source[0])
    return _copied(swift, request, source, (account, *_place(request, "Destination")), fields)


def put_copy(swift: ObjectStoreRecords, request: Request, fields: dict[str, Any]) -> Response:
    target = (request.vars["account"], request.vars["container"], request.vars["object"])
    if request.body:
        raise explained(400, "Copy requests require a zero byte body")
    account = request.headers.get("x-copy-from-account", target[0])
    return _copied(swift, request, (account, *_place(request, "X-Copy-From")), target, fields)


def _place(request: Request, header: str) -> tuple[str, str]:
    container, slash, name = unquote(request.headers.get(header.lower(), "")).lstrip("/").partition("/")
    if not container or not slash or not name:
        raise explained(412, f"{header} header must be of the form <container name>/<object name>")
    return container, name


def _copied(
    swift: ObjectStoreRecords, request: Request, source: Place, target: Place, fields: dict[str, Any]
) -> Response:
    require_reading(swift, request, *source[:2])
    require_writing(swift, request, *target[:2])
    linked = swift.object(swift.container(*source[:2]), source[2])
    account, found = followed(swift, request, source[0], linked)
    container = swift.container(*target[:2])
    data, etag = content(swift, account, found)
    if (unchanged := check_conditions(request.headers, etag, found["modified"])) is not None:
        return unchanged
    kept: dict[str, Any] = {"symlink": found["symlink"]}
    if request.query.get("multipart-manifest") == "get":
        kept |= {key: found[key] for key in ("segments", "bytes", "hash")}
        data = swift.data(found)
    stored = swift.put_object(container, target[2], data, {**_merged(request, found, fields), **kept})
    headers = {
        "ETag": stored["hash"],
        "Last-Modified": http_date(stored["modified"]),
        "X-Copied-From": quote(f"{source[1]}/{source[2]}"),
        "X-Copied-From-Account": quote(source[0]),
        "X-Copied-From-Last-Modified": http_date(found["modified"]),
        **shown(stored["headers"]),
    }
    return Response(None, 201, headers)


def _merged(request: Request, found: Record, fields: dict[str, Any]) -> dict[str, Any]:
    """The new object's fields: the source's, with what the request says on top, unless it asks for a fresh start."""
    result = dict(fields)
    if "content-type" not in request.headers:
        result["content_type"] = found["content_type"]
    if request.headers.get("x-fresh-metadata", "").lower() in ("true", "1", "yes"):
        return result
    inherited = dict(found["headers"])
    if request.query.get("multipart-manifest") != "get":
        inherited.pop("x-object-manifest", None)
    result["headers"] = {**inherited, **fields["headers"]}
    result["delete_at"] = fields["delete_at"] or found["delete_at"]
    return result
