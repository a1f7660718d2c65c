"""Imports and exports of zones, over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.dns.records import ZoneExport, ZoneImport
from openstack_emulator.dns.routes.bodies import uuid_of
from openstack_emulator.dns.routes.callers import caller_of
from openstack_emulator.dns.routes.lists import list_response
from openstack_emulator.dns.routes.zones import owned
from openstack_emulator.dns.rules.composition import DomainNames
from openstack_emulator.dns.views import export_view, import_view

MEDIA_TYPE = "text/dns"
LARGEST_FILE = 1 << 20
FILTERS = ("status", "message", "zone_id")


def _import(names: DomainNames, request: Request) -> ZoneImport:
    return names.files.visible(names.files.imports, caller_of(request), uuid_of(request, "zone_import_id"))


def _export(names: DomainNames, request: Request) -> ZoneExport:
    return names.files.visible(names.files.exports, caller_of(request), uuid_of(request, "zone_export_id"))


def create_import(names: DomainNames, request: Request) -> Response:
    caller, media_type = caller_of(request), request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type != MEDIA_TYPE:
        raise ApiError(415, f"Unsupported Content-Type: {media_type}", "unsupported_content_type")
    if len(request.body) > LARGEST_FILE:
        raise ApiError(413, f"The zone file has more than {LARGEST_FILE} bytes.", "request_too_large")
    record = names.files.begin_import(caller, request.body.decode(errors="replace"))
    return Response(import_view(request, record), 202)


def list_imports(names: DomainNames, request: Request) -> Response:
    caller = caller_of(request)
    rows = [row for row in names.files.imports if caller.may_see(row)]
    return list_response(request, "imports", rows, import_view, FILTERS)


def show_import(names: DomainNames, request: Request) -> Response:
    return Response(import_view(request, _import(names, request)))


def delete_import(names: DomainNames, request: Request) -> Response:
    names.files.imports.remove(_import(names, request))
    return Response(status=204)


def create_export(names: DomainNames, request: Request) -> Response:
    zone = owned(names, request)
    return Response(export_view(request, names.files.begin_export(caller_of(request), zone)), 202)


def list_exports(names: DomainNames, request: Request) -> Response:
    caller = caller_of(request)
    rows = [row for row in names.files.exports if caller.may_see(row)]
    return list_response(request, "exports", rows, export_view, FILTERS)


def show_export(names: DomainNames, request: Request) -> Response:
    return Response(export_view(request, _export(names, request)))


def delete_export(names: DomainNames, request: Request) -> Response:
    names.files.exports.remove(_export(names, request))
    return Response(status=204)


def show_file(names: DomainNames, request: Request) -> Response:
    """Return a zone file, as the zone is now."""
    export = _export(names, request)
    accepted = [media_type.partition(";")[0].strip() for media_type in request.headers.get("accept", "*/*").split(",")]
    if not {MEDIA_TYPE, "text/*", "*/*"} & set(accepted):
        raise ApiError(406, f"A zone file is {MEDIA_TYPE} only.", "not_acceptable")
    return Response(names.files.exported(export).encode(), headers={"Content-Type": MEDIA_TYPE})
