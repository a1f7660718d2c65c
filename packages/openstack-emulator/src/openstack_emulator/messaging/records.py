"""Queues, messages and subscriptions, and their rules."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from openstack_emulator.core import json_patch
from openstack_emulator.core.cloud import Cloud, Records, new_hex_id, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.json_patch import Flaw
from openstack_emulator.core.store import Record
from openstack_emulator.identity.service_trusts import end_trust, own_trust, token_of
from openstack_emulator.messaging.delivery import Deliveries
from openstack_emulator.messaging.http import INVALID_BODY, check_integer, is_integer

log = logging.getLogger(__name__)

SHORTEST_TTL, LONGEST_MESSAGE_TTL, DEFAULT_MESSAGE_TTL = 60, 1_209_600, 3600
DEFAULT_SUBSCRIPTION_TTL = 3600
LONGEST_DELAY = 900
LARGEST_POST = 262_144
SCHEMES = ("http", "https", "mailto", "trust+http", "trust+https")
TRUST = "trust+"
DELIVERED = ("http", "https", "trust+http", "trust+https")
SERVICE_USER = "zaqar"
RESERVED = {
    "_max_messages_post_size": LARGEST_POST,
    "_default_message_ttl": DEFAULT_MESSAGE_TTL,
    "_default_message_delay": 0,
    "_dead_letter_queue": None,
    "_dead_letter_queue_messages_ttl": None,
    "_max_claim_count": None,
    "_enable_encrypt_messages": False,
}
"""What every queue has besides its own metadata."""
_TTL_RANGE = (SHORTEST_TTL, LONGEST_MESSAGE_TTL, "{name} can not exceed {most} seconds, and must be at least {least}.")
_RANGES = {
    "_max_messages_post_size": (1, LARGEST_POST, "{name} can not exceed {most},  and must be at least greater than 0."),
    "_default_message_ttl": _TTL_RANGE,
    "_default_message_delay": (0, LONGEST_DELAY, "{name} can not exceed {most} seconds, and must be at least {least}."),
    "_dead_letter_queue_messages_ttl": _TTL_RANGE,
    "_max_claim_count": (1, 2**31 - 1, "{name} must be at least {least}."),
}
"""The least and the greatest value of the numbers among them, and the error for others."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _misplaced(body: Any, at: int) -> ApiError:
    return bad_request("Each operation needs a path below /metadata.")


PATCHES = json_patch.Dialect(
    {
        Flaw.BODY: lambda body, at: bad_request("The request body must be a list of operations.", INVALID_BODY),
        Flaw.OPERATION: _misplaced,
        Flaw.OP: lambda body, at: bad_request(f"Operations are add, replace and remove, not {body[at].get('op')!r}."),
        Flaw.PATH: _misplaced,
        Flaw.VALUE: lambda body, at: bad_request(f"The operation {body[at]['op']} needs a value."),
    },
    path=re.compile("/metadata/[^/]+"),
    empty=True,
)


