"""Queues, messages and subscriptions, and their rules."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.emulator.core.cloud import Cloud, Records, new_hex_id, new_id
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.store import Record
from stoker.emulator.messaging.delivery import Deliveries

MOST_AT_ONCE = 20
"""Messages posted, listed or popped by one request."""
SHORTEST_TTL, LONGEST_MESSAGE_TTL, DEFAULT_MESSAGE_TTL = 60, 1_209_600, 3600
DEFAULT_SUBSCRIPTION_TTL = 3600
LARGEST_POST = 262_144
SCHEMES = ("http", "https", "mailto", "trust+http", "trust+https")
DELIVERED = ("http", "https")
RESERVED = {
    "_max_messages_post_size": LARGEST_POST,
    "_default_message_ttl": DEFAULT_MESSAGE_TTL,
    "_default_message_delay": 0,
    "_dead_letter_queue": None,
    "_dead_letter_queue_messages_ttl": None,
    "_max_claim_count": None,
}
"""What every queue has besides its own metadata."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class MessagingRecords(Records):
    """All that belongs to a queue is found by its place: the project and the name."""

    service = "zaqar"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.queues = self.collection("queues", indexes=("project_id",))
        self.messages = self.collection("messages", indexes=("queue",))
        self.subscriptions = self.collection("subscriptions", indexes=("queue",))
        self.own = self.collection("own", internal=True)
        self.deliveries = Deliveries()

    # -- queues --------------------------------------------------------------------------------------------------

    def queue(self, project_id: str, name: str) -> Record | None:
        return self.queues.get(place(project_id, name))

    def made_queue(self, project_id: str, name: str, metadata: Mapping[str, Any]) -> bool:
        """Create the queue or replace its metadata; whether it is new."""
        check_name(name)
        known = self.queue(project_id, name)
        if known is not None:
            if metadata:
                self.queues.update(known, metadata=dict(metadata))
            return False
        self.queues.add(
            {"id": place(project_id, name), "project_id": project_id, "name": name, "metadata": dict(metadata)}
        )
        return True

    def patch_queue(self, queue: Record, operations: Iterable[Any]) -> None:
        """Apply a JSON patch to the metadata, completely or not at all."""
        metadata = dict(queue["metadata"])
        for operation in operations:
            if not isinstance(operation, dict) or not str(operation.get("path", "")).startswith("/metadata/"):
                raise bad_request("Each operation needs a path below /metadata.")
            key, kind = operation["path"].removeprefix("/metadata/"), operation.get("op")
            if kind not in ("add", "replace", "remove"):
                raise bad_request(f"Operations are add, replace and remove, not {kind!r}.")
            if kind != "add" and key not in metadata and key not in RESERVED:
                raise conflict(f"Can't {kind} non-existent object {key}.")
            if kind == "remove":
                metadata.pop(key, None)
            elif "value" not in operation:
                raise bad_request(f"The operation {kind} needs a value.")
            else:
                metadata[key] = operation["value"]
        self.queues.update(queue, metadata=metadata)

    def remove_queue(self, project_id: str, name: str) -> None:
        """Remove the queue with everything in it; does nothing when there is none."""
        known = self.queue(project_id, name)
        if known is not None:
            self.purge(known["id"], ("messages", "subscriptions"))
            self.queues.remove(known)

    def purge(self, queue: str, kinds: Iterable[str]) -> None:
        for kind in kinds:
            collection = {"messages": self.messages, "subscriptions": self.subscriptions}[kind]
            for record in collection.select(queue=queue):
                collection.remove(record)

    # -- messages ------------------------------------------------------------------------------------------------

    def post(self, project_id: str, name: str, client_id: str, messages: list[Any]) -> list[Record]:
        """Put messages into a queue, which is made when there is none; subscribers get them."""
        checked = [_checked(message) for message in messages]
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
                }
            )
            for message in checked
        ]
        for subscription in self.living_subscriptions(queue):
            if scheme(subscription["subscriber"]) in DELIVERED:
                for message in posted:
                    self.deliveries.send(subscription, name, message)
        return posted

    def _next_id(self) -> str:
        """An id that is greater than all before it, so that pages go on after a message that is gone."""
        counter = self.own.get("counter") or self.own.add({"id": "counter", "number": 0})
        self.own.update(counter, number=counter["number"] + 1)
        return f"{counter['number']:016x}{secrets.token_hex(4)}"

    def waiting(self, queue: str) -> list[Record]:
        """The messages whose time has not run out, the oldest first."""
        now = self.cloud.clock.now()
        return [message for message in self.messages.select(queue=queue) if message["created"] + message["ttl"] > now]

    def pop(self, queue: str, number: int) -> list[Record]:
        """Take the oldest messages out of a queue."""
        taken = self.waiting(queue)[:number]
        for message in taken:
            self.messages.remove(message)
        return taken

    # -- subscriptions ---------------------------------------------------------------------------------------------

    def subscribe(self, project_id: str, name: str, wanted: Mapping[str, Any]) -> Record:
        self.made_queue(project_id, name, {})
        queue = place(project_id, name)
        values = self._subscription_values(queue, wanted, None)
        record = {
            "id": new_hex_id()[:24],
            "queue": queue,
            "source": name,
            "created": self.cloud.clock.now(),
            "subscriber": values["subscriber"],
            "ttl": values.get("ttl", DEFAULT_SUBSCRIPTION_TTL),
            "options": values.get("options", {}),
        }
        return self.subscriptions.add(record)

    def change_subscription(self, subscription: Record, wanted: Mapping[str, Any]) -> None:
        merged = {"subscriber": subscription["subscriber"], **wanted}
        values = self._subscription_values(subscription["queue"], merged, subscription["id"])
        renewed = {"created": self.cloud.clock.now()} if "ttl" in values else {}
        self.subscriptions.update(subscription, **values, **renewed)

    def _subscription_values(self, queue: str, wanted: Mapping[str, Any], own: str | None) -> dict[str, Any]:
        values = {name: wanted[name] for name in ("subscriber", "ttl", "options") if wanted.get(name) is not None}
        subscriber = values.get("subscriber")
        if not isinstance(subscriber, str) or scheme(subscriber) not in SCHEMES:
            raise bad_request(
                f"The subscriber type of subscription must be supported in the list {', '.join(SCHEMES)}."
            )
        if "ttl" in values and (not _whole(values["ttl"]) or values["ttl"] < SHORTEST_TTL):
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
            raise not_found(f"Subscription {identifier} does not exist.")
        return found

    # -- signatures ------------------------------------------------------------------------------------------------

    def signing_key(self) -> bytes:
        """The service's own secret, made when it is first needed."""
        known = self.own.get("signing") or self.own.add({"id": "signing", "key": new_id()})
        return str(known["key"]).encode()


def place(project_id: str, name: str) -> str:
    """Where a queue is: the id of its record."""
    return f"{project_id}/{name}"


def scheme(subscriber: str) -> str:
    return subscriber.partition(":")[0].lower()


def check_name(name: str) -> None:
    """400 for a name that no queue may have."""
    if not _NAME.fullmatch(name):
        raise bad_request("Queue names may only contain ASCII letters, digits, underscores, and dashes, at most 64.")


def _checked(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict) or "body" not in message:
        raise bad_request("Missing body field.")
    ttl = message.get("ttl", DEFAULT_MESSAGE_TTL)
    if not _whole(ttl) or not SHORTEST_TTL <= ttl <= LONGEST_MESSAGE_TTL:
        raise bad_request(
            f"The TTL for a message may not exceed {LONGEST_MESSAGE_TTL} seconds, and must be at least {SHORTEST_TTL} "
            "seconds long."
        )
    return {"body": message["body"], "ttl": ttl}


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def error_body(error: ApiError) -> dict[str, str]:
    """Zaqar's form of an error."""
    return {"title": error.title, "description": error.message}
