"""What the routes of all collections have in common: bodies and pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.keymanager.rules.references import reference

R = TypeVar("R")
DEFAULT_PAGE, MAXIMUM_PAGE = 10, 100
"""Objects of a page."""


def key_of(request: Request) -> str:
    """The ID of the object that the path names."""
    return request.vars["id"]


def created_response(request: Request, collection: str, key: str, status: int = 201) -> Response:
    """The answer to the creation of an object: its reference."""
    url = reference(request.base, collection, key)
    return Response({f"{collection.removesuffix('s')}_ref": url}, status, {"Location": url})


def object_of(request: Request) -> dict[str, Any]:
    """The JSON object in the request's body.

    Raises: ApiError 415 for another content type, 400 for other JSON.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise ApiError(415, "Unexpected content type. Expected content types are: ['application/json']")
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    return body


def list_response(request: Request, name: str, rows: Sequence[R], view: Callable[[str, R], dict[str, Any]]) -> Response:
    """A page of objects: `limit` (10, at most 100) of them after the first `offset`, with links to its neighbours.

    Values that are not numbers are taken as absent, as Barbican does. view: makes the public form of an object; its
    first argument is the URL of the service.
    """
    offset = _number(request.query, "offset") or 0
    limit = min(_number(request.query, "limit") or DEFAULT_PAGE, MAXIMUM_PAGE)
    body: dict[str, Any] = {
        name: [view(request.base, row) for row in rows[offset : offset + limit]],
        "total": len(rows),
    }
    if offset:
        body |= {"previous": _page_url(request, max(offset - limit, 0), limit)}
    if offset + limit < len(rows):
        body |= {"next": _page_url(request, offset + limit, limit)}
    return Response(body)


def _page_url(request: Request, offset: int, limit: int) -> str:
    parameters = [(name, value) for name, value in request.query.pairs if name not in ("limit", "offset")]
    return f"{request.url}?{urlencode([('limit', limit), ('offset', offset), *parameters])}"


def _number(query: Query, name: str) -> int | None:
    """A parameter that is a natural number of at most nine digits; None for any other."""
    value = query.get(name) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