class MessagingRecords(Records):
    """All that belongs to a queue is found by its place: the project and the name."""

    service = "zaqar"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.queues = self.collection("queues", indexes=("project_id",))
        self.messages = self.collection("messages", indexes=("queue",))
        self.subscriptions = self.collection("subscriptions", indexes=("queue",))
        self.claims = self.collection("claims", indexes=("queue",))
        self.own = self.collection("own", internal=True)
        self.deliveries = Deliveries(cloud.outgoing)

    # -- queues --------------------------------------------------------------------------------------------------

    def queue(self, project_id: str, name: str) -> Record | None:
        return self.queues.get(place(project_id, name))

    def made_queue(self, project_id: str, name: str, metadata: Mapping[str, Any]) -> bool:
        """Create the queue or replace its metadata; whether it is new. Raises ApiError 400."""
        check_name(name)
        _check_reserved(metadata)
        known = self.queue(project_id, name)
        if known is not None:
            if metadata:
                self.queues.update(known, metadata=dict(metadata))
            return False
        self.queues.add(
            {"id": place(project_id, name), "project_id": project_id, "name": name, "metadata": dict(metadata)}
        )
        return True

    def patch_queue(self, queue: Record, body: Any) -> None:
        """Apply a JSON patch to the metadata, completely or not at all."""
        document = {"metadata": settings_of(queue)}
        for operation in json_patch.operations(body, PATCHES):
            try:
                json_patch.apply(document, operation)
            except json_patch.Inapplicable:
                raise conflict(f"Can't {operation.op} non-existent object {operation.pointer[-1]}.") from None
        _check_reserved(document["metadata"])
        own = {key: value for key, value in document["metadata"].items() if value != RESERVED.get(key, ...)}
        self.queues.update(queue, metadata=own)

    def remove_queue(self, project_id: str, name: str) -> None:
        """Remove the queue with everything in it; does nothing when there is none."""
        known = self.queue(project_id, name)
        if known is not None:
            self.purge(known["id"], ("messages", "subscriptions"))
            for claim in self.claims.select(queue=known["id"]):
                self.claims.remove(claim)
            self.queues.remove(known)

    def purge(self, queue: str, kinds: Collection[str]) -> None:
        for message in self.messages.select(queue=queue) if "messages" in kinds else ():
            self.messages.remove(message)
        for subscription in self.subscriptions.select(queue=queue) if "subscriptions" in kinds else ():
            self.unsubscribe(subscription)

    # -- messages ------------------------------------------------------------------------------------------------

    def post(self, project_id: str, name: str, client_id: str, messages: list[Any]) -> list[Record]:
        """Put messages into a queue, which is made when there is none; subscribers get them."""
        settings = settings_of(self.queue(project_id, name))
        checked = [_checked(message, settings) for message in messages]
        self.made_queue(project_id, name, {})
        queue, now = place(project_id, name), self.cloud.clock.now()
        posted = [
            self.messages.add(
                {
                    "id": self._next_id(),
                    "queue": queue,
                    "client_id": client_id,
                    "body": message["body"],
                    "ttl": message["ttl"],
                    "created": now,
                    "visible": now + message["delay"],
                    "claim_count": 0,
                }
            )
            for message in checked
        ]
        for subscription in self.living_subscriptions(queue):
            if scheme(subscription["subscriber"]) in DELIVERED:
                self._deliver(subscription, name, posted)
        return posted

    def _deliver(self, subscription: Record, name: str, messages: list[Record]) -> None:
        """Post messages to a subscriber; with a token of the subscription's trust, unless the trust has ended."""
        headers: dict[str, str] = {}
        if subscription["subscriber"].startswith(TRUST):
            try:
                headers["X-Auth-Token"] = token_of(self.cloud, trust_of(subscription))
            except ApiError as error:
                log.warning("Subscription %s gets no messages: %s", subscription["id"], error.message)
                return
        for message in messages:
            self.deliveries.send(subscription, name, message, headers)

    def _next_id(self) -> str:
        """A UUID that is greater than all before it, so that a page can follow a message that is gone."""
        counter = self.own.get("counter") or self.own.add({"id": "counter", "number": 0})
        self.own.update(counter, number=counter["number"] + 1)
        return str(UUID(f"{counter['number']:016x}{secrets.token_hex(8)}"))

    def waiting(self, queue: str) -> list[Record]:
        """The messages that have not expired and whose delay is over, the oldest first."""
        now = self.cloud.clock.now()
        return sorted(
            (
                message
                for message in self.messages.select(queue=queue)
                if message["created"] + message["ttl"] > now >= message.get("visible", 0.0)
            ),
            key=lambda message: str(message["id"]),
        )

    # -- subscriptions ---------------------------------------------------------------------------------------------

    def subscribe(self, request: Request, project_id: str, name: str, wanted: Mapping[str, Any]) -> Record:
        """Return a new subscription, or the one of the same subscriber that it has not confirmed yet.

        Raises: ApiError 400, or 409 when the subscriber has confirmed a subscription of the queue.
        """
        self.made_queue(project_id, name, {})
        queue = place(project_id, name)
        known = next(
            (one for one in self.living_subscriptions(queue) if one["subscriber"] == wanted.get("subscriber")), None
        )
        if known is not None and not known.get("confirmed", True):
            return known
        values = self._subscription_values(queue, wanted, None)
        record = {
            "id": new_hex_id()[:24],
            "queue": queue,
            "source": name,
            "created": self.cloud.clock.now(),
            "subscriber": values["subscriber"],
            "ttl": values.get("ttl", DEFAULT_SUBSCRIPTION_TTL),
            "options": values.get("options", {}),
            "confirmed": False,
        }
        if record["subscriber"].startswith(TRUST):
            record["_trust_id"] = self._trust(request)
        return self.subscriptions.add(record)

    def unsubscribe(self, subscription: Record) -> None:
        """Remove a subscription and its trust."""
        self.subscriptions.remove(subscription)
        end_trust(self.cloud, trust_of(subscription))

    def _trust(self, request: Request) -> str:
        """A new trust of the caller; Zaqar gives no reason if Keystone refuses it."""
        try:
            return own_trust(self.cloud, request, SERVICE_USER)
        except ApiError as error:
            reason = "Subscription could not be created. Please try again in a few seconds."
            raise ApiError(503, reason) from error

    def change_subscription(self, request: Request, subscription: Record, wanted: Mapping[str, Any]) -> None:
        """Change a subscription. Another subscriber gets no token of the user who chose the one before."""
        merged = {"subscriber": subscription["subscriber"], **wanted}
        values = self._subscription_values(subscription["queue"], merged, subscription["id"])
        renewed: dict[str, Any] = {"created": self.cloud.clock.now()} if "ttl" in values else {}
        if values["subscriber"] != subscription["subscriber"]:
            renewed["_trust_id"] = self._trust(request) if values["subscriber"].startswith(TRUST) else ""
            end_trust(self.cloud, trust_of(subscription))
        self.subscriptions.update(subscription, **values, **renewed)

    def _subscription_values(self, queue: str, wanted: Mapping[str, Any], own: str | None) -> dict[str, Any]:
        values = {name: wanted[name] for name in ("subscriber", "ttl", "options") if wanted.get(name) is not None}
        subscriber = values.get("subscriber")
        if subscriber is None:
            raise bad_request("Missing parameter subscriber in body.")
        if not isinstance(subscriber, str) or scheme(subscriber) not in SCHEMES:
            raise bad_request(f"The subscriber type of subscription must be supported in the list {list(SCHEMES)}.")
        if not is_integer(values.get("ttl", SHORTEST_TTL)):
            raise bad_request("TTL must be an integer.")
        if values.get("ttl", SHORTEST_TTL) < SHORTEST_TTL:
            raise bad_request(f"The TTL of a subscription must be at least {SHORTEST_TTL} seconds.")
        if not isinstance(values.get("options", {}), dict):
            raise bad_request("Options must be a dict.")
        if any(known["subscriber"] == subscriber and known["id"] != own for known in self.living_subscriptions(queue)):
            raise conflict(
                f"Such subscription already exists. Subscriptions are unique by source and subscriber: {subscriber}"
            )
        return values

    def living_subscriptions(self, queue: str) -> list[Record]:
        """The subscriptions whose time has not run out."""
        now = self.cloud.clock.now()
        return [known for known in self.subscriptions.select(queue=queue) if known["created"] + known["ttl"] > now]

    def subscription(self, queue: str, identifier: str) -> Record:
        found = next((known for known in self.living_subscriptions(queue) if known["id"] == identifier), None)
        if found is None:
            raise not_found(f"Subscription {identifier} does not exist")
        return found

    # -- signatures ------------------------------------------------------------------------------------------------

    def signing_key(self) -> bytes:
        """The service's own secret, made when it is first needed."""
        known = self.own.get("signing") or self.own.add({"id": "signing", "key": new_id()})
        return str(known["key"]).encode()


