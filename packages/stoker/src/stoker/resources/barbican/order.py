"""OS::Barbican::Order"""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from stoker.plugins.outcome import Failed, Outcome
from stoker.plugins.resource import AttributeKey, Call, Waiter
from stoker.resources.barbican.allowances import ORDER
from stoker.resources.barbican.base import SERVICE, KeyManagerObject, collection, member_path, payload
from stoker.resources.base import unrecorded, value_at
from stoker.resources.declare import custom, one_of
from stoker.schema.live import never, same
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.schema.unknown import is_unknown

_SINCE = Support(version="5.0.0")
_OF_KEYS = ("name", "algorithm", "bit_length", "mode", "payload_content_type", "expiration")
_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "key": _OF_KEYS,
    "asymmetric": (*_OF_KEYS, "pass_phrase"),
    "certificate": ("name", "request_type", "subject_dn", "source_container_ref", "ca_id", "profile", "request_data"),
}
_PARTS = ("public_key", "private_key", "certificate", "intermediates")
"""Attributes that are payloads of secrets of these names in the container that the order has filled."""
_UNSHOWN = ("pass_phrase", "expiration")
"""Details that the service does not show, or not as they were given."""
_LARGEST_PAGE = 100


class Order(KeyManagerObject):
    """An order. What it has generated outlives it: data that were encrypted with a key need it after the stack."""

    type_name = "OS::Barbican::Order"
    description = "An order to the key manager to generate a key, a key pair or a certificate."
    content = "the generated key or certificate"
    consumes = ORDER
    collection = collection("order")
    named_in = None  # the name is that of the secret or container which it orders
    support = Support(version="2014.2")
    waits = Waiter.until("ACTIVE")
    redacted_data = frozenset({"private_key"})

    properties = {
        "name": Property(description="Name of the secret or container that is generated."),
        "payload_content_type": Property(description="Content type of what is generated."),
        "mode": Property(description="Mode of the algorithm."),
        "expiration": Property(
            description="Time after which the generated secrets do not exist, in ISO 8601 format.",
            constraints=custom("expiration"),
        ),
        "algorithm": Property(description="Algorithm of the key or the key pair."),
        "bit_length": Property(Type.INTEGER, "Length of the key in bits."),
        "type": Property(
            description="What to generate.",
            required=True,
            constraints=one_of("key", "asymmetric", "certificate"),
            support=_SINCE,
        ),
        "request_type": Property(
            description="Kind of the certificate request.",
            constraints=one_of("stored-key", "simple-cmc", "custom"),
            support=_SINCE,
        ),
        "subject_dn": Property(description="Subject of the certificate, a distinguished name.", support=_SINCE),
        "source_container_ref": Property(
            description="Reference to the container with the key pair of the certificate.",
            constraints=custom("barbican.container"),
            support=_SINCE,
            wire="container_ref",
        ),
        "ca_id": Property(description="ID of the certificate authority.", support=_SINCE),
        "profile": Property(description="Profile of the certificate authority.", support=_SINCE),
        "request_data": Property(description="The certificate request.", support=_SINCE),
        "pass_phrase": Property(
            description="Passphrase that the private key is encrypted with.",
            support=_SINCE,
            secret=True,
            live=never("the service does not show it"),
        ),
    }

    attributes = {
        "status": Attribute("Status of the order.", Type.STRING),
        "order_ref": Attribute("Reference to the order.", Type.STRING),
        "secret_ref": Attribute("Reference to the generated key.", Type.STRING),
        "container_ref": Attribute("Reference to the container that was filled.", Type.STRING, support=_SINCE),
        "public_key": Attribute("The generated public key.", Type.STRING, support=_SINCE),
        "private_key": Attribute("The generated private key.", Type.STRING, support=_SINCE),
        "certificate": Attribute("The certificate.", Type.STRING, support=_SINCE),
        "intermediates": Attribute("The intermediate certificates.", Type.STRING, support=_SINCE),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        kind = properties["type"]
        if is_unknown(kind) or kind not in _ALLOWED:
            return
        given = {name for name, value in properties.items() if value is not None and name != "type"}
        if kind != "certificate" and (missing := {"algorithm", "bit_length"} - given):
            yield f"an order of the type {kind} requires {' and '.join(sorted(missing))}"
        if "profile" in given and "ca_id" not in given:
            yield "profile requires ca_id"
        if unexpected := sorted(given.difference(_ALLOWED[kind])):
            allowed = ", ".join(sorted(_ALLOWED[kind]))
            yield f"an order of the type {kind} has no {', '.join(unexpected)}; its properties are {allowed}"

    async def create_body(self, call: Call) -> dict[str, object]:
        meta = await super().create_body(call)
        return {"type": meta.pop("type"), "meta": meta}

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        """Evaluate the order; one that failed is not repeated, since what cannot be generated now never can."""
        outcome = super().status_outcome(call, shown)
        if isinstance(outcome, Failed) and outcome.in_error:
            return replace(outcome, kind="Error", in_error=False)
        return outcome

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        listed = await call.cloud.list(SERVICE, self.collection.path, "orders", {"limit": _LARGEST_PAGE})
        ours = [str(order["order_ref"]) for order in listed if self.made_by(call, body, order)]
        return min(await unrecorded(call, ours), default=None)

    def made_by(self, call: Call, body: Mapping[str, Any], item: Mapping[str, object]) -> bool:
        meta = {key: value for key, value in body["meta"].items() if key not in _UNSHOWN}
        return super().made_by(call, {"type": body["type"]}, item) and same(meta, item["meta"])

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        return super().differences(call, {**shown["meta"], "type": shown["type"]})

    async def read_attributes(self, call: Call, keys: Several[AttributeKey]) -> dict[AttributeKey, object]:
        plain = [key for key in keys if key[0] not in _PARTS]
        found = await super().read_attributes(call, plain) if plain else {}
        parts = await _parts(call, {str(key[0]) for key in keys if key[0] in _PARTS}, self)
        return found | {key: value_at(parts.get(str(key[0])), key[1:]) for key in keys if key[0] in _PARTS}


async def _parts(call: Call, names: set[str], kind: Order) -> dict[str, str | None]:
    """Return the payloads of the secrets with these names in the order's container, by name."""
    if not names or call.physical_id is None:
        return {}
    container = (await kind.show(call) or {}).get("container_ref")
    if container is None:
        return {}
    shown = await call.cloud.get(SERVICE, member_path("/containers/", container))
    references = {entry["name"]: entry["secret_ref"] for entry in shown["secret_refs"]}
    return {name: await payload(call, references[name]) for name in sorted(names & references.keys())}
