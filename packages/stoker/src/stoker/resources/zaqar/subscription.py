"""OS::Zaqar::Subscription and OS::Zaqar::MistralTrigger"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, urlsplit

from stoker.cloud import messaging
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.resources.base import CLOCK_SKEW, unrecorded, value_at
from stoker.resources.declare import between, custom
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import has_unknown, is_unknown

_SCHEMES = ("http", "https", "mailto", "trust+http", "trust+https")
_PAGE = 20
"""Subscriptions that Zaqar lists at once."""
_NEVER_EXPIRES = 220367260800
_MESSAGE = "$zaqar_message$"
"""Placeholder for the message in what a subscriber receives."""

_QUEUE_NAME = Property(description="Name of the queue.", required=True, constraints=custom("zaqar.queue"))
_TTL = Property(
    Type.INTEGER,
    "Lifetime of the subscription in seconds.",
    default=_NEVER_EXPIRES,
    constraints=between(60),
    change=Change.UPDATE,
)


def _have_same_subscriber(properties: Mapping[str, object], replacement: Mapping[str, object]) -> bool:
    """Return whether a subscription and its replacement have the same queue and subscriber."""
    return has_unknown(replacement) or all(
        properties[name] == replacement[name] for name in ("queue_name", "subscriber") if name in properties
    )


class Subscription(ResourceType):
    """A subscription, which delivers messages of a queue to a subscriber. A subscriber has one per queue.

    Asked for a second one, Zaqar refuses, or returns the existing subscription if it is not confirmed. So that no
    resource gets a subscription that is not its own, existing ones are looked up before, and each ID is recorded for
    one resource only. A subscription is deleted before its replacement with the same subscriber is created.
    """

    type_name: ClassVar[str] = "OS::Zaqar::Subscription"
    description = "A subscription to the messages of a queue."
    service = "zaqar"
    exclusion = Exclusion(_have_same_subscriber)
    support = Support(version="8.0.0")
    id_is_new = True
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A queue has one subscription per subscriber; it must not be older than the action.",
    )

    properties: Mapping[str, Property] = {
        "queue_name": _QUEUE_NAME,
        "subscriber": Property(
            description="URI of the subscriber: http, https, mailto, trust+http, trust+https.",
            required=True,
            change=Change.UPDATE,
        ),
        "ttl": _TTL,
        "options": Property(Type.MAP, "Options for the delivery.", change=Change.UPDATE),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        subscriber = properties["subscriber"]
        if not is_unknown(subscriber) and str(subscriber).partition(":")[0] not in _SCHEMES:
            yield f"subscriber must be a URI with one of the schemes {', '.join(_SCHEMES)}"

    def request_body(self, call: Call) -> dict[str, Any]:
        """Return the request body of the subscription."""
        given = call.properties
        return {"subscriber": given["subscriber"], "ttl": given["ttl"], "options": given["options"] or {}}

    async def find(self, call: Call) -> str | None:
        oldest = call.now - call.resource.created_at + CLOCK_SKEW
        ours = [item["id"] for item in await self._duplicates(call) if item["age"] <= oldest]
        return next(iter(await unrecorded(call, ours)), None)

    async def _duplicates(self, call: Call) -> list[dict[str, Any]]:
        """Return the subscriptions of the subscriber to the queue, which are one at the most."""
        subscriber = self.request_body(call)["subscriber"]
        return [item for item in await self._all(call) if item["subscriber"] == subscriber]

    async def _all(self, call: Call) -> list[dict[str, object]]:
        """Return all subscriptions of the queue, which Zaqar lists in pages."""
        found: list[dict[str, object]] = []
        query: dict[str, object] = {"limit": _PAGE}
        while True:
            body = (await messaging.request(call.cloud, "GET", self._path(call), params=query)).body
            found += body["subscriptions"]
            following = [link["href"] for link in body.get("links", ()) if link["rel"] == "next"]
            if len(body["subscriptions"]) < _PAGE or not following:
                return found
            query["marker"] = parse_qs(urlsplit(following[0]).query)["marker"][0]

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            return Done()
        if duplicates := await self._duplicates(call):
            return _taken(duplicates[0])
        return Done(physical_id=await self._made(call))

    async def _made(self, call: Call) -> str:
        made = await messaging.request(call.cloud, "POST", self._path(call), json=self.request_body(call))
        return str(made.body["subscription_id"])

    async def update(self, call: Call) -> Outcome:
        await messaging.request(call.cloud, "PATCH", self._path(call, member=True), json=self.request_body(call))
        return Done()

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            await messaging.request(call.cloud, "DELETE", self._path(call, member=True), ok=(404,))
        return Done()

    async def adopt(self, call: Call) -> Outcome:
        """Look the subscription up in its queue, by which Zaqar addresses it."""
        if call.properties["queue_name"] is None:
            return Failed("a subscription is found in its queue only: the property queue_name is missing", "NotFound")
        answer = await messaging.request(call.cloud, "GET", self._path(call, member=True), ok=(404,))
        if answer.status == 404:
            queue = call.properties["queue_name"]
            return Failed(f"the queue {queue} has no subscription {call.physical_id}", "NotFound")
        return Done()

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        is_addressable = call.physical_id is not None and call.properties["queue_name"] is not None
        if not is_addressable or all(key[0] != "show" for key in keys):
            return dict.fromkeys(keys)
        shown = (await messaging.request(call.cloud, "GET", self._path(call, member=True))).body
        return {key: value_at({"show": {**shown, "queue_name": call.properties["queue_name"]}}, key) for key in keys}

    def _path(self, call: Call, *, member: bool = False) -> str:
        tail = f"/{quote(str(call.physical_id), safe='')}" if member else ""
        return messaging.queue_path(call.properties["queue_name"], f"/subscriptions{tail}")


def _taken(rival: Mapping[str, object]) -> Failed:
    """Return the outcome for a subscriber that has a subscription already."""
    return Failed(
        f"the subscriber {rival['subscriber']} already has a subscription to the queue {rival['source']} "
        f"({rival['id']}), and can have one only",
        "Conflict",
    )


class MistralTrigger(Subscription):
    """Runs a workflow for each message of a queue."""

    type_name = "OS::Zaqar::MistralTrigger"
    description = "Runs a workflow for each message of a queue."

    properties = {
        "queue_name": _QUEUE_NAME,
        "workflow_id": Property(
            description="The workflow.", required=True, constraints=custom("mistral.workflow"), change=Change.UPDATE
        ),
        "params": Property(
            Type.MAP,
            "Parameters of the workflow executions, which get the message in `env.notification`.",
            default={},
            change=Change.UPDATE,
        ),
        "input": Property(Type.MAP, "Input of the workflow.", default={}, change=Change.UPDATE),
        "ttl": _TTL,
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        return ()

    def request_body(self, call: Call) -> dict[str, Any]:
        given = call.properties
        params = {**given["params"], "env": {**given["params"].get("env", {}), "notification": _MESSAGE}}
        run = {"workflow_id": given["workflow_id"], "params": params, "input": given["input"]}
        return {
            "subscriber": f"trust+{call.cloud.endpoint('mistral').rstrip('/')}/executions",
            "ttl": given["ttl"],
            "options": {"post_data": json.dumps(run)},
        }
