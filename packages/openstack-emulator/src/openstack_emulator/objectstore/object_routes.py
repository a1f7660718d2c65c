"""Objects: store, read, describe, delete."""

from __future__ import annotations

import mimetypes
from typing import Any
from urllib.parse import quote

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.access import require_object
from openstack_emulator.objectstore.bulk import deleted_paths, report
from openstack_emulator.objectstore.conditions import check_conditions, http_date, partial, spans
from openstack_emulator.objectstore.copying import copy, put_copy
from openstack_emulator.objectstore.errors import constrained, explained, refused
from openstack_emulator.objectstore.form_post import form_post, is_form
from openstack_emulator.objectstore.large_objects import (
    check_dynamic_manifest,
    content,
    raw_manifest,
    shown_manifest,
    static_manifest,
)
from openstack_emulator.objectstore.metadata import OBJECT_SYSTEM, Headers, shown, user_metadata
from openstack_emulator.objectstore.records import ObjectStoreRecords, timestamp
from openstack_emulator.objectstore.symlinks import followed, link_fields, link_headers, path_of
from openstack_emulator.objectstore.temp_url import is_signed


def put(swift: ObjectStoreRecords, request: Request) -> Response:
    if "x-copy-from" in request.headers:
        return put_copy(swift, request, new_fields(swift, request))
    account, name = request.vars["account"], request.vars["object"]
    require_object(swift, request, account, request.vars["container"], name)
    if "x-object-manifest" in request.headers and is_signed(request):
        raise explained(400, "X-Object-Manifest is not allowed with a signed URL.")
    container = swift.container(account, request.vars["container"])
    if request.headers.get("if-none-match") == "*" and swift.find_object(container, name) is not None:
        raise refused(412)
    fields, data = {**new_fields(swift, request), **link_fields(swift, request, account)}, request.body
    if request.query.get("multipart-manifest") == "put":
        fields, data = {**fields, **static_manifest(swift, account, data)}, b""
    stored = swift.put_object(container, name, data, fields)
    return Response(None, 201, {"ETag": etag_of(stored), "Last-Modified": http_date(stored["modified"])})


def get(swift: ObjectStoreRecords, request: Request) -> Response:
    linked = _accessible(swift, request)
    account, stored = followed(swift, request, request.vars["account"], linked)
    headers = object_headers(stored)
    if stored is not linked:
        headers["Content-Location"] = path_of({"account": account, **_names(swift, stored)})
    if stored["segments"] is not None and request.query.get("multipart-manifest") == "get":
        write = raw_manifest if request.query.get("format") == "raw" else shown_manifest
        return Response(write(stored["segments"]), 200, {**headers, "Content-Type": "application/json; charset=utf-8"})
    whole, etag = content(swift, account, stored)
    if (unchanged := check_conditions(request.headers, etag, stored["modified"])) is not None:
        return unchanged
    headers["ETag"] = etag
    if is_signed(request):
        headers = _for_strangers(headers, stored["name"], request)
    wanted = spans(request.headers.get("range"), len(whole), headers) if request.method == "GET" else None
    if wanted is not None:
        return partial(whole, headers, wanted, stored["hash"])
    body = None if request.method == "HEAD" else whole
    return Response(body, 200, {**headers, "Content-Length": str(len(whole))})


def post(swift: ObjectStoreRecords, request: Request) -> Response:
    """Replace the metadata; or take in files from a web form."""
    if is_form(request):
        return form_post(swift, request)
    stored = _accessible(swift, request)
    if stored["symlink"] is not None:
        location = f"{request.base}{path_of(stored['symlink'])}"
        message = b"The requested POST was made to a symlink. POST directly to the target to apply requested metadata."
        return Response(message, 307, {"Location": location, **link_headers(stored["symlink"])})
    fields = described(swift, request)
    if "content-type" in request.headers:
        fields["content_type"] = request.headers["content-type"]
    swift.objects.update(stored, **fields, modified=swift.tick())
    return Response(None, 202)


def delete(swift: ObjectStoreRecords, request: Request) -> Response:
    """Delete the object; with `multipart-manifest=delete`, the segments of a large one too."""
    account, name = request.vars["account"], request.vars["object"]
    require_object(swift, request, account, request.vars["container"], name)
    container = swift.container(account, request.vars["container"])
    if request.query.get("multipart-manifest") == "delete":
        segments = swift.object(container, name)["segments"]
        if segments is None:
            raise explained(400, "Not an SLO manifest")
        paths = [*(segment["name"] for segment in segments), f"/{container['name']}/{name}"]
        return report(request, deleted_paths(swift, account, paths))
    swift.delete_object(container, name)
    return Response(None, 204)


def copied(swift: ObjectStoreRecords, request: Request) -> Response:
    """The method COPY."""
    return copy(swift, request, new_fields(swift, request))


def object_headers(stored: Record) -> Headers:
    headers = {
        "Content-Type": stored["content_type"],
        "ETag": etag_of(stored),
        "Last-Modified": http_date(stored["modified"]),
        "X-Timestamp": timestamp(stored["modified"]),
        "Accept-Ranges": "bytes",
        **shown(stored["headers"]),
    }
    if stored["segments"] is not None:
        headers["X-Static-Large-Object"] = "True"
    if stored["symlink"] is not None:
        headers |= link_headers(stored["symlink"])
    if stored["delete_at"] is not None:
        headers["X-Delete-At"] = str(stored["delete_at"])
    return headers


def etag_of(stored: Record) -> str:
    """The ETag, in quotes for objects made of others."""
    return str(stored["hash"]) if stored["segments"] is None else f'"{stored["hash"]}"'


def new_fields(swift: ObjectStoreRecords, request: Request) -> dict[str, Any]:
    """The fields of a new object that its headers say."""
    expected = request.headers.get("etag")
    content_type = request.headers.get("content-type", "")
    if not content_type or request.headers.get("x-detect-content-type", "").lower() in ("true", "1", "yes"):
        content_type = mimetypes.guess_type(request.vars["object"])[0] or "application/octet-stream"
    checks = {} if expected is None else {"expected_hash": expected.strip('"').lower()}
    return {"content_type": content_type, **described(swift, request), **checks}


def described(swift: ObjectStoreRecords, request: Request) -> dict[str, Any]:
    """Metadata and expiry out of the headers."""
    headers = user_metadata(request.headers, "object")
    headers.update({name: request.headers[name] for name in OBJECT_SYSTEM if request.headers.get(name)})
    if "x-object-manifest" in headers:
        check_dynamic_manifest(headers["x-object-manifest"])
    return {"headers": headers, "delete_at": _delete_at(swift, request.headers)}


def _delete_at(swift: ObjectStoreRecords, headers: Headers) -> int | None:
    """When the object expires, in seconds since the epoch; 400 for a time that is none or has passed."""
    now = swift.cloud.clock.now()
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


def _accessible(swift: ObjectStoreRecords, request: Request) -> Record:
    account, container, name = (request.vars[key] for key in ("account", "container", "object"))
    require_object(swift, request, account, container, name)
    return swift.object(swift.container(account, container), name)


def _names(swift: ObjectStoreRecords, stored: Record) -> dict[str, str]:
    return {"container": swift.containers.require(stored["container_id"])["name"], "object": stored["name"]}


def _for_strangers(headers: Headers, name: str, request: Request) -> Headers:
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
    kept["Content-Disposition"] = f"{kind}; filename=\"{quoted}\"; filename*=UTF-8''{quote(filename)}"
    return kept
