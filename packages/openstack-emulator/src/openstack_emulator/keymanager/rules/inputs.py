"""What requests want to be created: secrets with their payloads, and orders."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.keymanager.rules.validation import BARBICAN, expiration_of, mismatch, within

TEXT = "text/plain"
OCTETS = "application/octet-stream"
_TEXTS = (TEXT, "text/plain;charset=utf-8", "text/plain; charset=utf-8")
_BINARY = (OCTETS, "application/pkcs8")
_ENCODINGS = ["base64", "binary"]
"""Those that Barbican names in its message; a description can have the first one only."""
_NAME = fields.nullable(fields.text())
_FORMS = {
    "name": _NAME,
    "algorithm": _NAME,
    "mode": _NAME,
    "bit_length": fields.exact_integer(1, 32767),
    "expiration": _NAME,
    "secret_type": fields.one_of("symmetric", "passphrase", "private", "public", "certificate", "opaque"),
    "payload": fields.nullable(fields.text(maximum=2**31)),
    "payload_content_type": _NAME,
    "payload_content_encoding": fields.nullable(fields.one_of("base64")),
}


@dataclass(frozen=True)
class Content:
    """A payload. Its bytes never appear in the representation, which may be logged."""

    data: bytes
    type: str

    def __repr__(self) -> str:
        return f"Content({len(self.data)} bytes of {self.type})"


@dataclass(frozen=True, kw_only=True)
class NewSecret:
    """A secret that is to be created."""

    name: str | None = None
    secret_type: str = "opaque"  # noqa: S105  the default kind
    algorithm: str | None = None
    bit_length: int | None = None
    mode: str | None = None
    expiration: str | None = None

    @classmethod
    def from_json(cls, schema: str, body: Mapping[str, Any], now: datetime) -> Self:
        """The secret in a request. Raises ApiError 400, with the name of the schema."""
        BARBICAN.check(schema, body, _FORMS)
        return cls(
            name=body.get("name"),
            secret_type=body.get("secret_type", "opaque"),
            algorithm=body.get("algorithm"),
            bit_length=body.get("bit_length"),
            mode=body.get("mode"),
            expiration=expiration_of(schema, body.get("expiration"), now),
        )


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
    types, content_type = [*_TEXTS, *_BINARY], kind.lower().strip()
    if content_type not in types:
        raise mismatch(schema, f"payload_content_type is not one of {types}", "payload_content_type")
    if content_type in _TEXTS and encoding is not None:
        raise mismatch(schema, "payload_content_encoding is not one of None", "payload_content_encoding")
    if content_type in _BINARY and encoding is None:
        problem = f"payload_content_encoding is not one of {_ENCODINGS}"
        raise mismatch(schema, problem, "payload_content_encoding")
    return content_from(payload.encode(), kind, encoding)


_SCHEMA, _SECRET_SCHEMA = "'Order'", "'Secret' within 'Order'"
_KEY_FORMS = {"algorithm": fields.text(1), "payload_content_type": fields.nullable(fields.one_of(OCTETS))}
"""What an order requires of a key beyond the rules for secrets."""
_META_FORMS: Mapping[str, Mapping[str, Check]] = {
    "key": _KEY_FORMS,
    "asymmetric": {**_KEY_FORMS, "pass_phrase": _NAME},
    "certificate": {
        "name": _NAME,
        "request_type": fields.one_of("stored-key", "simple-cmc", "custom"),
        "subject_dn": _NAME,
        "container_ref": fields.nullable(fields.text(maximum=2048)),
        "ca_id": _NAME,
        "profile": _NAME,
        "request_data": fields.nullable(fields.text(maximum=65536)),
    },
}
_ORDER_FORMS: dict[str, Check] = {"type": fields.one_of(*_META_FORMS), "meta": fields.mapping}
_IN_ORDER = {name: within(name) for name in _ORDER_FORMS}
_GENERATED = ("algorithm", "bit_length")
_NEEDS = {
    "stored-key": ("container_ref", "subject_dn"),
    "simple-cmc": ("request_data",),
    "custom": ("request_data",),
}


@dataclass(frozen=True, kw_only=True)
class NewOrder:
    """An order that is to be carried out; `meta` describes a key or a certificate, without the pass phrase."""

    type: str
    meta: dict[str, Any]
    pass_phrase: str | None

    @classmethod
    def from_json(cls, body: Mapping[str, Any], now: datetime) -> Self:
        """The order in a request. Raises ApiError 400."""
        for name, form in _ORDER_FORMS.items():
            _IN_ORDER[name].check(_SCHEMA, body, {name: form}, [name])
        kind, description = body["type"], body["meta"]
        meta = _certificate_meta(kind, description) if kind == "certificate" else _key_meta(kind, description, now)
        return cls(type=kind, pass_phrase=meta.pop("pass_phrase", None), meta=meta)


def _certificate_meta(kind: str, meta: Mapping[str, Any]) -> dict[str, Any]:
    request_type = meta.get("request_type") or "custom"
    BARBICAN.check("'Certificate Order'", meta, _META_FORMS[kind], _NEEDS.get(request_type, ()))
    return {**meta, "request_type": request_type}


def _key_meta(kind: str, meta: Mapping[str, object], now: datetime) -> dict[str, Any]:
    """The details of an order of a key or a pair of keys, once they are known to be valid. Raises ApiError 400."""
    for name in _GENERATED:
        if meta.get(name) is None:
            raise mismatch(_SCHEMA, f"'{name}' is required field for {kind} type order", "meta")
    new_secret = NewSecret.from_json(_SECRET_SCHEMA, meta, now)
    BARBICAN.check(_SECRET_SCHEMA, meta, _META_FORMS[kind])
    if meta.get("payload") is not None:
        content_in(_SECRET_SCHEMA, meta)
        raise mismatch(_SCHEMA, "'payload' not allowed", "meta")
    if kind == "key" and (new_secret.bit_length or 0) % 8:
        raise mismatch(_SCHEMA, "Must be a positive integer that is a multiple of 8", "bit_length")
    content_type = meta.get("payload_content_type") or OCTETS
    return {**meta, "expiration": new_secret.expiration, "payload_content_type": content_type}
