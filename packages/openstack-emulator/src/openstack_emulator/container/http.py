"""Lists and errors as Zun has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError, RolesLacking, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.microversions import Malformed
from openstack_emulator.core.objects import LISTED_BY, View, missing
from openstack_emulator.core.objects import listed as listed_plainly
from openstack_emulator.core.routing import NO_ROUTE
from openstack_emulator.core.store import Record

POLICY, SCHEMA, STATE, QUOTA = (
    "policy-not-authorized", "schema-validation-error", "invalid-state-exception", "over-quota",
)  # fmt: skip
_KINDS = {400: "invalid-value", 409: "conflict"}


def listed(
    request: Request, members: str, title: str, rows: Sequence[Record], view: View, filters: Sequence[str] = ()
) -> Response:
    """Return a page of a list: `{members: […], next: url or null}`. Raises ApiError 400, and 404 for a marker."""
    unknown = [name for name, _ in request.query.pairs if name not in LISTED_BY.union(filters)]
    if unknown:
        raise bad_request(f"Unknown parameters: {', '.join(unknown)}")
    limit = request.query.get("limit", "1")
    if limit is None or not limit.isdecimal() or int(limit) == 0:
        raise bad_request("Limit must be positive integer")
    found = listed_plainly(request, members, rows, view, filters, missing(title))
    return Response({"next": None, **found.body})


def error_body(error: ApiError) -> dict[str, Any]:
    """Return the body of an error: a list of one object, as the guideline of OpenStack's API working group has it."""
    shown: dict[str, Any] = {"request_id": "", "status": error.status, "links": []}
    if error.message == NO_ROUTE:
        return {"errors": [{**shown, "code": "container.", "title": error.title, "detail": ""}]}
    if isinstance(error, Malformed):
        return {"errors": [{**shown, "code": "container.", "title": error.title, "detail": error.message}]}
    kind = POLICY if isinstance(error, RolesLacking) else error.kind or _KINDS.get(error.status, "")
    return {"errors": [{**shown, "code": f"container.{kind}", "title": error.message, "detail": error.message}]}
