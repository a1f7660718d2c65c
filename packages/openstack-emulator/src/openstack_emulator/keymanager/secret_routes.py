"""Secrets over HTTP: created in one or two steps, listed, read, described by metadata."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.keymanager.access import DECRYPTERS, READERS, access_routes, project_for
from openstack_emulator.keymanager.http import check, listed, object_of, reference
from openstack_emulator.keymanager.secrets import Secrets, content_from, view

_FILTERS = {"name": "name", "alg": "algorithm", "mode": "mode", "bits": "bit_length", "secret_type": "secret_type"}
_TIMES = ("created", "updated", "expiration")
_ORDERS = ("created", "expiration", "mode", "name", "secret_type", "status", "updated")
_COMPARISONS = {
    "gt": lambda have, wanted: have > wanted,
    "gte": lambda have, wanted: have >= wanted,
    "lt": lambda have, wanted: have < wanted,
    "lte": lambda have, wanted: have <= wanted,
    "": lambda have, wanted: have == wanted,
}


def create(secrets: Secrets, request: Request) -> Response:
    made = secrets.create(request.context, object_of(request))
    url = reference(request.base, "secrets", made["id"])
    return Response({"secret_ref": url}, 201, {"Location": url})


def index(secrets: Secrets, request: Request) -> Response:
    """The project's secrets, filtered and sorted; with `acl_only` those that name the caller in their list."""
    context, query = request.context, request.query
    project_id = project_for(context, READERS, "Secrets retrieval")
    rows = secrets.of_project(project_id)
    if query.boolean("acl_only"):
        rows = [row for row in rows if context.user_id in (row["_acl"] or {}).get("users", ())]
    for name, field in _FILTERS.items():
        if (wanted := query.get(name)) is not None:
            rows = [row for row in rows if str(row[field]) == wanted]
    for name in _TIMES:
        for condition in (query.get(name) or "").split(","):
            rows = [row for row in rows if not condition or _holds(row[name], condition)]
    for part in reversed([part for part in (query.get("sort") or "created:asc").split(",") if part]):
        field, _, direction = part.partition(":")
        if field not in _ORDERS or direction not in ("", "asc", "desc"):
            raise bad_request("Invalid sort: it must be a list of fields, each with :asc or :desc.")
        rows.sort(key=lambda row: str(row[field] or ""), reverse=direction == "desc")
    return listed(request, "secrets", rows, view)


def show(secrets: Secrets, request: Request) -> Response:
    """The description of a secret, or its payload for clients that accept only the type of the payload."""
    accepted = request.headers.get("accept", "*/*")
    if not _accepts(accepted, "application/json"):
        return show_payload(secrets, request)
    return Response(view(request.base, secrets.readable(request.context, request.vars["id"])))


def show_payload(secrets: Secrets, request: Request) -> Response:
    content = secrets.payload(secrets.readable(request.context, request.vars["id"], DECRYPTERS))
    if content is None:
        raise not_found("Not Found. Sorry but your secret has no payload.")
    if not _accepts(request.headers.get("accept", "*/*"), content.type):
        raise ApiError(406, "Not Acceptable. The secret has another content type.")
    return Response(content.data, headers={"Content-Type": content.type})


def upload(secrets: Secrets, request: Request) -> Response:
    """The second step: the payload of a secret that was created without one."""
    record = secrets.writable(request.context, request.vars["id"])
    kind = request.headers.get("content-type")
    if not kind:
        raise ApiError(415, "Missing content type: it must be that of the payload.")
    if not request.body:
        raise bad_request("No data provided to process.")
    secrets.set_payload(record, content_from(request.body, kind, request.headers.get("content-encoding")))
    return Response(status=204)


def delete(secrets: Secrets, request: Request) -> Response:
    secrets.remove(secrets.writable(request.context, request.vars["id"], "deletion"))
    return Response(status=204)


# -- metadata ------------------------------------------------------------------------------------------------------


