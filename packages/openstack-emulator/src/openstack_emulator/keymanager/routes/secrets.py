"""Secrets over HTTP: created in one or two steps, listed, read, described by metadata."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.keymanager.records import Secret
from openstack_emulator.keymanager.routes.bodies import created_response, key_of, list_response, object_of
from openstack_emulator.keymanager.rules.composition import KeyManager
from openstack_emulator.keymanager.rules.guarded import DECRYPTERS, READERS, WRITERS, project_for
from openstack_emulator.keymanager.rules.inputs import NewSecret, content_from, content_in
from openstack_emulator.keymanager.rules.validation import BARBICAN
from openstack_emulator.keymanager.views import secret_view

_SCHEMA = "'Secret'"
_FILTERS = {"name": "name", "alg": "algorithm", "mode": "mode", "bits": "bit_length", "secret_type": "secret_type"}
_TIMES = ("created", "updated", "expiration")
_ORDERS = ("created", "expiration", "mode", "name", "secret_type", "status", "updated")
_COMPARISONS = {
    "gt": lambda have, expected: have > expected,
    "gte": lambda have, expected: have >= expected,
    "lt": lambda have, expected: have < expected,
    "lte": lambda have, expected: have <= expected,
    "": lambda have, expected: have == expected,
}


def _readable(manager: KeyManager, request: Request, roles: tuple[str, ...] = READERS) -> Secret:
    return manager.secrets.readable(request.context, key_of(request), roles)


def _writable(manager: KeyManager, request: Request, what: str = "update") -> Secret:
    return manager.secrets.writable(request.context, key_of(request), what)


def create(manager: KeyManager, request: Request) -> Response:
    body, context = object_of(request), request.context
    project_id = project_for(context, WRITERS, "Secret creation")
    new = NewSecret.from_json(_SCHEMA, body, manager.now())
    secret = manager.secrets.create(project_id, context.user_id, new, content_in(_SCHEMA, body))
    return created_response(request, "secrets", secret.id)


def index(manager: KeyManager, request: Request) -> Response:
    """The project's secrets, filtered and sorted; with `acl_only` those that name the caller in their list."""
    context, query = request.context, request.query
    project_id = project_for(context, READERS, "Secrets retrieval")
    rows = manager.secrets.of_project(project_id)
    if query.boolean("acl_only"):
        rows = [row for row in rows if row.acl is not None and context.user_id in row.acl.users]
    for name, field in _FILTERS.items():
        if (value := query.get(name)) is not None:
            rows = [row for row in rows if str(row.get(field)) == value]
    for name in _TIMES:
        for condition in (query.get(name) or "").split(","):
            rows = [row for row in rows if not condition or _holds(row.get(name), condition)]
    for part in reversed([part for part in (query.get("sort") or "created:asc").split(",") if part]):
        field, _, direction = part.partition(":")
        if field not in _ORDERS or direction not in ("", "asc", "desc"):
            raise bad_request("Invalid sort: it must be a list of fields, each with :asc or :desc.")
        rows.sort(key=lambda row: str(row.get(field) or ""), reverse=direction == "desc")
    return list_response(request, "secrets", rows, secret_view)


def show(manager: KeyManager, request: Request) -> Response:
    """The description of a secret, or its payload for clients that accept only the type of the payload."""
    accepted = request.headers.get("accept", "*/*")
    if not _accepts(accepted, "application/json"):
        return show_payload(manager, request)
    return Response(secret_view(request.base, _readable(manager, request)))


def show_payload(manager: KeyManager, request: Request) -> Response:
    content = manager.secrets.payload(_readable(manager, request, DECRYPTERS))
    if content is None:
        raise not_found("Not Found. Sorry but your secret has no payload.")
    if not _accepts(request.headers.get("accept", "*/*"), content.type):
        raise ApiError(406, "Not Acceptable. The secret has another content type.")
    return Response(content.data, headers={"Content-Type": content.type})


def upload(manager: KeyManager, request: Request) -> Response:
    """The second step: the payload of a secret that was created without one."""
    record = _writable(manager, request)
    kind = request.headers.get("content-type")
    if not kind:
        raise ApiError(415, "Missing content type: it must be that of the payload.")
    if not request.body:
        raise bad_request("No data provided to process.")
    manager.secrets.set_payload(record, content_from(request.body, kind, request.headers.get("content-encoding")))
    return Response(status=204)


def delete(manager: KeyManager, request: Request) -> Response:
    manager.secrets.remove(_writable(manager, request, "deletion"))
    return Response(status=204)


def show_metadata(manager: KeyManager, request: Request) -> Response:
    return Response({"metadata": _readable(manager, request).metadata})


def replace_metadata(manager: KeyManager, request: Request) -> Response:
    record = _writable(manager, request)
    body = object_of(request).get("metadata")
    if not isinstance(body, dict) or not all(isinstance(value, str) for value in body.values()):
        raise bad_request("Provided object does not match schema 'SecretMetadata': 'metadata' must map strings.")
    manager.secrets.set_metadata(record, {key.lower(): value for key, value in body.items()})
    return Response({"metadata_ref": request.url}, 201)


def add_metadatum(manager: KeyManager, request: Request) -> Response:
    record, (key, value) = _writable(manager, request), _metadatum(request)
    if key in record.metadata:
        raise conflict("Conflict. Key in request is already in the secret metadata")
    manager.secrets.set_metadata(record, {**record.metadata, key: value})
    return Response({"key": key, "value": value}, 201, {"Location": f"{request.url}/{key}"})


def show_metadatum(manager: KeyManager, request: Request) -> Response:
    record = _readable(manager, request)
    key = _known_key(record, request)
    return Response({"key": key, "value": record.metadata[key]})


def change_metadatum(manager: KeyManager, request: Request) -> Response:
    record, (key, value) = _writable(manager, request), _metadatum(request)
    if key != _known_key(record, request):
        raise bad_request("The key in the body and the key in the URL must be the same.")
    manager.secrets.set_metadata(record, {**record.metadata, key: value})
    return Response({"key": key, "value": value})


def remove_metadatum(manager: KeyManager, request: Request) -> Response:
    record = _writable(manager, request)
    gone = _known_key(record, request)
    manager.secrets.set_metadata(record, {key: value for key, value in record.metadata.items() if key != gone})
    return Response(status=204)


def _metadatum(request: Request) -> tuple[str, str]:
    body = object_of(request)
    forms = dict.fromkeys(("key", "value"), fields.text(maximum=65_535))
    BARBICAN.check("'SecretMetadatum'", body, forms, ["key", "value"])
    key, value = (str(body[field]) for field in forms)
    return key.lower(), value


def _known_key(record: Secret, request: Request) -> str:
    key = request.vars["key"].lower()
    if key not in record.metadata:
        raise not_found("Secret Metadata not found.")
    return key


def _holds(have: object, condition: str) -> bool:
    """Whether a time satisfies a condition such as `gt:2020-02-02T00:00:00`; no time satisfies none."""
    operator, _, operand = condition.partition(":")
    if operator not in _COMPARISONS:
        operator, operand = "", condition
    return have is not None and _COMPARISONS[operator](have, operand)


def _accepts(header: str, kind: str) -> bool:
    """Whether an `Accept` header names a content type (RFC 9110, section 12.5.1), without regard to weights."""
    ranges = {part.partition(";")[0].strip().lower() for part in header.split(",")}
    return not ranges.isdisjoint({kind, f"{kind.partition('/')[0]}/*", "*/*", ""})
