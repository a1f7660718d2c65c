"""Containers: named references to secrets, and the consumers that registered their interest in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.keymanager.access import READERS, WRITERS, Guarded, access_routes, project_for
from openstack_emulator.keymanager.http import check, key_in, listed, mismatch, object_of, object_value, reference
from openstack_emulator.keymanager.quotas import Quotas
from openstack_emulator.keymanager.secrets import Secrets

GENERIC, RSA, CERTIFICATE = "generic", "rsa", "certificate"
_SCHEMA, _REFERENCES = "'Container'", "secret_refs"
_REQUIRED = {GENERIC: (), RSA: ("public_key", "private_key"), CERTIFICATE: ("certificate",)}
_ALLOWED = {
    RSA: ("private_key", "public_key", "private_key_passphrase"),
    CERTIFICATE: ("certificate", "private_key", "private_key_passphrase", "intermediates"),
}
_TITLES = {RSA: "RSA", CERTIFICATE: "Certificate"}
_NAME = fields.nullable(fields.text())
_FORMS = {
    "name": _NAME,
    "type": fields.one_of(*_REQUIRED),
    "secret_refs": fields.items(object_value),
}
_REFERENCE_FORMS = {"name": _NAME, "secret_ref": fields.text(1, 2048)}
_CONSUMER_FORMS = {"name": fields.text(1), "URL": fields.text(1)}
_SHOWN = ("name", "type", "status", "creator_id", "created", "updated")


class Containers(Guarded):
    """The containers of all projects."""

    kind = "Container"

    def __init__(self, records: Records, quotas: Quotas, secrets: Secrets) -> None:
        super().__init__(records)
        self._quotas, self._secrets = quotas, secrets
        self.rows = records.collection(
            "containers", ("project_id",), lambda key: not_found("Secrets container not found.")
        )

    def create(self, context: Context, base: str, body: Mapping[str, Any]) -> Record:
        """Add a container as a request describes it; `base` is the URL of the service."""
        project_id = project_for(context, WRITERS, "Container creation")
        check(_SCHEMA, body, _FORMS, ["type"])
        wanted = body.get(_REFERENCES, [])
        _check_entries(body["type"], wanted)
        entries = [self.entry(context, base, one) for one in wanted]
        self._quotas.admit(project_id, "containers", len(self.rows.select(project_id=project_id)))
        return self.add(project_id, context.user_id, body["type"], body.get("name"), entries)

    def add(
        self, project_id: str, creator_id: str, kind: str, name: str | None, entries: Sequence[Mapping[str, Any]]
    ) -> Record:
        """Add a container of entries `{name, secret_id}` that are known to be valid."""
        now = self.moment()
        return self.rows.add(
            {
                "id": new_id(),
                "project_id": project_id,
                "type": kind,
                "name": name,
                "status": "ACTIVE",
                "creator_id": creator_id,
                "created": now,
                "updated": now,
                "_entries": [dict(one) for one in entries],
                "_consumers": [],
                "_acl": None,
            }
        )

    def entry(self, context: Context, base: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """An entry from `{name, secret_ref}`.

        Raises: ApiError 400 for a reference to another service, 404 for a secret that the caller cannot read.
        """
        check(_SCHEMA, wanted, _REFERENCE_FORMS, ["secret_ref"], within=_REFERENCES)
        if not wanted["secret_ref"].startswith(f"{base}/"):
            raise bad_request("Provided field value is not supported")
        key = key_in(wanted["secret_ref"])
        try:
            self._secrets.readable(context, key)
        except ApiError:
            raise not_found(f"Secret provided for '{wanted.get('name')}' doesn't exist.") from None
        return {"name": wanted.get("name"), "secret_id": key}

    def add_consumer(self, context: Context, record: Record, consumer: dict[str, Any]) -> None:
        """Register a consumer; one that is registered already is left as it is."""
        known = record["_consumers"]
        if any(one["name"] == consumer["name"] and one["URL"] == consumer["URL"] for one in known):
            return
        owned = self.rows.select(project_id=record["project_id"])
        self._quotas.admit(context.project, "consumers", sum(len(one["_consumers"]) for one in owned))
        self.rows.update(record, _consumers=[*known, {"id": new_id(), **consumer}], updated=self.moment())


def _check_entries(kind: str, entries: Sequence[Mapping[str, Any]]) -> None:
    """Raise ApiError 400 for entries `{name, secret_ref}` that a container of this type cannot have.

    A container of any type may be empty.
    """
    for one in entries:
        check(_SCHEMA, one, _REFERENCE_FORMS, ["secret_ref"], within=_REFERENCES)
    names = [one["name"] for one in entries if one.get("name") is not None]
    if len(set(names)) < len(names):
        raise _wrong("Duplicate reference names are not allowed")
    if len({key_in(one["secret_ref"]) for one in entries}) < len(entries):
        raise _wrong("Duplicate secret ids are not allowed")
    if kind in _ALLOWED and any(name not in _ALLOWED[kind] for name in names):
        *others, last = (f"'{name}'" for name in _ALLOWED[kind])
        words = f"{', '.join(others)} and {last}"
        raise _wrong(f"only {words} reference names are allowed for {_TITLES[kind]} type")
    if entries and (missing := [name for name in _REQUIRED[kind] if name not in names]):
        raise _wrong(f"A container of type '{kind}' requires secrets named {' and '.join(missing)}")
    if "private_key_passphrase" in names and "private_key" not in names:
        raise _wrong("private_key_passphrase requires private_key")


def _wrong(problem: str) -> ApiError:
    return mismatch(_SCHEMA, problem, _REFERENCES)


def view(base: str, record: Record) -> dict[str, Any]:
    """A container as clients see it."""
    return {
        "container_ref": reference(base, "containers", record["id"]),
        **{name: record[name] for name in _SHOWN},
        _REFERENCES: _references(base, record),
        "consumers": [{"name": one["name"], "URL": one["URL"]} for one in record["_consumers"]],
    }


def _references(base: str, record: Record) -> list[dict[str, Any]]:
    """The entries of a container with the URLs of the secrets."""
    return [
        {"name": one["name"], "secret_ref": reference(base, "secrets", one["secret_id"])} for one in record["_entries"]
    ]


# -- routes -----------------------------------------------------------------------------------------------------


def create(containers: Containers, request: Request) -> Response:
    made = containers.create(request.context, request.base, object_of(request))
    return _created(request, made)


def index(containers: Containers, request: Request) -> Response:
    project_id = project_for(request.context, READERS, "Containers retrieval")
    rows = containers.rows.select(project_id=project_id)
    for name in ("name", "type"):
        if (wanted := request.query.get(name)) is not None:
            rows = [row for row in rows if row[name] == wanted]
    return listed(request, "containers", rows, view)


def show(containers: Containers, request: Request) -> Response:
    return Response(view(request.base, containers.readable(request.context, request.vars["id"])))


def delete(containers: Containers, request: Request) -> Response:
    containers.rows.remove(containers.writable(request.context, request.vars["id"], "deletion"))
    return Response(status=204)


def add_secret(containers: Containers, request: Request) -> Response:
    """Add a secret to a generic container."""
    record = _changeable(containers, request)
    wanted = object_of(request)
    _check_entries(GENERIC, [*_references(request.base, record), wanted])
    entry = containers.entry(request.context, request.base, wanted)
    containers.rows.update(record, _entries=[*record["_entries"], entry], updated=containers.moment())
    return _created(request, record)


def remove_secret(containers: Containers, request: Request) -> Response:
    """Remove a secret, given by its name and reference, from a generic container."""
    record, wanted = _changeable(containers, request), object_of(request)
    entry = containers.entry(request.context, request.base, wanted)
    if entry not in record["_entries"]:
        raise not_found("Secret provided is not in the container.")
    kept = [one for one in record["_entries"] if one != entry]
    containers.rows.update(record, _entries=kept, updated=containers.moment())
    return Response(status=204)


def add_consumer(containers: Containers, request: Request) -> Response:
    record, consumer = containers.readable(request.context, request.vars["id"]), _consumer(request)
    containers.add_consumer(request.context, record, consumer)
    return Response(view(request.base, record))


def list_consumers(containers: Containers, request: Request) -> Response:
    record = containers.readable(request.context, request.vars["id"])
    return listed(request, "consumers", record["_consumers"], _consumer_view)


def show_consumer(containers: Containers, request: Request) -> Response:
    record = containers.readable(request.context, request.vars["id"])
    found = next((one for one in record["_consumers"] if one["id"] == request.vars["consumer_id"]), None)
    if found is None:
        raise not_found("Consumer not found.")
    return Response(_consumer_view(request.base, found))


def remove_consumer(containers: Containers, request: Request) -> Response:
    record, consumer = containers.readable(request.context, request.vars["id"]), _consumer(request)
    kept = [one for one in record["_consumers"] if {"name": one["name"], "URL": one["URL"]} != consumer]
    if len(kept) == len(record["_consumers"]):
        raise not_found("Consumer not found.")
    containers.rows.update(record, _consumers=kept, updated=containers.moment())
    return Response(view(request.base, record))


def _created(request: Request, record: Record) -> Response:
    url = reference(request.base, "containers", record["id"])
    return Response({"container_ref": url}, 201, {"Location": url})


def _changeable(containers: Containers, request: Request) -> Record:
    record = containers.writable(request.context, request.vars["id"])
    if record["type"] != GENERIC:
        raise bad_request("Only 'generic' containers can be modified.")
    return record


def _consumer(request: Request) -> dict[str, Any]:
    body = object_of(request)
    check("'Consumer'", body, _CONSUMER_FORMS, list(_CONSUMER_FORMS))
    return {name: body[name] for name in _CONSUMER_FORMS}


def _consumer_view(base: str, consumer: Record) -> dict[str, Any]:
    return {"name": consumer["name"], "URL": consumer["URL"]}


_ONE = "/containers/{id}"
CONTAINER_ROUTES = merged(
    using(
        Containers,
        {
            "/containers": {"GET": index, "POST": create},
            _ONE: {"GET": show, "DELETE": delete},
            f"{_ONE}/secrets": {"POST": add_secret, "DELETE": remove_secret},
            f"{_ONE}/consumers": {"GET": list_consumers, "POST": add_consumer, "DELETE": remove_consumer},
            f"{_ONE}/consumers/{{consumer_id}}": {"GET": show_consumer},
        },
    ),
    access_routes(Containers, _ONE),
)
