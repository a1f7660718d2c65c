"""Copies within the store: `COPY` with a `Destination`, or `PUT` with `X-Copy-From`."""

from __future__ import annotations

import dataclasses
from urllib.parse import quote, unquote

from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.records import StoredObject
from openstack_emulator.objectstore.routes.access import require_reading, require_writing
from openstack_emulator.objectstore.routes.conditions import check_conditions
from openstack_emulator.objectstore.routes.paths import place_of
from openstack_emulator.objectstore.routes.symlinks import followed
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.large_objects import DYNAMIC
from openstack_emulator.objectstore.rules.metadata import shown
from openstack_emulator.objectstore.rules.times import http_date

Place = tuple[str, str, str]
"""Account, container, object."""


def copy(swift: ObjectStore, request: Request, new: NewObject) -> Response:
    source = place_of(request)
    account = request.headers.get("destination-account", source[0])
    return _copied(swift, request, source, (account, *_place(request, "Destination")), new)


def put_copy(swift: ObjectStore, request: Request, new: NewObject) -> Response:
    target = place_of(request)
    if request.body:
        raise explained(400, "Copy requests require a zero byte body")
    account = request.headers.get("x-copy-from-account", target[0])
    return _copied(swift, request, (account, *_place(request, "X-Copy-From")), target, new)


def _place(request: Request, header: str) -> tuple[str, str]:
    container, slash, name = unquote(request.headers.get(header.lower(), "")).lstrip("/").partition("/")
    if not container or not slash or not name:
        raise explained(412, f"{header} header must be of the form <container name>/<object name>")
    return container, name


def _copied(swift: ObjectStore, request: Request, source: Place, target: Place, new: NewObject) -> Response:
    require_reading(swift, request, *source[:2])
    require_writing(swift, request, *target[:2])
    linked = swift.objects.require(swift.containers.require(*source[:2]), source[2])
    account, found = followed(swift, request, source[0], linked)
    container = swift.containers.require(*target[:2])
    data, etag = swift.large_objects.content(account, found)
    if (unchanged := check_conditions(request.headers, etag, found.modified)) is not None:
        return unchanged
    merged = dataclasses.replace(_merged(request, found, new), symlink=found.symlink)
    if request.query.get("multipart-manifest") == "get":
        merged = dataclasses.replace(merged, segments=found.segments, bytes=found.bytes, hash=found.hash)
        data = swift.objects.data(found)
    stored = swift.uploads.put(container, target[2], data, merged)
    headers = {
        "ETag": stored.hash,
        "Last-Modified": http_date(stored.modified),
        "X-Copied-From": quote(f"{source[1]}/{source[2]}"),
        "X-Copied-From-Account": quote(source[0]),
        "X-Copied-From-Last-Modified": http_date(found.modified),
        **shown(stored.headers),
    }
    return Response(None, 201, headers)


def _merged(request: Request, found: StoredObject, new: NewObject) -> NewObject:
    """The new object: the source, with what the request says on top, unless it asks for a fresh start."""
    content_type = new.content_type if "content-type" in request.headers else found.content_type
    if request.headers.get("x-fresh-metadata", "").lower() in ("true", "1", "yes"):
        return dataclasses.replace(new, content_type=content_type)
    inherited = dict(found.headers)
    if request.query.get("multipart-manifest") != "get":
        inherited.pop(DYNAMIC, None)
    return dataclasses.replace(
        new,
        content_type=content_type,
        headers={**inherited, **new.headers},
        delete_at=new.delete_at or found.delete_at,
    )
