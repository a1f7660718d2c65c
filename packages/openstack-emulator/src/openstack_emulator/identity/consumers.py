"""OAuth 1 consumers: programs that may ask users for access. The exchange of tokens with them is not offered."""

from __future__ import annotations

import secrets

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.entity import Entity
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.validation import Field, description


def create_consumer(identity: IdentityRecords, values: Record) -> Record:
    return identity.consumers.add({"id": new_hex_id(), **values, "_secret": secrets.token_hex(16)})


def change_consumer(identity: IdentityRecords, consumer: Record, changes: Record) -> None:
    if "secret" in changes:
        raise bad_request("Cannot change consumer secret.")


CONSUMERS = Entity(
    "consumer",
    "consumers",
    "consumers",
    {"description": Field(description, default=None)},
    place="/OS-OAUTH1",
    create=create_consumer,
    change=change_consumer,
    remove=lambda identity, consumer: identity.consumers.remove(consumer),
    subject=lambda consumer: {},
    extra=True,
)


def create(identity: IdentityRecords, request: Request) -> Response:
    """A consumer with its secret, which is shown this once."""
    answer = CONSUMERS.handle_create(identity, request)
    shown = answer.body["consumer"]
    shown["secret"] = identity.consumers.require(shown["id"])["_secret"]
    return answer


CONSUMER_ROUTES: Routes = {
    **CONSUMERS.routes(),
    "/OS-OAUTH1/consumers": {**CONSUMERS.routes()["/OS-OAUTH1/consumers"], "POST": create},
}
