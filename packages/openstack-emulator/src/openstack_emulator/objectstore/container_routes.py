"""Containers: what is in one, who may use it, its metadata."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore import acl
from openstack_emulator.objectstore.access import owns, require_listing, require_owner, require_writing
from openstack_emulator.objectstore.bulk import bulk_upload
from openstack_emulator.objectstore.conditions import http_date
from openstack_emulator.objectstore.errors import constrained, explained, refused
from openstack_emulator.objectstore.form_post import form_post, is_form
from openstack_emulator.objectstore.listing import NO_LIST, iso_time, listed, rendered
from openstack_emulator.objectstore.metadata import (
    CONTAINER_SYSTEM,
    POLICY,
    VERSION_LOCATIONS,
    Headers,
    changed,
    is_number,
    shown,
)
from openstack_emulator.objectstore.records import ObjectStoreRecords, timestamp
from openstack_emulator.objectstore.symlinks import path_of
from openstack_emulator.objectstore.syncing import SYNC_TO, check_partner

ACLS = ("x-container-read", "x-container-write")
KEPT = (*(f"x-container-{name}" for name in CONTAINER_SYSTEM), *VERSION_LOCATIONS)
QUOTAS = {"x-container-meta-quota-bytes": "bytes", "x-container-meta-quota-count": "count"}


def head(swift: ObjectStoreRecords, request: Request) -> Response:
    container = _listable(swift, request)
    headers = {**container_headers(swift, request, container), **NO_LIST}
    return Response(None, 204, headers)


def index(swift: ObjectStoreRecords, request: Request) -> Response:
    container = _listable(swift, request)
    entries = listed(swift.objects_in(container), request.query, object_entry)
    response = rendered(request, "container", container["name"], "object", entries)
    response.headers.update(container_headers(swift, request, container))
    return response


def put(swift: ObjectStoreRecords, request: Request) -> Response:
    """Make the container or change it; with `extract-archive`, unpack an archive of objects into it."""
    account, name = request.vars["account"], request.vars["container"]
    if "extract-archive" in request.query:
        require_writing(swift, request, account, name)
        return bulk_upload(swift, request, account, f"{name}/")
    require_owner(request, account)
    if request.headers.get("x-storage-policy", POLICY) != POLICY:
        raise constrained(f"Invalid X-Storage-Policy {request.headers['x-storage-policy']!r}")
    known = swift.containers.get(f"{account}/{name}")
    headers = _headers(request, {} if known is None else known["headers"])
    is_new = swift.put_container(account, name, headers)[1]
    return Response(status=201 if is_new else 202)


def post(swift: ObjectStoreRecords, request: Request) -> Response:
    """Change the container; or take in files from a web form."""
    if is_form(request):
        return form_post(swift, request)
    require_owner(request, request.vars["account"])
    container = swift.container(request.vars["account"], request.vars["container"])
    swift.put_container(container["account"], container["name"], _headers(request, container["headers"]))
    return Response(status=204)


def delete(swift: ObjectStoreRecords, request: Request) -> Response:
    require_owner(request, request.vars["account"])
    swift.delete_container(swift.container(request.vars["account"], request.vars["container"]))
    return Response(status=204)


def container_headers(swift: ObjectStoreRecords, request: Request, container: Record) -> Headers:
    """Counts, times, metadata; what is sensitive (lists, keys) for the owner only."""
    count, used = swift.usage(container)
    kept = container["headers"]
    if not owns(request, container["account"]):
        kept = {name: value for name, value in kept.items() if name not in KEPT and "-temp-url-key" not in name}
    return {
        "X-Container-Object-Count": str(count),
        "X-Container-Bytes-Used": str(used),
        "X-Storage-Policy": POLICY,
        "X-Timestamp": timestamp(container["created"]),
        "Last-Modified": http_date(container["created"]),
        "Accept-Ranges": "bytes",
        **shown(kept),
    }


def object_entry(stored: Record) -> dict[str, Any]:
    """An object in a list."""
    entry = {
        "name": stored["name"],
        "hash": stored["hash"],
        "bytes": stored["bytes"],
        "content_type": stored["content_type"],
        "last_modified": iso_time(stored["modified"]),
    }
    if stored["symlink"] is not None:
        entry["symlink_path"] = path_of(stored["symlink"])
    return entry if stored["segments"] is None else {**entry, "slo_etag": f'"{stored["hash"]}"'}


def _listable(swift: ObjectStoreRecords, request: Request) -> Record:
    account, name = request.vars["account"], request.vars["container"]
    require_listing(swift, request, account, name)
    return swift.container(account, name)


def _headers(request: Request, kept: Headers) -> Headers:
    """The container's headers after the request; 400 for lists, quotas and locations that make no sense."""
    headers = changed(kept, request.headers, "container", KEPT)
    for name in ACLS:
        if name in headers:
            headers[name] = acl.clean(name, headers[name])
    for name, what in QUOTAS.items():
        if not is_number(headers.get(name, "0")):
            raise explained(400, f"Invalid {what} quota.")
    if SYNC_TO in request.headers:
        check_partner(headers.get(SYNC_TO))
    locations = [name for name in VERSION_LOCATIONS if name in headers]
    given = [name for name in locations if name in request.headers]
    if len(given) > 1:
        raise explained(400, "Only one of X-Versions-Location or X-History-Location may be specified")
    for name in given:
        if "/" in unquote(headers[name]).strip("/"):
            raise refused(412)
    dropped = [name for name in locations if given and name not in given]
    return {name: value for name, value in headers.items() if name not in dropped}