def show_metadata(secrets: Secrets, request: Request) -> Response:
    return Response({"metadata": secrets.readable(request.context, request.vars["id"])["_metadata"]})


def replace_metadata(secrets: Secrets, request: Request) -> Response:
    record = secrets.writable(request.context, request.vars["id"])
    wanted = object_of(request).get("metadata")
    if not isinstance(wanted, dict) or not all(isinstance(value, str) for value in wanted.values()):
        raise bad_request("Provided object does not match schema 'SecretMetadata': 'metadata' must map strings.")
    secrets.rows.update(record, _metadata={key.lower(): value for key, value in wanted.items()})
    return Response({"metadata_ref": request.url}, 201)


def add_metadatum(secrets: Secrets, request: Request) -> Response:
    record, (key, value) = secrets.writable(request.context, request.vars["id"]), _metadatum(request)
    if key in record["_metadata"]:
        raise conflict("Conflict. Key in request is already in the secret metadata")
    secrets.rows.update(record, _metadata={**record["_metadata"], key: value})
    return Response({"key": key, "value": value}, 201, {"Location": f"{request.url}/{key}"})


def show_metadatum(secrets: Secrets, request: Request) -> Response:
    record = secrets.readable(request.context, request.vars["id"])
    return Response({"key": _known_key(record, request), "value": record["_metadata"][request.vars["key"].lower()]})


def change_metadatum(secrets: Secrets, request: Request) -> Response:
    record, (key, value) = secrets.writable(request.context, request.vars["id"]), _metadatum(request)
    if key != _known_key(record, request):
        raise bad_request("The key in the body and the key in the URL must be the same.")
    secrets.rows.update(record, _metadata={**record["_metadata"], key: value})
    return Response({"key": key, "value": value})


def remove_metadatum(secrets: Secrets, request: Request) -> Response:
    record = secrets.writable(request.context, request.vars["id"])
    gone = _known_key(record, request)
    secrets.rows.update(record, _metadata={key: value for key, value in record["_metadata"].items() if key != gone})
    return Response(status=204)


def _metadatum(request: Request) -> tuple[str, str]:
    body = object_of(request)
    forms = dict.fromkeys(("key", "value"), fields.text(maximum=65_535))
    check("'SecretMetadatum'", body, forms, ["key", "value"])
    return body["key"].lower(), body["value"]


def _known_key(record: Record, request: Request) -> str:
    key = request.vars["key"].lower()
    if key not in record["_metadata"]:
        raise not_found("Secret Metadata not found.")
    return key


# -- filters -------------------------------------------------------------------------------------------------------


def _holds(have: Any, condition: str) -> bool:
    """Whether a time satisfies a condition such as `gt:2020-02-02T00:00:00`; no time satisfies none."""
    operator, _, wanted = condition.partition(":")
    if operator not in _COMPARISONS:
        operator, wanted = "", condition
    return have is not None and _COMPARISONS[operator](have, wanted)


def _accepts(header: str, kind: str) -> bool:
    """Whether an `Accept` header names a content type (RFC 9110, section 12.5.1), without regard to weights."""
    ranges = {part.partition(";")[0].strip().lower() for part in header.split(",")}
    return not ranges.isdisjoint({kind, f"{kind.partition('/')[0]}/*", "*/*", ""})


_ONE = "/secrets/{id}"
SECRET_ROUTES = merged(
    using(
        Secrets,
        {
            "/secrets": {"GET": index, "POST": create},
            _ONE: {"GET": show, "PUT": upload, "DELETE": delete},
            f"{_ONE}/payload": {"GET": show_payload},
            f"{_ONE}/metadata": {"GET": show_metadata, "PUT": replace_metadata, "POST": add_metadatum},
            f"{_ONE}/metadata/{{key}}": {
                "GET": show_metadatum,
                "PUT": change_metadatum,
                "DELETE": remove_metadatum,
            },
        },
    ),
    access_routes(Secrets, _ONE),
)
