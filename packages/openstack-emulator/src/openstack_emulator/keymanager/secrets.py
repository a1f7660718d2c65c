"""Secrets: their metadata in records, their payloads apart from them, and the rules for both."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.keymanager.access import WRITERS, Guarded, project_for
from openstack_emulator.keymanager.http import SECONDS, check, expiration_of, mismatch, number, reference
from openstack_emulator.keymanager.quotas import Quotas

TEXT = "text/plain"
OCTETS = "application/octet-stream"
_TEXTS = (TEXT, "text/plain;charset=utf-8", "text/plain; charset=utf-8")
_BINARY = (OCTETS, "application/pkcs8")
_SCHEMA = "'Secret'"
_ENCODINGS = ["base64", "binary"]
"""Those that Barbican names in its message; a description can have the first one only."""
LARGEST_PAYLOAD = 20_000
_NAME = fields.nullable(fields.text())
_FORMS = {
    "name": _NAME,
    "algorithm": _NAME,
    "mode": _NAME,
    "bit_length": number(1, 32767),
    "expiration": _NAME,
    "secret_type": fields.one_of("symmetric", "passphrase", "private", "public", "certificate", "opaque"),
    "payload": fields.nullable(fields.text(maximum=2**31)),
    "payload_content_type": _NAME,
    "payload_content_encoding": fields.nullable(fields.one_of("base64")),
}
_SHOWN = (
    "name", "status", "secret_type", "algorithm", "bit_length", "mode", "expiration", "creator_id", "created",
    "updated",
)  # fmt: skip


@dataclass(frozen=True)
class Content:
    """A payload. Its bytes never appear in the representation, which may be logged."""

    data: bytes
    type: str

    def __repr__(self) -> str:
        return f"Content({len(self.data)} bytes of {self.type})"


class Secrets(Guarded):
    """The secrets of all projects."""

    kind = "Secret"

    def __init__(self, records: Records, quotas: Quotas) -> None:
        super().__init__(records)
        self._quotas = quotas
        self.rows = records.collection("secrets", ("project_id",), _missing)

    def require(self, key: str) -> Record:
        record = self.rows.require(key)
        if self._has_expired(record):
            raise self.rows.missing(key)
        return record

    def of_project(self, project_id: str) -> list[Record]:
        """The project's secrets, without those that have expired."""
        return [row for row in self.rows.select(project_id=project_id) if not self._has_expired(row)]

    def create(self, context: Context, body: Mapping[str, Any]) -> Record:
        """Add a secret as a request describes it, with a payload or, for the second step, without one."""
        project_id = project_for(context, WRITERS, "Secret creation")
        expiration = checked(_SCHEMA, body, self.records.now())
        content = content_in(_SCHEMA, body)
        self._quotas.admit(project_id, "secrets", len(self.of_project(project_id)))
        return self.add(project_id, context.user_id, {**body, "expiration": expiration}, content)

    def add(self, project_id: str, creator_id: str, wanted: Mapping[str, Any], content: Content | None) -> Record:
        """Add a secret whose fields are known to be valid."""
        now = self.moment()
        record = {
            "id": new_id(),
            "project_id": project_id,
            "name": wanted.get("name"),
            "status": "ACTIVE",
            "secret_type": wanted.get("secret_type", "opaque"),
            **{name: wanted.get(name) for name in ("algorithm", "bit_length", "mode", "expiration")},
            "creator_id": creator_id,
            "created": now,
            "updated": now,
            "_content_type": None,
            "_acl": None,
            "_metadata": {},
        }
        if content is not None:
            self._store(record, content)
        return self.rows.add(record)

    def set_payload(self, record: Record, content: Content) -> None:
        """Store the payload of a secret that has none yet. Raises ApiError 409."""
        if record["_content_type"] is not None:
            raise conflict("Secret already has data, cannot modify it.")
        self._store(record, content)
        self.rows.update(record, updated=self.moment())

    def payload(self, record: Record) -> Content | None:
        """The payload, None while there is none."""
        kind = record["_content_type"]
        data = None if kind is None else self.cloud.store.get_blob(_blob(record))
        return None if data is None else Content(data, kind)

    def remove(self, record: Record) -> None:
        """Remove a secret with its payload."""
        self.rows.remove(record)
        self.cloud.store.remove_blob(_blob(record))

    def _store(self, record: Record, content: Content) -> None:
        if len(content.data) > LARGEST_PAYLOAD:
            raise ApiError(413, "Provided information too large to process")
        self.cloud.store.put_blob(_blob(record), content.data)
        record["_content_type"] = content.type

    def _has_expired(self, record: Record) -> bool:
        expiration = record["expiration"]
        return expiration is not None and expiration <= self.records.now().strftime(SECONDS)