def place(project_id: str, name: str) -> str:
    """Where a queue is: the id of its record."""
    return f"{project_id}/{name}"


def trust_of(subscription: Record) -> str:
    """Return the ID of the trust that was made for a subscription, whatever its options say; empty for none."""
    return str(subscription.get("_trust_id", ""))


def scheme(subscriber: str) -> str:
    return subscriber.partition(":")[0].lower()


def check_name(name: str) -> None:
    """400 for a name that no queue may have."""
    if not _NAME.fullmatch(name):
        message = "The format of the submitted queue name or project id is not valid."
        raise bad_request(message, "Invalid queue identification")


def _check_reserved(metadata: Mapping[str, Any]) -> None:
    """400 for metadata with a wrong value of one of Zaqar's own keys; null is right where it is the default."""
    for name, (least, most, words) in _RANGES.items():
        value = metadata.get(name, RESERVED[name])
        if value is None and RESERVED[name] is None:
            continue
        if not is_integer(value):
            raise bad_request(f"{name} must be integer.")
        if not least <= value <= most:
            raise bad_request(words.format(name=name, least=least, most=most))
    if not isinstance(metadata.get("_enable_encrypt_messages", False), bool):
        raise bad_request("_enable_encrypt_messages must be boolean.")


def settings_of(queue: Record | None) -> dict[str, Any]:
    """Return the metadata of a queue, with the default for each of Zaqar's own keys that it lacks."""
    return {**RESERVED, **(queue["metadata"] if queue is not None else {})}


def _checked(message: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return body, ttl and delay of a message; the queue's `settings` have the defaults. Raises ApiError 400."""
    if not isinstance(message, dict) or "body" not in message:
        raise bad_request('Missing "body" field.', INVALID_BODY)
    ttl = message.get("ttl", settings["_default_message_ttl"])
    check_integer("ttl", ttl)
    if not SHORTEST_TTL <= ttl <= LONGEST_MESSAGE_TTL:
        raise bad_request(
            f"The TTL for a message may not exceed {LONGEST_MESSAGE_TTL} seconds, and must be at least {SHORTEST_TTL} "
            "seconds long."
        )
    delay = message.get("delay", settings["_default_message_delay"])
    check_integer("delay", delay)
    if not 0 <= delay <= LONGEST_DELAY:
        raise bad_request(f"The delay for a message may not exceed {LONGEST_DELAY} seconds, and must be at least 0.")
    return {"body": message["body"], "ttl": ttl, "delay": delay}
