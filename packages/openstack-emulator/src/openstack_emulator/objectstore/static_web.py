"""Containers that are web sites for those who come without a token: an index, lists as pages, and error pages, as the
container's `X-Container-Meta-Web-…` say."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.error_bodies import HTML
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.access import require_listing
from openstack_emulator.objectstore.conditions import http_date
from openstack_emulator.objectstore.errors import refused
from openstack_emulator.objectstore.listing import Entry, listed
from openstack_emulator.objectstore.records import ObjectStoreRecords
from openstack_emulator.objectstore.temp_url import is_signed

INDEX, LISTINGS, STYLE, ERROR = (
    f"x-container-meta-web-{name}" for name in ("index", "listings", "listings-css", "error")
)
TRUE = frozenset({"1", "true", "on", "t", "yes", "y"})


def container_page(plain: Handler, object_page: Handler) -> Handler:
    """The handler of a container that answers strangers as a site does.

    plain: what answers others; object_page: serves one object.
    """

    def answer(swift: ObjectStoreRecords, request: Request) -> Response:
        site = _site(swift, request)
        if site is None or not (INDEX in site["headers"] or _lists(site)):
            return plain(swift, request)
        try:
            return _folder(swift, request, site, "", object_page)
        except ApiError as error:
            return _error_page(swift, request, site, error, object_page)

    return answer


def site_page(plain: Handler) -> Handler:
    """The handler of an object that answers strangers as a site does: folders have an index or a list."""

    def answer(swift: ObjectStoreRecords, request: Request) -> Response:
        site = _site(swift, request)
        if site is None:
            return plain(swift, request)
        name = request.vars["object"]
        try:
            try:
                return plain(swift, request)
            except ApiError as error:
                if error.status != 404 or not _is_folder(swift, site, name):
                    raise
                return _folder(swift, request, site, name.rstrip("/") + "/", plain)
        except ApiError as error:
            return _error_page(swift, request, site, error, plain)

    return answer


def _site(swift: ObjectStoreRecords, request: Request) -> Record | None:
    """The container, if it is a site and the request comes from a stranger or asks for the site."""
    asked = request.headers.get("x-web-mode", "").lower() in TRUE
    if (request.caller is not None or is_signed(request)) and not asked:
        return None
    container = swift.containers.get(f"{request.vars['account']}/{request.vars['container']}")
    return container if container is not None and _is_site(container) else None


def _is_site(container: Record) -> bool:
    return _lists(container) or INDEX in container["headers"] or ERROR in container["headers"]


def _lists(container: Record) -> bool:
    return container["headers"].get(LISTINGS, "").lower() in TRUE


def _is_folder(swift: ObjectStoreRecords, site: Record, name: str) -> bool:
    prefix = name.rstrip("/") + "/"
    return any(row["name"].startswith(prefix) for row in swift.objects_in(site))


def _folder(swift: ObjectStoreRecords, request: Request, site: Record, prefix: str, object_page: Handler) -> Response:
    """The index of a folder, or a list of what is in it; a path without its last slash is sent to the one with it."""
    if not request.raw_path.endswith("/"):
        return Response(None, 301, {"Location": f"{request.url}/"})
    index = site["headers"].get(INDEX)
    if index is not None and swift.find_object(site, prefix + index) is not None:
        return _object(swift, request, prefix + index, object_page)
    if not _lists(site):
        raise refused(404)
    require_listing(swift, request, site["account"], site["name"])
    query = Query(f"prefix={quote(prefix)}&delimiter=/")
    rows = listed(swift.objects_in(site), query, lambda row: {key: row[key] for key in ("name", "bytes", "modified")})
    return Response(_page(request, site, prefix, rows).encode(), 200, {"Content-Type": HTML})


def _object(swift: ObjectStoreRecords, request: Request, name: str, object_page: Handler) -> Response:
    request.vars = {**request.vars, "object": name}
    return object_page(swift, request)


def _error_page(
    swift: ObjectStoreRecords, request: Request, site: Record, error: ApiError, object_page: Handler
) -> Response:
    """The site's own page for an error: the object `<status><name of the error page>`."""
    name = f"{error.status}{site['headers'].get(ERROR, '')}"
    if ERROR not in site["headers"] or swift.find_object(site, name) is None:
        return Response(error_bodies.swift(error), error.status, error.headers)
    try:
        found = _object(swift, request, name, object_page)
    except ApiError:
        return Response(error_bodies.swift(error), error.status, error.headers)
    return Response(found.body, error.status, {"Content-Type": found.headers["Content-Type"]})


def _page(request: Request, site: Record, prefix: str, rows: Sequence[Entry]) -> str:
    title = escape(f"Listing of /v1/{site['id']}/{prefix}")
    style = site["headers"].get(STYLE)
    head = f"<title>{title}</title>"
    if style is not None:
        path = style if style.startswith(("/", "http://", "https://")) else "../" * prefix.count("/") + quote(style)
        head += f'<link rel="stylesheet" type="text/css" href="{escape(path)}" />'
    above = '<tr id="parent" class="item"><td class="colname"><a href="../">../</a></td></tr>' if prefix else ""
    items = "".join(_row(row, prefix) for row in rows)
    return (
        f"<!DOCTYPE html>\n<html><head>{head}</head><body>"
        f'<h1 id="title">{title}</h1><table id="listing">{above}{items}</table></body></html>\n'
    )


def _row(row: Entry, prefix: str) -> str:
    label = str(row.get("subdir", row.get("name"))).removeprefix(prefix)
    link = f'<td class="colname"><a href="{quote(label)}">{escape(label)}</a></td>'
    if "subdir" in row:
        return f'<tr class="item subdir">{link}</tr>'
    size, time = f'<td class="colsize">{row["bytes"]}</td>', f'<td class="coldate">{http_date(row["modified"])}</td>'
    return f'<tr class="item">{link}{size}{time}</tr>'
