"""OS::Nova::KeyPair"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from stoker.plugins.capabilities import ReplacementPreparer, ReplacementReverter
from stoker.plugins.object_ids import IdScope, ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.preflight import Consumption
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Snapshot
from stoker.resources.base import Collection, RestResource, found_well
from stoker.resources.declare import length, one_of
from stoker.resources.nova.allowances import KEY_PAIRS, own_key_pair
from stoker.resources.nova.conflicts import KEY_PAIR_NAMES
from stoker.resources.replacement import belongs_to_successor, conclusive
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import managed
from stoker.schema.property import Attribute, Property, Support, Type

NO_GENERATION = "2.92"
"""From this microversion on Nova does not generate keys."""

GENERATION = "2.91"
"""The last microversion in which Nova generates keys."""

_GIVEN_UP = "given_up"
"""In `call.data`: the public key of a keypair that has been deleted in favor of its replacement."""


class KeyPair(RestResource, ReplacementPreparer, ReplacementReverter):
    """A public key that Nova stores for servers, or a key pair that it generates."""

    type_name = "OS::Nova::KeyPair"
    description = "An SSH or X.509 key that servers get at boot; Nova generates the pair when no public key is given."
    consumes = (Consumption(KEY_PAIRS, own_key_pair),)
    conflicts = (KEY_PAIR_NAMES,)
    collection = Collection("nova", "/os-keypairs", "keypair", "keypairs", id_field="name", owner=None)
    support = Support(version="2014.1")
    computed = frozenset({"public_key", "private_key"})
    redacted_data = frozenset({"private_key"})
    id_is_new = False
    id_property = "name"
    object_ids = ObjectIds(IdScope.USER, user="user")
    listed = collection.listing("name", personal=True)
    recovery = Recovery(
        RecoveryMethod.NAME,
        "Names are unique per user: a keypair with the name must have been created since the action began, with the "
        "requested public key. One whose private key was to be saved is deleted: that key can no longer be read.",
    )

    properties = {
        "name": Property(description="Name of the keypair.", required=True, constraints=length(1, 255)),
        "save_private_key": Property(
            Type.BOOLEAN,
            "Whether to save the private key that Nova generates, for the attribute private_key.",
            default=False,
            wire=NOT_SENT,
            live=managed("it tells Stoker whether to keep the key"),
        ),
        "public_key": Property(description="The public key; if not given, Nova generates a key pair."),
        "type": Property(
            description="Kind of key.", constraints=one_of("ssh", "x509"), support=Support(version="8.0.0")
        ),
        "user": Property(
            description="The user that the keypair belongs to, by name or ID; for administrators.",
            support=Support(version="9.0.0"),
            wire="user_id",
            reference="keystone.user",
        ),
    }

    attributes = {
        "public_key": Attribute("The public key.", Type.STRING),
        "private_key": Attribute(
            "The private key if save_private_key is true, else an empty string.", Type.STRING, live=True
        ),
    }

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_id

    def member_path(self, call: Call) -> str:
        path, user = super().member_path(call), call.properties.get("user")
        return f"{path}?user_id={quote(str(user), safe='')}" if user else path

    async def create_body(self, call: Call) -> dict[str, object]:
        """As of any type; an empty public key is none, and Nova makes a pair."""
        body = await super().create_body(call)
        return body if body.get("public_key") else {key: value for key, value in body.items() if key != "public_key"}

    async def begin(self, call: Call) -> dict[str, Any]:
        cloud, body = call.cloud, self.collection.wrap(await self.create_body(call))
        generated = not call.properties.get("public_key")
        older = GENERATION if generated and await cloud.supports("nova", NO_GENERATION) else None
        return self.collection.unwrap(await cloud.post("nova", "/os-keypairs", body, microversion=older))

    def created(self, call: Call, shown: Mapping[str, object]) -> None:
        if call.properties["save_private_key"] and shown.get("private_key"):
            call.data["private_key"] = shown["private_key"]

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        call.physical_id = str(body["name"])
        shown = await self.show(call)
        if shown is None or not self.made_by(call, body, shown):
            call.physical_id = None
        elif call.properties["save_private_key"] and not body.get("public_key"):
            await self.remove(call)
            call.physical_id = None
        return call.physical_id

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Delete the keypair, since names are unique per user; existing servers have the key already."""
        if _GIVEN_UP not in call.data:
            call.data[_GIVEN_UP] = (await self.show(call) or {}).get("public_key") or call.properties.get("public_key")
            return InProgress(after=0.0)
        await call.cloud.delete("nova", self.member_path(call), ok=(404,))
        return Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        """Store the same public key under the name again, in place of the replacement's."""
        return await conclusive(self._restored(call))

    async def _restored(self, call: Call) -> Outcome:
        if _GIVEN_UP not in call.data:
            return Done()
        public_key = call.data[_GIVEN_UP]
        if not public_key:
            return Failed(
                f"keypair {call.physical_id} no longer exists and its public key is unknown; set public_key or name"
            )
        if (await self.show(call) or {}).get("public_key") != public_key:
            await call.cloud.delete("nova", self.member_path(call), ok=(404,))
            body = {**await self.create_body(call), "public_key": public_key}
            await call.cloud.post("nova", "/os-keypairs", self.collection.wrap(body))
        del call.data[_GIVEN_UP]
        return Done()

    async def remove(self, call: Call) -> None:
        if not await belongs_to_successor(call, self.type_name):
            await super().remove(call)

    async def computed_attribute(self, call: Call, name: str) -> object:
        if name == "private_key":
            return call.data.get("private_key", "")
        given = call.properties.get("public_key")
        return given or (await self.show(call) or {}).get("public_key")
