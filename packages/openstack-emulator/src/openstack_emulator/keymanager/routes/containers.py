"""Containers, their secrets and their consumers over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.keymanager.records import Container, Entry
from openstack_emulator.keymanager.routes.bodies import created_response, key_of, list_response, object_of
from openstack_emulator.keymanager.rules.composition import KeyManager
from openstack_emulator.keymanager.rules.containers import GENERIC, REFERENCES, REQUIRED, SCHEMA, check_entries
from openstack_emulator.keymanager.rules.guarded import READERS, WRITERS, project_for
from openstack_emulator.keymanager.rules.references import key_in
from openstack_emulator.keymanager.rules.validation import BARBICAN, within
from openstack_emulator.keymanager.views import consumer_view, container_view

_NAME = fields.nullable(fields.text())
_FORMS = {
    "name": _NAME,
    "type": fields.one_of(*REQUIRED),
    "secret_refs": fields.items(fields.mapping),
}
_REFERENCE_FORMS = {"name": _NAME, "secret_ref": fields.text(1, 2048)}
_IN_REFERENCES = within(REFERENCES)
_CONSUMER_FORMS = {"name": fields.text(1), "URL": fields.text(1)}


def _readable(manager: KeyManager, request: Request) -> Container:
    return manager.containers.readable(request.context, key_of(request))


def create(manager: KeyManager, request: Request) -> Response:
    body, context = object_of(request), request.context
    project_id = project_for(context, WRITERS, "Container creation")
    BARBICAN.check(SCHEMA, body, _FORMS, ["type"])
    kind, references = body["type"], body.get(REFERENCES, [])
    entries = [_entry(reference) for reference in references]
    check_entries(kind, entries)
    for reference, entry in zip(references, entries, strict=True):
        _require_secret(manager, request, reference, entry)
    container = manager.containers.create(project_id, context.user_id, kind, body.get("name"), entries)
    return created_response(request, "containers", container.id)


def _entry(body: Mapping[str, Any]) -> Entry:
    """The secret of a container that a request refers to. Raises ApiError 400."""
    _IN_REFERENCES.check(SCHEMA, body, _REFERENCE_FORMS, ["secret_ref"])
    return Entry(name=body.get("name"), secret_id=key_in(body.get("secret_ref")))


def _require_secret(manager: KeyManager, request: Request, body: Mapping[str, Any], entry: Entry) -> None:
    """Raise ApiError 400 for a reference to another service, 404 for a secret that the caller cannot read."""
    if not body["secret_ref"].startswith(f"{request.base}/"):
        raise bad_request("Provided field value is not supported")
    manager.containers.require_secret(request.context, entry)


def index(manager: KeyManager, request: Request) -> Response:
    project_id = project_for(request.context, READERS, "Containers retrieval")
    rows = manager.containers.rows.select(project_id=project_id)
    for name in ("name", "type"):
        if (value := request.query.get(name)) is not None:
            rows = [row for row in rows if row.get(name) == value]
    return list_response(request, "containers", rows, container_view)


def show(manager: KeyManager, request: Request) -> Response:
    return Response(container_view(request.base, _readable(manager, request)))


def delete(manager: KeyManager, request: Request) -> Response:
    manager.containers.rows.remove(manager.containers.writable(request.context, key_of(request), "deletion"))
    return Response(status=204)


def add_secret(manager: KeyManager, request: Request) -> Response:
    """Add a secret to a generic container."""
    record, body = _changeable(manager, request), object_of(request)
    entry = _entry(body)
    check_entries(GENERIC, [*record.entries, entry])
    _require_secret(manager, request, body, entry)
    manager.containers.add_secret(record, entry)
    return created_response(request, "containers", record.id)


def remove_secret(manager: KeyManager, request: Request) -> Response:
    """Remove a secret, given by its name and reference, from a generic container."""
    record, body = _changeable(manager, request), object_of(request)
    entry = _entry(body)
    _require_secret(manager, request, body, entry)
    manager.containers.remove_secret(record, entry)
    return Response(status=204)


def _changeable(manager: KeyManager, request: Request) -> Container:
    record = manager.containers.writable(request.context, key_of(request))
    manager.containers.require_changeable(record)
    return record


def add_consumer(manager: KeyManager, request: Request) -> Response:
    record, (name, url) = _readable(manager, request), _consumer(request)
    manager.containers.add_consumer(request.context, record, name, url)
    return Response(container_view(request.base, record))


def list_consumers(manager: KeyManager, request: Request) -> Response:
    return list_response(request, "consumers", _readable(manager, request).consumers, consumer_view)


def show_consumer(manager: KeyManager, request: Request) -> Response:
    record, key = _readable(manager, request), request.vars["consumer_id"]
    found = next((consumer for consumer in record.consumers if consumer.id == key), None)
    if found is None:
        raise not_found("Consumer not found.")
    return Response(consumer_view(request.base, found))


def remove_consumer(manager: KeyManager, request: Request) -> Response:
    record, (name, url) = _readable(manager, request), _consumer(request)
    manager.containers.remove_consumer(record, name, url)
    return Response(container_view(request.base, record))


def _consumer(request: Request) -> tuple[str, str]:
    """The name and the URL of the consumer in a request. Raises ApiError 400."""
    body = object_of(request)
    BARBICAN.check("'Consumer'", body, _CONSUMER_FORMS, list(_CONSUMER_FORMS))
    name, url = (str(body[field]) for field in _CONSUMER_FORMS)
    return name, url
