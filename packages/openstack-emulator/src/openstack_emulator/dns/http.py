"""What the routes of the DNS service have in common: the caller, errors, checks of bodies, lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.fields import Check, as_integer
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import Record

DEFAULT_LIMIT, LARGEST_LIMIT = 20, 1000
LARGEST_TTL = 2**31 - 1
LONGEST_DESCRIPTION = 160
_PAGING = frozenset({"limit", "marker", "sort_key", "sort_dir"})

Problem = dict[str, Any]
View = Callable[[Request, Record], dict[str, Any]]


@dataclass(frozen=True)
class Caller:
    """Who acts, and with which of the extra rights that headers request.

    project_id: the caller's project, or the one that an administrator acts for (`X-Auth-Sudo-Project-ID`).
    all_projects: objects of all projects are reachable (`X-Auth-All-Projects`).
    edits_managed: records that Designate manages itself can be changed (`X-Designate-Edit-Managed-Records`).
    """

    project_id: str
    is_admin: bool
    all_projects: bool
    edits_managed: bool

    def may_see(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record is in reach: those of other projects only with `all_projects`."""
        return self.all_projects or record["project_id"] == self.project_id


def caller_of(request: Request) -> Caller:
    """Return the caller of a request. Raises ApiError 403 for headers that only administrators may send."""
    context, headers = request.context, request.headers
    all_projects = _is_set(headers, "x-auth-all-projects")
    edits_managed = _is_set(headers, "x-designate-edit-managed-records")
    sudo = headers.get("x-auth-sudo-project-id") or headers.get("x-auth-sudo-tenant-id")
    if (all_projects or edits_managed or sudo) and not context.is_admin:
        raise forbidden("")
    return Caller(sudo or context.project_id or "", context.is_admin, all_projects, edits_managed)


def administrator_of(request: Request) -> Caller:
    """Return the caller, who must be an administrator. Raises ApiError 403."""
    caller = caller_of(request)
    if not caller.is_admin:
        raise forbidden("")
    return caller


def _is_set(headers: Mapping[str, str], name: str) -> bool:
    return headers.get(name, "").lower() in ("true", "yes", "1")


def missing(kind: str) -> Callable[[str], ApiError]:
    """Return what makes the 404 for an object of a kind, such as `Zone Transfer Request`."""
    name = f"{kind.lower().replace(' ', '_')}_not_found"
    return lambda key: ApiError(404, f"Could not find {kind.replace(' ', '')}", name)


def duplicate(kind: str) -> ApiError:
    """Return the 409 for an object whose name or place is taken."""
    return ApiError(409, f"Duplicate {kind}", f"duplicate_{kind.lower().replace(' ', '_')}")


def problem(message: str, path: Sequence[str | int], validator: str, value: Any) -> Problem:
    """Return what is wrong at a place of an object: which validator failed, and what that was about."""
    return {"message": message, "path": list(path), "validator": validator, "validator_value": value}


def lacking(name: str) -> Problem:
    """Return that an object has not a field that is required."""
    return problem(f"'{name}' is a required property", [name, "records", 0], "required", [name])


def invalid_object(*problems: Problem) -> ApiError:
    """Return the 400 for an object that fails the checks of its fields with each other; it has no message."""
    error = ApiError(400, "", "invalid_object")
    if problems:
        error.details["errors"] = {"errors": list(problems)}
    return error


def invalid_value(message: str) -> ApiError:
    """Return the 400 for a field whose value fails its check."""
    words = f"Provided object is not valid. Got a ValueError error with message {message}"
    return ApiError(400, words, "invalid_object")


def number(name: str, minimum: int, maximum: int) -> Check:
    """An integer, or a string of one; `name` is that of the field."""

    def check(value: Any) -> str | None:
        found = as_integer(value)
        if found is None:
            return f"invalid literal for int() with base 10: {value!r}"
        if found < minimum:
            return f"Value must be >= {minimum} for field {name}"
        return f"Value must be <= {maximum} for field {name}" if found > maximum else None

    return check


def enumerated(*words: str) -> Check:
    """One of these words."""
    return lambda value: None if value in words else f"Field value {value} is invalid"


def uuid_of(request: Request, name: str) -> str:
    """Return an ID in the path. Raises ApiError 400 if it is not a UUID."""
    value = request.vars[name]
    try:
        UUID(value)
    except ValueError:
        raise ApiError(400, f"Invalid UUID {name}: {value}", "invalid_uuid") from None
    return value


