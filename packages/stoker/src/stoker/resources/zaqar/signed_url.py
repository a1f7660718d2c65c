"""OS::Zaqar::SignedQueueURL"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from stoker.cloud.messaging import share
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.resources.base import value_at
from stoker.resources.declare import one_of
from stoker.schema.property import Attribute, Property, Support, Type

_LONGEST_TTL = 10_000_000_000
"""Seconds, about 317 years: the expiration time must have a year of four digits."""


class SignedQueueURL(ResourceType):
    """A URL that gives its holder access to a queue. It cannot be revoked."""

    type_name = "OS::Zaqar::SignedQueueURL"
    description = "A URL that gives access to a queue without a token, until it expires."
    service = "zaqar"
    support = Support(version="8.0.0")
    recovery = Recovery(RecoveryMethod.NOTHING, "A new URL is signed; the first one, which was not recorded, expires.")

    properties = {
        "queue": Property(description="Name of the queue.", required=True),
        "paths": Property(Type.LIST, "Paths below the queue: messages, subscriptions, claims.", strings=True),
        "ttl": Property(Type.INTEGER, "Seconds until the URL expires."),
        "methods": Property(
            Type.LIST,
            "The HTTP methods that the URL allows.",
            items=Property(constraints=one_of("GET", "DELETE", "PATCH", "POST", "PUT")),
        ),
    }

    attributes = {
        "signature": Attribute("The signature."),
        "expires": Attribute("Expiration time of the URL."),
        "paths": Attribute("The paths that the URL gives access to."),
        "methods": Attribute("The HTTP methods that the URL allows."),
        "project": Attribute("The project of the queue."),
        "query_str": Attribute("All values as the query string of a URL."),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        ttl = properties["ttl"]
        if isinstance(ttl, int) and abs(ttl) > _LONGEST_TTL:
            yield f"ttl: must be at most {_LONGEST_TTL} seconds"

    async def create(self, call: Call) -> Outcome:
        given = call.properties
        body = {name: given[name] for name in ("paths", "methods") if given[name] is not None}
        if given["ttl"] is not None:
            moment = datetime.fromtimestamp(call.now + float(given["ttl"]), UTC)
            body["expires"] = moment.strftime("%Y-%m-%dT%H:%M:%S")
        shared = await share(call.cloud, given["queue"], body)
        call.data.update({name: shared[name] for name in ("signature", "expires", "project")})
        call.data.update({name: json.dumps(shared[name]) for name in ("paths", "methods")})
        return Done(physical_id=call.physical_name)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        if "signature" not in call.data:
            return dict.fromkeys(keys)
        values: dict[str, Any] = {name: call.data[name] for name in ("signature", "expires", "project")}
        values |= {name: json.loads(call.data[name]) for name in ("paths", "methods")}
        values["query_str"] = urlencode(
            {
                "signature": values["signature"],
                "expires": values["expires"],
                "paths": ",".join(values["paths"]),
                "methods": ",".join(values["methods"]),
                "project_id": values["project"],
                "queue_name": call.properties["queue"],
            }
        )
        return {key: value_at(values, key) for key in keys}
