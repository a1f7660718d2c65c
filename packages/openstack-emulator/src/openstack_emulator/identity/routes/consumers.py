"""OAuth 1 consumers: programs that may ask users for access. The exchange of tokens with them is not offered."""

from __future__ import annotations

import secrets

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import Consumer
from openstack_emulator.identity.routes.entity import Entity, Values
from openstack_emulator.identity.routes.entity import change as change_plainly
from openstack_emulator.identity.routes.entity import create as create_plainly
from openstack_emulator.identity.routes.validation import Field, description
from openstack_emulator.identity.rules.composition import Identity


def create(entity: Entity[Consumer], identity: Identity, values: Values) -> Consumer:
    """A consumer with a secret."""
    return create_plainly(entity, identity, {**values, "_secret": secrets.token_hex(16)})


def change(entity: Entity[Consumer], identity: Identity, consumer: Consumer, changes: Values) -> None:
    """A consumer, whose secret stays."""
    if "secret" in changes:
        raise bad_request("Cannot change consumer secret.")
    change_plainly(entity, identity, consumer, changes)


CONSUMERS = Entity(
    Consumer,
    lambda identity: identity.delegations.consumers,
    "consumer",
    "consumers",
    {"description": Field(description, default=None)},
    path="OS-OAUTH1/consumers",
    create=create,
    change=change,
    extra=True,
)


def add(identity: Identity, request: Request) -> Response:
    """A consumer with its secret, which is shown this once."""
    answer = CONSUMERS.add(identity, request)
    shown = answer.body.get("consumer")
    shown |= {"secret": identity.delegations.consumers.rows.require(shown.get("id")).secret}
    return answer
