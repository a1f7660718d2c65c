"""Objects over HTTP: store, read, describe, delete."""

from __future__ import annotations

import dataclasses
import mimetypes
from urllib.parse import quote

from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.records import StoredObject
from openstack_emulator.objectstore.routes.access import require_object
from openstack_emulator.objectstore.routes.bulk import deleted_paths, report
from openstack_emulator.objectstore.routes.conditions import check_conditions, partial
from openstack_emulator.objectstore.routes.copying import copy, put_copy
from openstack_emulator.objectstore.routes.form_post import form_post, is_form
from openstack_emulator.objectstore.routes.paths import account_of, object_of, place_of
from openstack_emulator.objectstore.routes.symlinks import followed, linking
from openstack_emulator.objectstore.routes.temp_url import is_signed
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import constrained, explained, refused
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.large_objects import DYNAMIC, check_dynamic_manifest
from openstack_emulator.objectstore.rules.metadata import OBJECT_SYSTEM, Headers, user_metadata
from openstack_emulator.objectstore.rules.ranges import spans
from openstack_emulator.objectstore.rules.times import http_date
from openstack_emulator.objectstore.views import (
    etag_of,
    link_headers,
    object_headers,
    object_path,
    path_of,
    raw_manifest,
    shown_manifest,
)


def put(swift: ObjectStore, request: Request) -> Response:
    if "x-copy-from" in request.headers:
        return put_copy(swift, request, new_object(swift, request))
    account, holder, name = place_of(request)
    require_object(swift, request, account, holder, name)
    if DYNAMIC in request.headers and is_signed(request):
        raise explained(400, "X-Object-Manifest is not allowed with a signed URL.")
    container = swift.containers.require(account, holder)
    if request.headers.get("if-none-match") == "*" and swift.objects.find(container, name) is not None:
        raise refused(412)
    new, data = linking(swift, request, account, new_object(swift, request)), request.body
    if request.query.get("multipart-manifest") == "put":
        new, data = swift.large_objects.static(account, data, new), b""
    stored = swift.uploads.put(container, name, data, new)
    return Response(None, 201, {"ETag": etag_of(stored), "Last-Modified": http_date(stored.modified)})


def get(swift: ObjectStore, request: Request) -> Response:
    linked = _accessible(swift, request)
    account, stored = followed(swift, request, account_of(request), linked)
    headers = object_headers(stored)
    if stored is not linked:
        container = swift.containers.rows.require(stored.container_id)
        headers |= {"Content-Location": object_path(account, container.name, stored.name)}
    if stored.segments is not None and request.query.get("multipart-manifest") == "get":
        write = raw_manifest if request.query.get("format") == "raw" else shown_manifest
        return Response(write(stored.segments), 200, {**headers, "Content-Type": "application/json; charset=utf-8"})
    whole, etag = swift.large_objects.content(account, stored)
    if (unchanged := check_conditions(request.headers, etag, stored.modified)) is not None:
        return unchanged
    headers |= {"ETag": etag}
    if is_signed(request):
        headers = _for_signed_url(headers, stored.name, request)
    byte_ranges = spans(request.headers.get("range"), len(whole), headers) if request.method == "GET" else None
    if byte_ranges is not None:
        return partial(whole, headers, byte_ranges, stored.hash)
    body = None if request.method == "HEAD" else whole
    return Response(body, 200, {**headers, "Content-Length": str(len(whole))})


def post(swift: ObjectStore, request: Request) -> Response:
    """Replace the metadata; or take in files from a web form."""
    if is_form(request):
        return form_post(swift, request)
    stored = _accessible(swift, request)
    if stored.symlink is not None:
        location = f"{request.base}{path_of(stored.symlink)}"
        message = b"The requested POST was made to a symlink. POST directly to the target to apply requested metadata."
        return Response(message, 307, {"Location": location, **link_headers(stored.symlink)})
    content_type = request.headers.get("content-type", stored.content_type)
    swift.objects.describe(stored, described(swift, request, content_type))
    return Response(None, 202)


def delete(swift: ObjectStore, request: Request) -> Response:
    """Delete the object; with `multipart-manifest=delete`, the segments of a large one too."""
    account, holder, name = place_of(request)
    require_object(swift, request, account, holder, name)
    container = swift.containers.require(account, holder)
    if request.query.get("multipart-manifest") == "delete":
        segments = swift.objects.require(container, name).segments
        if segments is None:
            raise explained(400, "Not an SLO manifest")
        paths = [*(segment.name for segment in segments), f"/{holder}/{name}"]
        return report(request, deleted_paths(swift, account, paths))
    swift.uploads.delete(container, name)
    return Response(None, 204)


def copied(swift: ObjectStore, request: Request) -> Response:
    """The method COPY."""
    return copy(swift, request, new_object(swift, request))


def new_object(swift: ObjectStore, request: Request) -> NewObject:
    """The new object that headers describe. Raises ApiError 400."""
    expected = request.headers.get("etag")
    content_type = request.headers.get("content-type", "")
    if not content_type or request.headers.get("x-detect-content-type", "").lower() in ("true", "1", "yes"):
        content_type = mimetypes.guess_type(object_of(request))[0] or "application/octet-stream"
    new = described(swift, request, content_type)
    return new if expected is None else dataclasses.replace(new, expected_hash=expected.strip('"').lower())


def described(swift: ObjectStore, request: Request, content_type: str) -> NewObject:
    """What headers say of an object: metadata and expiry. Raises ApiError 400."""
    headers = user_metadata(request.headers, "object")
    headers.update({name: value for name in OBJECT_SYSTEM if (value := request.headers.get(name))})
    if (manifest := headers.get(DYNAMIC)) is not None:
        check_dynamic_manifest(manifest)
    return NewObject(content_type=content_type, headers=headers, delete_at=_delete_at(swift, request.headers))


def _delete_at(swift: ObjectStore, headers: Headers) -> int | None:
    """When the object expires, in seconds since the epoch; 400 for a time that is none or has passed."""
    now = swift.ticks.now()
    for name, start in (("x-delete-after", int(now)), ("x-delete-at", 0)):
        value = headers.get(name)
        if not value:
            continue
        if not value.isascii() or not value.lstrip("-").isdigit():
            raise constrained(f"Non-integer {name.title()}")
        moment = start + int(value)
        if moment <= now:
            raise constrained(f"{name.title()} in past")
        return moment
    return None


def _accessible(swift: ObjectStore, request: Request) -> StoredObject:
    account, container, name = place_of(request)
    require_object(swift, request, account, container, name)
    return swift.objects.require(swift.containers.require(account, container), name)


def _for_signed_url(headers: Headers, name: str, request: Request) -> Headers:
    """What a signed URL shows: no metadata but public one, and a name to save the file under."""
    kept = {
        key: value
        for key, value in headers.items()
        if not key.startswith("X-Object-Meta-") or key.startswith("X-Object-Meta-Public-")
    }
    if "inline" in request.query and "filename" not in request.query:
        return {**kept, "Content-Disposition": "inline"}
    filename = request.query.get("filename") or name.rstrip("/").rpartition("/")[2]
    kind = "inline" if "inline" in request.query else "attachment"
    quoted = quote(filename, safe=" /")
    disposition = f"{kind}; filename=\"{quoted}\"; filename*=UTF-8''{quote(filename)}"
    return {**kept, "Content-Disposition": disposition}
