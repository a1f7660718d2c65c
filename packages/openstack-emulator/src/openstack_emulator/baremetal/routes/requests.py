"""What requests for all kinds of objects have in common: the fields that are chosen, pages of lists, UUIDs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from openstack_emulator.baremetal.records import BareMetalRecord
from openstack_emulator.baremetal.rules.fields import ObjectKind
from openstack_emulator.baremetal.views import shown
from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation import fields

LISTED_BY = ("limit", "marker", "sort_key", "sort_dir", "fields", "detail")
B = TypeVar("B", bound=BareMetalRecord)


def chosen_fields(request: Request, kind: ObjectKind, detail: bool) -> Sequence[str] | None:
    """The fields that a request asks for; None for all. Raises ApiError 400 and 406."""
    names = [name for value in request.query.all("fields") for name in value.split(",") if name]
    detail = detail or bool(request.query.boolean("detail"))
    if not names:
        return None if detail else kind.brief
    if detail:
        raise bad_request("Can't fetch a subset of fields with 'detail' set")
    for name in names:
        field = kind.fields.get(name)
        if name != "links" and (field is None or field.write_only):
            raise bad_request(f"Field {name} is not a valid field.")
        if field is not None and field.since > request.version:
            raise ApiError(406, f"Request not acceptable. Field {name} needs a newer API version.")
    return names


def list_response(request: Request, kind: ObjectKind, rows: Iterable[B], *, detail: bool = False) -> Response:
    """A page of objects with a link to the next page; `detail` shows all of their fields."""
    names = chosen_fields(request, kind, detail)
    key = request.query.get("sort_key")
    if key is not None and key not in kind.fields:
        raise bad_request(f'The sort_key value "{key}" is an invalid field for sorting')
    if (limit := request.query.get("limit")) is not None and not limit.lstrip("-").isdecimal():
        raise bad_request(f"Expected an integer for limit: {limit}")
    if limit is not None and int(limit) < 0:
        raise bad_request("Limit must be positive")
    direction = request.query.get("sort_dir", "asc")
    if direction not in ("asc", "desc"):
        raise bad_request(f"Invalid sort direction: {direction}. Acceptable values are 'asc' or 'desc'")

    def no_marker(marker: str) -> ApiError:
        return not_found(f"{kind.title.capitalize()} {marker} could not be found.")

    found = page(ordered(list(rows), request.query), request.query, key="uuid", missing=no_marker)
    body: dict[str, Any] = {kind.path.rpartition("/")[2]: [shown(request, kind, row, names) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body |= {"next": request.next_url(found.next_marker)}
    return Response(body)


def single(request: Request, kind: ObjectKind, record: BareMetalRecord, status: int = 200) -> Response:
    """One object, or those fields of it that the request asks for."""
    names = chosen_fields(request, kind, detail="fields" not in request.query)
    headers = {"Location": f"{request.base}/v1/{kind.path}/{record.uuid}"} if status == 201 else {}
    return Response(shown(request, kind, record, names), status, headers)


def new_key(request: Request, *present: Table[Any]) -> str:
    """The UUID of a new object: that of the request, or a new one. Raises ApiError 400, and 409 for one in use."""
    uuid = request.json.get("uuid")
    if uuid is None:
        return new_id()
    if fields.identifier(uuid) is not None:
        raise bad_request(f"Expected UUID for uuid: {uuid}")
    if any(uuid in rows for rows in present):
        raise conflict(f"An object with UUID {uuid} already exists.")
    return str(uuid)


def body_of(request: Request) -> dict[str, Any]:
    """The body of a request. Raises ApiError 400 if it is no JSON object."""
    if not isinstance(request.json, dict):
        raise bad_request("The request body must be a JSON object.")
    return request.json
