"""Containers that are web sites for those who come without a token: an index, lists as pages, and error pages, as the
container's `X-Container-Meta-Web-…` say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import quote

from openstack_emulator.core import error_bodies
from openstack_emulator.core.error_bodies import HTML
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.objectstore.records import Container, StoredObject
from openstack_emulator.objectstore.routes.access import require_listing
from openstack_emulator.objectstore.routes.listing import Entry, listed
from openstack_emulator.objectstore.routes.paths import account_of, container_of, object_of
from openstack_emulator.objectstore.routes.temp_url import is_signed
from openstack_emulator.objectstore.rules.composition import ObjectStore
from openstack_emulator.objectstore.rules.errors import refused
from openstack_emulator.objectstore.rules.times import http_date

INDEX, LISTINGS, STYLE, ERROR = (
    f"x-container-meta-web-{name}" for name in ("index", "listings", "listings-css", "error")
)
Page = Callable[[ObjectStore, Request], Response]
TRUE = frozenset({"1", "true", "on", "t", "yes", "y"})


def container_page(plain: Page, object_page: Page) -> Page:
    """The handler of a container that answers strangers as a site does.

    plain: what answers others; object_page: serves one object.
    """

    def answer(swift: ObjectStore, request: Request) -> Response:
        site = _site(swift, request)
        if site is None or not (INDEX in site.headers or _lists(site)):
            return plain(swift, request)
        try:
            return _folder(swift, request, site, "", object_page)
        except ApiError as error:
            return _error_page(swift, request, site, error, object_page)

    return answer


def site_page(plain: Page) -> Page:
    """The handler of an object that answers strangers as a site does: folders have an index or a list."""

    def answer(swift: ObjectStore, request: Request) -> Response:
        site = _site(swift, request)
        if site is None:
            return plain(swift, request)
        name = object_of(request)
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


def _site(swift: ObjectStore, request: Request) -> Container | None:
    """The container, if it is a site and the request comes from a stranger or asks for the site."""
    wants_site = request.headers.get("x-web-mode", "").lower() in TRUE
    if (request.caller is not None or is_signed(request)) and not wants_site:
        return None
    container = swift.containers.find(account_of(request), container_of(request))
    return container if container is not None and _is_site(container) else None


def _is_site(container: Container) -> bool:
    return _lists(container) or INDEX in container.headers or ERROR in container.headers


def _lists(container: Container) -> bool:
    return container.headers.get(LISTINGS, "").lower() in TRUE


def _is_folder(swift: ObjectStore, site: Container, name: str) -> bool:
    prefix = name.rstrip("/") + "/"
    return any(row.name.startswith(prefix) for row in swift.objects.of(site))


def _folder(swift: ObjectStore, request: Request, site: Container, prefix: str, object_page: Page) -> Response:
    """The index of a folder, or a list of what is in it; a path without its last slash is sent to the one with it."""
    if not request.raw_path.endswith("/"):
        return Response(None, 301, {"Location": f"{request.url}/"})
    index = site.headers.get(INDEX)
    if index is not None and swift.objects.find(site, prefix + index) is not None:
        return _object(swift, request, prefix + index, object_page)
    if not _lists(site):
        raise refused(404)
    require_listing(swift, request, site.account, site.name)
    query = Query(f"prefix={quote(prefix)}&delimiter=/")
    rows = listed(swift.objects.of(site), query, _entry)
    return Response(_page(request, site, prefix, rows).encode(), 200, {"Content-Type": HTML})


def _object(swift: ObjectStore, request: Request, name: str, object_page: Page) -> Response:
    request.vars = {**request.vars, "object": name}
    return object_page(swift, request)


def _error_page(swift: ObjectStore, request: Request, site: Container, error: ApiError, object_page: Page) -> Response:
    """The site's own page for an error: the object `<status><name of the error page>`."""
    name = f"{error.status}{site.headers.get(ERROR, '')}"
    if ERROR not in site.headers or swift.objects.find(site, name) is None:
        return Response(error_bodies.swift(error), error.status, error.headers)
    try:
        found = _object(swift, request, name, object_page)
    except ApiError:
        found = None
    if found is None or (content_type := found.headers.get("Content-Type")) is None:
        return Response(error_bodies.swift(error), error.status, error.headers)
    return Response(found.body, error.status, {"Content-Type": content_type})


def _page(request: Request, site: Container, prefix: str, rows: Sequence[Entry]) -> str:
    title = escape(f"Listing of /v1/{site.id}/{prefix}")
    style = site.headers.get(STYLE)
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


def _entry(stored: StoredObject) -> Entry:
    return {"name": stored.name, "bytes": stored.bytes, "date": http_date(stored.modified)}


def _row(row: Entry, prefix: str) -> str:
    label = str(row.get("subdir", row.get("name"))).removeprefix(prefix)
    link = f'<td class="colname"><a href="{quote(label)}">{escape(label)}</a></td>'
    if "subdir" in row:
        return f'<tr class="item subdir">{link}</tr>'
    size, time = f'<td class="colsize">{row["bytes"]}</td>', f'<td class="coldate">{row["date"]}</td>'
    return f'<tr class="item">{link}{size}{time}</tr>'
