"""What all collections of the database service have in common over HTTP: bodies, pages, links, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import Record

LARGEST_PAGE = 20
SECONDS = "%Y-%m-%dT%H:%M:%S"
Forms = Mapping[str, fields.Check]


def password(value: Any) -> str | None:
    """A password, which is not repeated in the message."""
    return None if isinstance(value, str) and value else "is not a string with characters"


def check(where: str, given: Any, forms: Forms, required: Sequence[str] = (), *, open: bool = False) -> dict[str, Any]:
    """Return the known fields of an object, which pass their checks.

    open: the object may have other fields, which are ignored.

    Raises: ApiError 400.
    """
    if not isinstance(given, dict):
        raise _wrong(where, "is not an object")
    for name in required:
        if given.get(name) is None:
            raise _wrong(where, f"'{name}' is a required property")
    known = {name: value for name, value in given.items() if name in forms} if open else given
    for name, value in known.items():
        if name not in forms:
            raise _wrong(where, f"Additional properties are not allowed ('{name}' was unexpected)")
        if (problem := forms[name](value)) is not None:
            raise _wrong(f"{where}['{name}']", problem)
    return known


def objects(where: str, given: Any, forms: Forms, required: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return a list of such objects; null means none. Raises ApiError 400."""
    if given is None:
        return []
    if not isinstance(given, list):
        raise _wrong(where, "is not a list")
    return [check(f"{where}[{at}]", one, forms, required) for at, one in enumerate(given)]


def _wrong(where: str, problem: str) -> ApiError:
    return bad_request(f"Validation error: {where} {problem}")


def only_object(request: Request) -> dict[str, Any]:
    """The JSON object in the request's body. Raises ApiError 400."""
    if not isinstance(request.json, dict):
        raise bad_request("The request body must be a JSON object.")
    return request.json


def action_of(request: Request) -> tuple[str, Any]:
    """The name and the arguments of the action in the request's body, `{name: arguments}`. Raises ApiError 400."""
    body = only_object(request)
    if len(body) != 1:
        raise bad_request("The request body must be a JSON object with one action in it.")
    ((name, arguments),) = body.items()
    return name, arguments


def listed(
    request: Request, name: str, rows: Sequence[Record], view: Callable[[Record], Any], key: str = "id"
) -> Response:
    """A page of records: `limit` (at most 20) after the row whose `key` is `marker`, with a link to the next."""
    marker = request.query.get("marker")
    if not any(row[key] == marker for row in rows):  # Trove begins with the first row for a marker that is not there
        request.query.pairs[:] = [pair for pair in request.query.pairs if pair[0] != "marker"]
    found = page(rows, request.query, LARGEST_PAGE, key)
    body: dict[str, Any] = {name: [view(row) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body["links"] = [{"rel": "next", "href": request.next_url(found.next_marker)}]
    return Response(body)


def missing(key: str) -> ApiError:
    """The 404 of most kinds of objects."""
    return not_found(f"Resource {key} cannot be found.")


def links(request: Request, collection: str, key: str) -> list[dict[str, str]]:
    """The links of an object."""
    own = f"/{request.context.project}/{collection}/{key}"
    return [
        {"rel": "self", "href": f"{request.base}/v1.0{own}"},
        {"rel": "bookmark", "href": f"{request.base}/{collection}/{key}"},
    ]


def within_project(routes: Routes) -> Routes:
    """Routes below a project's ID, which must be the caller's project; administrators may name any."""
    return {
        pattern: {method: _within_project(handler) for method, handler in methods.items()}
        for pattern, methods in routes.items()
    }


def _within_project(handler: Handler) -> Handler:
    def serve(records: Any, request: Request) -> Response:
        caller, named = request.context, request.vars["project_id"]
        if caller.project != named and not caller.is_admin:
            raise forbidden(f"User with tenant ID {caller.project_id} cannot access tenant {named}.")
        return handler(records, request)

    return serve
