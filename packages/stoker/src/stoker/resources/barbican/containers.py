"""OS::Barbican::GenericContainer, OS::Barbican::CertificateContainer and OS::Barbican::RSAContainer"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stoker.plugins.resource import Call, Waiter
from stoker.resources.barbican.allowances import CONTAINER
from stoker.resources.barbican.base import KeyManagerObject, collection, key_of
from stoker.resources.declare import custom
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED
from stoker.schema.property import Attribute, Property, Support, Type
from stoker.schema.unknown import is_unknown

_NAME = Property(description="Name of the container.")


def _secret(what: str) -> Property:
    return Property(
        description=f"Reference to {what}.", wire=NOT_SENT, constraints=custom("barbican.secret"), live=LISTED
    )


class Container(KeyManagerObject):
    """A container, whose `container_type` decides the names under which it refers to secrets."""

    consumes = CONTAINER
    collection = collection("container")
    support = Support(version="6.0.0")
    waits = Waiter.until("ACTIVE")
    computed = frozenset({"secret_refs"})
    container_type: ClassVar[str]

    attributes = {
        "status": Attribute("Status of the container.", Type.STRING),
        "container_ref": Attribute("Reference to the container.", Type.STRING),
        "secret_refs": Attribute("References to the secrets, by name.", Type.MAP),
        "consumers": Attribute("Services that use the container.", Type.LIST),
    }

    def references(self, properties: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Return the names and references of the secrets, of which some may be unknown."""
        return [(name.removesuffix("_ref"), properties[name]) for name in self.properties if name.endswith("_ref")
                and properties[name] is not None]  # fmt: skip

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        given = [reference for _, reference in self.references(properties) if not is_unknown(reference)]
        if repeated := sorted({one for one in given if given.count(one) > 1}):
            yield f"a container refers to each secret once: {', '.join(map(str, repeated))} is given several times"

    async def create_body(self, call: Call) -> dict[str, object]:
        named = dict(self.references(call.properties))
        refs = [{"name": name, "secret_ref": reference} for name, reference in named.items()]
        return {**await super().create_body(call), "type": self.container_type, "secret_refs": refs}

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        rest = {key: value for key, value in body.items() if key != "secret_refs"}
        return super().made_by(call, rest, item) and _keys(body) == _keys(item)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, shown)
        call.report.compared.update(self.properties)
        declared, actual = dict(self.references(call.properties)), _keys(shown)
        if {name: key_of(reference) for name, reference in declared.items()} != actual:
            found |= dict.fromkeys(name for name in self.properties if name != "name" and call.properties[name])
        return found

    async def computed_attribute(self, call: Call, name: str) -> object:
        shown = await self.show(call) or {}
        return {entry["name"]: entry["secret_ref"] for entry in shown.get("secret_refs", ())}


def _keys(container: Mapping[str, Any]) -> dict[str, str]:
    """Return the IDs of a container's secrets by name."""
    return {entry["name"]: key_of(entry["secret_ref"]) for entry in container["secret_refs"]}


class GenericContainer(Container):
    """A container of any secrets. Of several secrets with one name, the last is used."""

    type_name = "OS::Barbican::GenericContainer"
    description = "A container of secrets under names of your choice."
    container_type = "generic"

    properties = {
        "name": _NAME,
        "secrets": Property(
            Type.LIST,
            "The secrets.",
            items=Property(
                Type.MAP,
                schema={
                    "name": Property(description="Name of the secret in the container, in lower case.", required=True),
                    "ref": Property(
                        description="Reference to the secret.", required=True, constraints=custom("barbican.secret")
                    ),
                },
            ),
            wire=NOT_SENT,
            live=LISTED,
        ),
    }

    def references(self, properties: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        secrets = properties["secrets"]
        if is_unknown(secrets):
            return []
        return [
            (entry["name"] if is_unknown(entry["name"]) else str(entry["name"]).lower(), entry["ref"])
            for entry in secrets or ()
            if not is_unknown(entry)
        ]


class CertificateContainer(Container):
    """A container of a certificate and what belongs to it."""

    type_name = "OS::Barbican::CertificateContainer"
    description = "A container of a certificate, its private key and its intermediate certificates."
    container_type = "certificate"

    properties = {
        "name": _NAME,
        "certificate_ref": _secret("the certificate"),
        "private_key_ref": _secret("the private key"),
        "private_key_passphrase_ref": _secret("the passphrase of the private key"),
        "intermediates_ref": _secret("the intermediate certificates"),
    }


class RSAContainer(Container):
    """A container of an RSA key pair."""

    type_name = "OS::Barbican::RSAContainer"
    description = "A container of an RSA key pair."
    container_type = "rsa"

    properties = {
        "name": _NAME,
        "private_key_ref": _secret("the private key"),
        "private_key_passphrase_ref": _secret("the passphrase of the private key"),
        "public_key_ref": _secret("the public key"),
    }
