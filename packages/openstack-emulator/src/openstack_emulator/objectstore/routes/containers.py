"""Containers: what is in one, who may use it, its metadata."""

from __future__ import annotations

from urllib.parse import unquote

from openstack_emulator.core.http import Request, Response
from openstack_emulator.objectstore.records import Container
from openstack_emulator.objectstore.routes.access import owns, require_listing, require_owner, require_writing
from openstack_emulator.objectstore.routes.bulk import bulk_upload
from openstack_emulator.objectstore.routes.form_post import form_post, is_form
from openstack_emulator.objectstore.routes.listing import NO_LIST, listed, rendered
from openstack_emulator.objectstore.routes.paths import account_of, container_of
from openstack_emulator.objectstore.rules import acl
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import constrained, explained, refused
from openstack_emulator.objectstore.rules.metadata import (
    CONTAINER_KEPT,
    POLICY,
    VERSION_LOCATIONS,
    Headers,
    changed,
    is_number,
)
from openstack_emulator.objectstore.rules.quotas import IN_BYTES, IN_OBJECTS
from openstack_emulator.objectstore.rules.syncing import SYNC_TO, check_sync_target
from openstack_emulator.objectstore.views import container_headers, object_entry

ACLS = ("x-container-read", "x-container-write")
QUOTAS = {IN_BYTES: "bytes", IN_OBJECTS: "count"}


def head(swift: ObjectStore, request: Request) -> Response:
    container = _listable(swift, request)
    headers = {**container_headers(swift, container, owns(request, container.account)), **NO_LIST}
    return Response(None, 204, headers)


def index(swift: ObjectStore, request: Request) -> Response:
    container = _listable(swift, request)
    entries = listed(swift.objects.of(container), request.query, object_entry)
    response = rendered(request, "container", container.name, "object", entries)
    response.headers.update(container_headers(swift, container, owns(request, container.account)))
    return response


def put(swift: ObjectStore, request: Request) -> Response:
    """Make the container or change it; with `extract-archive`, unpack an archive of objects into it."""
    account, name = account_of(request), container_of(request)
    if "extract-archive" in request.query:
        require_writing(swift, request, account, name)
        return bulk_upload(swift, request, account, f"{name}/")
    require_owner(request, account)
    if (policy := request.headers.get("x-storage-policy", POLICY)) != POLICY:
        raise constrained(f"Invalid X-Storage-Policy {policy!r}")
    known = swift.containers.find(account, name)
    headers = _headers(request, {} if known is None else known.headers)
    is_new = swift.containers.put(account, name, headers)[1]
    return Response(status=201 if is_new else 202)


def post(swift: ObjectStore, request: Request) -> Response:
    """Change the container; or take in files from a web form."""
    if is_form(request):
        return form_post(swift, request)
    require_owner(request, account_of(request))
    container = swift.containers.require(account_of(request), container_of(request))
    swift.containers.put(container.account, container.name, _headers(request, container.headers))
    return Response(status=204)


def delete(swift: ObjectStore, request: Request) -> Response:
    require_owner(request, account_of(request))
    swift.containers.delete(swift.containers.require(account_of(request), container_of(request)))
    return Response(status=204)


def _listable(swift: ObjectStore, request: Request) -> Container:
    account, name = account_of(request), container_of(request)
    require_listing(swift, request, account, name)
    return swift.containers.require(account, name)


def _headers(request: Request, stored: Headers) -> Headers:
    """The container's headers after the request; 400 for lists, quotas and locations that make no sense."""
    headers = changed(stored, request.headers, "container", CONTAINER_KEPT)
    for name in ACLS:
        if name in headers:
            headers[name] = acl.clean(name, headers[name])
    for name, what in QUOTAS.items():
        if not is_number(headers.get(name, "0")):
            raise explained(400, f"Invalid {what} quota.")
    if SYNC_TO in request.headers:
        check_sync_target(headers.get(SYNC_TO))
    locations = [name for name in VERSION_LOCATIONS if name in headers]
    present = [name for name in locations if name in request.headers]
    if len(present) > 1:
        raise explained(400, "Only one of X-Versions-Location or X-History-Location may be specified")
    for name in present:
        if "/" in unquote(headers[name]).strip("/"):
            raise refused(412)
    dropped = [name for name in locations if present and name not in present]
    return {name: value for name, value in headers.items() if name not in dropped}
