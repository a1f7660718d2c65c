"""OS::Barbican::Secret"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.resource import Call
from stoker.resources.barbican.allowances import SECRET
from stoker.resources.barbican.base import KeyManagerObject, collection, payload
from stoker.resources.declare import between, custom, one_of
from stoker.schema.live import LISTED, managed, never
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.schema.unknown import has_unknown

_PLAIN, _OCTETS, _BASE64 = "text/plain", "application/octet-stream", "base64"


async def _content_type(kind: KeyManagerObject, call: Call, shown: Mapping[str, Any]) -> object:
    return (shown.get("content_types") or {}).get("default")


class Secret(KeyManagerObject):
    """A secret. Without a payload, it is only described, and somebody else stores the payload later."""

    type_name = "OS::Barbican::Secret"
    description = "A secret in the key manager."
    content = "the stored secret"
    consumes = SECRET
    collection = collection("secret")
    support = Support(version="2014.2")
    computed = frozenset({"decrypted_payload"})
    redacted_data = computed
    readers = {**KeyManagerObject.readers, "payload_content_type": _content_type}

    properties = {
        "name": Property(description="Name of the secret."),
        "payload": Property(
            description="The payload, as a string.",
            secret=True,
            live=never("the service does not show it with the object"),
        ),
        "payload_content_type": Property(
            description="Content type of the payload; text/plain by default.",
            constraints=one_of(_PLAIN, _OCTETS),
            live=LISTED,
        ),
        "payload_content_encoding": Property(
            description="Encoding of a binary payload in the template.",
            constraints=one_of(_BASE64),
            live=managed("it says how the template writes the payload"),
        ),
        "mode": Property(description="Mode of the algorithm that the secret is for."),
        "expiration": Property(
            description="Time after which the secret does not exist, in ISO 8601 format.",
            constraints=custom("expiration"),
        ),
        "algorithm": Property(description="The algorithm that the secret is for."),
        "bit_length": Property(Type.INTEGER, "Length of the secret in bits.", constraints=between(0)),
        "secret_type": Property(
            description="What the secret is.",
            default="opaque",
            constraints=one_of("symmetric", "public", "private", "certificate", "passphrase", "opaque"),
            support=Support(version="5.0.0"),
        ),
    }

    attributes = {
        "status": Attribute("Status of the secret.", Type.STRING),
        "decrypted_payload": Attribute(
            "The payload; in base64 if it is not a string in UTF-8, null if there is none.", Type.STRING
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        given = {name: properties[name] for name in ("payload", "payload_content_type", "payload_content_encoding")}
        content, kind, encoding = given.values()
        if has_unknown(list(given.values())):
            return
        if kind and not content:
            yield "payload_content_type requires payload"
        if kind == _OCTETS and not encoding:
            yield f"payload_content_type {_OCTETS} requires payload_content_encoding"
        if encoding and kind != _OCTETS:
            yield f"payload_content_encoding requires payload_content_type {_OCTETS}"
        if kind == _OCTETS and content and not _is_base64(content):
            yield f"payload must be encoded in base64 for payload_content_type {_OCTETS}"

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return body if "payload" not in body else {"payload_content_type": _PLAIN, **body}

    async def computed_attribute(self, call: Call, name: str) -> object:
        return await payload(call, call.physical_id)


def _is_base64(content: str) -> bool:
    try:
        base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
