"""OS::Heat::WaitCondition"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, Neighbour, ResourceType, poll_pause
from stoker.plugins.transports import signal_transports
from stoker.resources.base import value_at
from stoker.resources.declare import between
from stoker.resources.heat.pause import seconds_left
from stoker.resources.heat.signals.wait_condition_handle import TRANSPORT
from stoker.schema.property import Attribute, Change, Property, Support, Type

HANDLES = frozenset(
    {
        "OS::Heat::WaitConditionHandle",
        "OS::Heat::UpdateWaitConditionHandle",
        "AWS::CloudFormation::WaitConditionHandle",
    }
)

CONSOLE_LOG_HINT = "The console log of a server tells what its user data did: openstack console log show SERVER"
"""What to do when signals are missing."""


class BaseWaitCondition(ResourceType):
    """Waits until a handle has received the number of signals, all successful.

    `property_names` maps handle, timeout, count and data to the names of these properties and of the attribute.
    `handles` are the types of handles, and `failures` is how the kinds of failures begin.
    """

    local = True
    property_names: ClassVar[Mapping[str, str]] = {name: name for name in ("handle", "timeout", "count", "data")}
    handles: ClassVar[frozenset[str]] = HANDLES
    failures: ClassVar[str] = "WaitCondition"

    async def create(self, call: Call) -> Outcome:
        return await self._wait(call)

    async def update(self, call: Call) -> Outcome:
        return await self._wait(call)

    def _given(self, call: Call, name: str) -> Any:
        return call.properties[self.property_names[name]]

    async def _wait(self, call: Call) -> Outcome:
        await call.engine.neighbours.collect(self._given(call, "handle"))
        handle = await self._handle(call)
        if handle is None:
            reference = self._given(call, "handle")
            return Failed(f"{reference!r} is not the reference of a wait condition handle in this stack", "ValueError")
        left = seconds_left(call, self._given(call, "timeout"))
        outcome = evaluate_signals(handle, self._given(call, "count"), left, call.elapsed)
        if isinstance(outcome, Failed) and left <= 0:
            outcome = replace(outcome, reason=f"{outcome.reason}. {CONSOLE_LOG_HINT}")
        return replace(outcome, kind=f"{self.failures}{outcome.kind}") if isinstance(outcome, Failed) else outcome

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        handle = await self._handle(call)
        data = "" if handle is None else json.dumps({name: entry["data"] for name, entry in _signals(handle).items()})
        return {key: value_at(data, key[1:]) if key[0] == self.property_names["data"] else None for key in keys}

    async def _handle(self, call: Call) -> Neighbour | None:
        found = await call.engine.neighbours.by_reference(self._given(call, "handle"))
        return found if found is not None and found.type in self.handles else None


class WaitCondition(BaseWaitCondition):
    """A wait condition in HOT."""

    type_name = "OS::Heat::WaitCondition"
    description = "Waits for signals that report success."
    support = Support(version="2014.2")

    properties = {
        "handle": Property(description="The handle that receives the signals.", required=True),
        "timeout": Property(
            Type.NUMBER, "Maximum time to wait, in seconds.", required=True, constraints=between(1, 43200)
        ),
        "count": Property(
            Type.INTEGER, "Number of signals to wait for.", default=1, constraints=between(1), change=Change.UPDATE
        ),
    }
    attributes = {"data": Attribute("The data of the signals by signal ID, as JSON.", Type.STRING, live=True)}


def evaluate_signals(handle: Neighbour, count: int, left: float, elapsed: float) -> Outcome:
    """Evaluate whether the signals suffice, `elapsed` seconds into the action, with `left` seconds until the timeout.

    Another service that stores signals is polled. The kind of a failure is Timeout or Failure.
    """
    transport = signal_transports().get(handle.data.get(TRANSPORT, ""))
    if transport is not None and not transport.expected:
        return Done()
    signals = _signals(handle).values()
    failures = [str(entry["reason"]) for entry in signals if entry["status"] != "SUCCESS"]
    successes = [str(entry["reason"]) for entry in signals if entry["status"] == "SUCCESS"]
    if left <= 0:
        reasons = ";".join(successes)
        return Failed(f"{len(signals)} of {count} received{': ' if reasons else ''}{reasons}", "Timeout")
    if failures:
        return Failed(";".join(failures), "Failure")
    if len(signals) >= count:
        return Done()
    collects = transport is not None and transport.place is not None
    return InProgress(after=min(left, poll_pause(elapsed)) if collects else left)


def _signals(handle: Neighbour) -> dict[str, Mapping[str, object]]:
    """Return the handle's signals by ID, with the keys of OS::Heat::WaitConditionHandle."""
    return {
        str(name): {key: entry.get(key, entry.get(key.capitalize())) for key in ("status", "data", "reason")}
        for name, entry in handle.metadata.items()
        if isinstance(entry, Mapping) and not entry.keys().isdisjoint(("status", "Status"))
    }