def view(base: str, record: Record) -> dict[str, Any]:
    """A secret as clients see it, without the payload."""
    shown = {"secret_ref": reference(base, "secrets", record["id"]), **{name: record[name] for name in _SHOWN}}
    if record["_content_type"] is not None:
        shown["content_types"] = {"default": record["_content_type"]}
    return shown


def _missing(key: str) -> ApiError:
    """The 404 for a secret."""
    is_identifier = fields.identifier(key) is None
    return not_found("Secret not found." if is_identifier else "Not Found. Provided secret id is invalid.")


def checked(schema: str, body: Mapping[str, Any], now: datetime) -> str | None:
    """The expiration in the description of a secret, after its fields are found to be valid. Raises ApiError 400."""
    check(schema, body, _FORMS)
    return expiration_of(schema, body.get("expiration"), now)


def content_from(data: bytes, content_type: str, encoding: str | None) -> Content:
    """A payload as it was sent, with its content type and transfer encoding. Raises ApiError 400 or 415.

    Characters that base64 does not have are ignored (RFC 2045, section 6.8), as in Barbican.
    """
    kind = content_type.lower().strip()
    if kind not in (*_TEXTS, *_BINARY):
        raise ApiError(415, "The payload's content type is not supported.")
    if encoding not in (None, "base64"):
        raise bad_request("The payload's encoding is not supported: it must be base64.")
    if encoding is not None:
        try:
            data = base64.b64decode(data)
        except (binascii.Error, ValueError):
            raise bad_request("Unable to decode the payload: it is not valid base64.") from None
    if kind in _TEXTS:
        _check_text(data)
    return Content(data, TEXT if kind in _TEXTS else kind)


def _check_text(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise bad_request("A payload of the type text/plain must be in UTF-8.") from None


def content_in(schema: str, body: Mapping[str, Any]) -> Content | None:
    """The payload in the description of a new secret. Raises ApiError 400."""
    payload, kind = body.get("payload"), body.get("payload_content_type")
    encoding = body.get("payload_content_encoding")
    if payload is None:
        if kind is not None or encoding is not None:
            problem = "payload must be provided when payload_content_type is supplied"
            raise mismatch(schema, problem, "payload_content_type")
        return None
    if not payload.strip():
        raise mismatch(schema, "If 'payload' specified, must be non empty", "payload")
    if not kind:
        problem = "If 'payload' is supplied, 'payload_content_type' must also be supplied."
        raise mismatch(schema, problem, "payload_content_type")
    types, given = [*_TEXTS, *_BINARY], kind.lower().strip()
    if given not in types:
        raise mismatch(schema, f"payload_content_type is not one of {types}", "payload_content_type")
    if given in _TEXTS and encoding is not None:
        raise mismatch(schema, "payload_content_encoding is not one of None", "payload_content_encoding")
    if given in _BINARY and encoding is None:
        problem = f"payload_content_encoding is not one of {_ENCODINGS}"
        raise mismatch(schema, problem, "payload_content_encoding")
    return content_from(payload.encode(), kind, encoding)


def _blob(record: Record) -> str:
    return f"key-manager/secrets/{record['id']}"
