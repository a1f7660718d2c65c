"""OS::Heat::Delay"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from stoker.plugins.capabilities import ConditionallyReplaced, Resumable, Suspendable
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, ResourceType
from stoker.resources.declare import between, one_of
from stoker.resources.heat.pause import seconds_left
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import has_unknown


class Delay(ResourceType, ConditionallyReplaced, Resumable, Suspendable):
    """Waits a fixed time, for conditions that cannot be observed."""

    type_name = "OS::Heat::Delay"
    description = "Waits for a time during the chosen actions."
    support = Support(version="11.0.0")
    local = True

    properties = {
        "min_wait": Property(
            Type.NUMBER, "Minimum time to wait, in seconds.", default=0, constraints=between(0), change=Change.UPDATE
        ),
        "max_jitter": Property(
            Type.NUMBER,
            "Maximum random time that is added, in seconds.",
            default=0,
            constraints=between(0),
            change=Change.UPDATE,
        ),
        "jitter_multiplier": Property(
            Type.NUMBER,
            "Factor for the added time; use the number of resources to spread them evenly.",
            default=1.0,
            constraints=between(0),
            change=Change.UPDATE,
        ),
        "actions": Property(
            Type.LIST,
            "The actions during which to wait.",
            default=["CREATE"],
            constraints=one_of("CREATE", "DELETE", "SUSPEND", "RESUME"),
            change=Change.UPDATE,
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if not has_unknown(properties) and not isfinite(longest_wait(properties)):
            yield "the maximum delay, min_wait + max_jitter * jitter_multiplier, is too large"

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        return "a delay takes effect only when the resource is created"

    async def create(self, call: Call) -> Outcome:
        longest = longest_wait(call.properties)
        minutes = call.stack.timeout_minutes
        if "CREATE" in call.properties["actions"] and minutes and longest > minutes * 60:
            return Failed(
                f"the maximum delay of {longest} seconds exceeds the stack's timeout of {minutes} minutes",
                "StackValidationFailed",
            )
        return self._wait(call)

    async def delete(self, call: Call) -> Outcome:
        return self._wait(call)

    async def suspend(self, call: Call) -> Outcome:
        return self._wait(call)

    async def resume(self, call: Call) -> Outcome:
        return self._wait(call)

    def _wait(self, call: Call) -> Outcome:
        if call.action not in call.properties["actions"]:
            return Done()
        if "wait" not in call.progress:
            shortest = float(call.properties["min_wait"])
            call.progress["wait"] = shortest + random.random() * (longest_wait(call.properties) - shortest)
        remaining = seconds_left(call, call.progress["wait"])
        return InProgress(after=remaining) if remaining > 0 else Done()


def longest_wait(properties: Mapping[str, Any]) -> float:
    """Return the maximum time that one action waits, in seconds."""
    return float(properties["min_wait"]) + float(properties["max_jitter"]) * float(properties["jitter_multiplier"])