def _decoded(request: Request) -> Any:
    """Return the JSON in a body. Raises ApiError 400 with the message of Python's decoder."""
    try:
        return request.json
    except ApiError as error:
        message = error.message
    try:
        json.loads(request.body)
    except ValueError as error:
        message = str(error)
    except RecursionError:
        pass
    raise ApiError(400, message, "invalid_json")


def body_of(request: Request, what: str, fields: Mapping[str, Check], required: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON object in a body, whose fields pass their checks.

    what: the name of such objects in messages.

    Raises: ApiError 400.
    """
    body = _decoded(request)
    if not isinstance(body, dict):
        raise ApiError(400, "The body of the request must be a JSON object.", "bad_request")
    for name, value in body.items():
        if name in fields and (wrong := fields[name](value)) is not None:
            raise invalid_value(wrong)
    if unknown := [name for name in body if name not in fields]:
        message = f"Provided object does not match schema. Keys {unknown} are not valid for {what}"
        raise ApiError(400, message, "invalid_object")
    if problems := [lacking(name) for name in required if name not in body]:
        raise invalid_object(*problems)
    return body


def listed(
    request: Request,
    members: str,
    rows: Iterable[Record],
    view: View,
    filters: Collection[str] = (),
    sort_keys: Collection[str] = (),
) -> Response:
    """Return a page of a list: `{<members>: […], links: {self, next}, metadata: {total_count}}`.

    filters: fields that the query can compare; `*` in a value stands for any characters.
    sort_keys: fields by which the list can be sorted, besides those of all lists; the filters without any.

    Raises: ApiError 400 for an unknown filter or sort key, and for an invalid limit or marker.
    """
    query = request.query
    if unknown := [name for name, _ in query.pairs if name not in filters and name not in _PAGING]:
        raise ApiError(400, f"Invalid filters {', '.join(unknown)}")
    _check_sorting(query, ("created_at", "id", "updated_at", *(sort_keys or (*filters, "tenant_id"))))
    found = ordered([row for row in rows if _matches(query, row, filters)], query, (("created_at", False),))
    limit = _limit(query)
    shown = page(found, Query(_with_limit(query, limit)), LARGEST_LIMIT, missing=_unknown_marker)
    links = {"self": f"{request.url}?{request.query_string}" if request.query_string else request.url}
    if shown.next_marker is not None:
        links["next"] = request.next_url(shown.next_marker)
    objects = [view(request, row) for row in shown.rows]
    return Response({members: objects, "links": links, "metadata": {"total_count": len(found)}})


def _limit(query: Query) -> int:
    given = query.get("limit")
    if given is None:
        return DEFAULT_LIMIT
    if given.lower() == "max":
        return LARGEST_LIMIT
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:10]) <= LARGEST_LIMIT:
        raise ApiError(400, f"limit should be an integer between 1 and {LARGEST_LIMIT}", "invalid_limit")
    return int(given)


def _with_limit(query: Query, limit: int) -> str:
    marker = query.get("marker")
    return f"limit={limit}" + (f"&marker={marker}" if marker else "")


def _unknown_marker(marker: str) -> ApiError:
    return ApiError(400, f"Marker {marker} could not be found", "marker_not_found")


def _check_sorting(query: Query, names: Collection[str]) -> None:
    for key in query.all("sort_key"):
        if key not in names:
            raise ApiError(400, f"sort key must be one of {list(names)}", "invalid_sort_key")
    for direction in query.all("sort_dir"):
        if direction not in ("asc", "desc"):
            raise ApiError(400, f"sort direction {direction!r} is not valid", "invalid_sort_dir")


def _matches(query: Query, row: Record, filters: Collection[str]) -> bool:
    return all(_compared(row.get(name), query.all(name)) for name in filters if name in query)


def _compared(value: Any, wanted: Collection[str]) -> bool:
    have = [str(one).lower() for one in (value if isinstance(value, list) else [value]) if one is not None]
    return any(_is_like(one, pattern.lower()) for pattern in wanted for one in have)


def _is_like(text: str, pattern: str) -> bool:
    """Return whether a string is what a pattern describes, in which `*` stands for any characters."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    if not text.startswith(first) or not text.endswith(last):
        return False
    start, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return start <= end
