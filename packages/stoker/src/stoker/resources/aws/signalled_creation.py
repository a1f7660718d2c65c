"""Resources whose creation policy has them wait for signals (AWS CloudFormation User Guide, CreationPolicy attribute).

The signals are kept in the resource's data, which is committed before a signal is answered: none is lost when the
engine ends. The time runs from the beginning of the creation, and survives restarts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil

from stoker.base.errors import BadValue, NotSupported, ResourceActionNotSupported
from stoker.plugins.capabilities import Signalable
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, NoActionRequired, ResourceType
from stoker.resources.declare import between
from stoker.resources.durations import Duration, seconds_of
from stoker.resources.heat.pause import seconds_left
from stoker.resources.heat.signals.wait_condition import CONSOLE_LOG_HINT
from stoker.resources.heat.signals.wait_condition_handle import STATUSES
from stoker.schema.property import Finalizer, Property, Type

SIGNALS = "creation_signals"
"""The key of `Call.data` for the signals by their ids; it is there as long as the creation waits for signals."""

_AWAITED, _MADE, _FROM = "signals_awaited", "made_before_signals", "signals_awaited_from"
_KEYS = frozenset({"UniqueId", "Status", "Reason", "Data"})
_LONGEST_ID = 64
_LONGEST_REASON = 255
_GROUP = "AutoScalingCreationPolicy"

_RESOURCE_SIGNAL = {
    "Count": Property(Type.INTEGER, "How many signals of success to wait for.", default=1, constraints=between(1)),
    "Timeout": Property(
        description="How long to wait at most, such as PT15M; twelve hours at most.",
        default="PT5M",
        constraints=(Duration(longest="PT12H"),),
    ),
}

CREATION_POLICY = {
    "ResourceSignal": Property(Type.MAP, "Which signals the creation waits for.", schema=_RESOURCE_SIGNAL)
}
"""The creation policy of a single resource."""

GROUP_CREATION_POLICY = {
    **CREATION_POLICY,
    _GROUP: Property(
        Type.MAP,
        "How many of the signals must be of success.",
        schema={
            "MinSuccessfulInstancesPercent": Property(
                Type.INTEGER, "In percent of Count, rounded up.", default=100, constraints=between(0, 100)
            )
        },
    ),
}
"""The creation policy of a group of instances."""


class SignalledCreation(ResourceType, Signalable):
    """A type that makes its object in `make`, and then waits for the signals that a creation policy asks for."""

    signalable = True
    creation_policy = CREATION_POLICY

    async def make(self, call: Call) -> Outcome:
        """As `create`, without regard to the creation policy."""
        return await super().create(call)

    async def create(self, call: Call) -> Outcome:
        return await self.signalled(self.make, call) if call.resource.creation_policy else await self.make(call)

    async def signalled(self, method: Callable[[Call], Awaitable[Outcome]], call: Call) -> Outcome:
        """Enter `method` until it is done, and wait for the signals, some of which may arrive before."""
        policy = _Policy.of(self.creation_policy, call.resource.creation_policy)
        if not call.progress.get(_AWAITED):
            call.progress[_AWAITED] = True
            call.data[SIGNALS] = _kept_for(call)
        signalled = policy.evaluate(call.data[SIGNALS], seconds_left(call, policy.timeout, _FROM))
        if not call.progress.get(_MADE):
            return await self._made(method, call, signalled)
        if isinstance(signalled, Done):
            del call.data[SIGNALS]
        return signalled

    async def _made(self, method: Callable[[Call], Awaitable[Outcome]], call: Call, signalled: Outcome) -> Outcome:
        if isinstance(signalled, Failed):
            return signalled
        outcome = await method(call)
        if isinstance(outcome, Done):
            call.progress[_MADE] = True
            return InProgress(after=0.0, physical_id=outcome.physical_id)
        if isinstance(outcome, InProgress) and isinstance(signalled, InProgress):
            # A watched list is looked at instead of entering the method: it knows nothing of signals and of the time.
            pauses = [after for after in (outcome.after, signalled.after) if after is not None]
            return replace(outcome, after=min(pauses), watch=None)
        return outcome

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Keep the signal. Raises BadValue for what is none, and when the creation waits for none; NoActionRequired for
        one that is known or that changes nothing any more.
        """
        if not call.resource.creation_policy:
            raise ResourceActionNotSupported(
                f"The resource {call.resource.name!r} ({call.resource.type}) takes no signals."
            )
        if SIGNALS not in call.data:
            raise NotSupported(f"The resource {call.resource.name!r} is not being created and cannot be signalled.")
        identifier, status, reason = _read(details)
        known = call.data[SIGNALS].get(identifier)
        policy = _Policy.of(self.creation_policy, call.resource.creation_policy)
        if known is not None and (known["status"] == status or known["status"] == "FAILURE"):
            raise NoActionRequired(f"the signal {identifier} has been received already")
        if policy.has_enough(call.data[SIGNALS], status):
            raise NoActionRequired(f"enough signals with the status {status} have been received")
        call.data[SIGNALS] = {**call.data[SIGNALS], identifier: {"status": status, "reason": reason}}
        return f"Received {status} signal with UniqueId {identifier}" + (f": {reason}" if reason else "")


@dataclass(frozen=True, slots=True)
class _Policy:
    """How many signals are awaited, how many of them must be of success, and the seconds to wait at most."""

    count: int
    needed: int
    timeout: float

    @classmethod
    def of(cls, schema: Mapping[str, Property], values_in_template: Mapping[str, object]) -> _Policy:
        values = Finalizer().properties(schema, values_in_template)
        signal = Finalizer().properties(_RESOURCE_SIGNAL, values["ResourceSignal"] or {})
        percent = (values.get(_GROUP) or {}).get("MinSuccessfulInstancesPercent", 100)
        return cls(signal["Count"], ceil(signal["Count"] * percent / 100), seconds_of(signal["Timeout"]))

    def evaluate(self, signals: Mapping[str, Mapping[str, str]], left: float) -> Outcome:
        """Return the outcome of the signals, with `left` seconds to go."""
        failures = _reasons_with(signals, "FAILURE")
        successes = len(_reasons_with(signals, "SUCCESS"))
        if len(failures) > self.count - self.needed:
            text = "; ".join(f"{name}: {reason}" if reason else name for name, reason in failures.items())
            return Failed(
                f"Received {len(failures)} FAILURE signal(s) where {self.needed} of {self.count} must succeed: {text}",
                "WaitConditionFailure",
            )
        if successes >= self.needed:
            return Done()
        if left <= 0:
            missing = self.needed - successes
            return Failed(
                f"{missing} of {self.needed} resource signal(s) not received within {self.timeout:g} seconds. "
                f"{CONSOLE_LOG_HINT}",
                "WaitConditionTimeout",
            )
        return InProgress(after=left)

    def has_enough(self, signals: Mapping[str, Mapping[str, str]], status: str) -> bool:
        """Whether one more signal with this status changes nothing. It bounds what is kept."""
        most = self.needed if status == "SUCCESS" else self.count - self.needed + 1
        return len(_reasons_with(signals, status)) >= most


def _reasons_with(signals: Mapping[str, Mapping[str, str]], status: str) -> dict[str, str]:
    """The reasons of the signals with a status, by the ids of the signals."""
    return {name: signal["reason"] for name, signal in signals.items() if signal["status"] == status}


def _kept_for(call: Call) -> dict[str, Mapping[str, str]]:
    """Signals that count for the action that begins: an update makes up for what a creation has failed to bring."""
    signals = call.data.get(SIGNALS, {}) if call.action == "UPDATE" else {}
    return {name: signal for name, signal in signals.items() if signal["status"] == "SUCCESS"}


def _read(details: Mapping[str, object] | None) -> tuple[str, str, str]:
    """The id, status and reason of a signal. Raises BadValue for what is none."""
    given = dict(details or {})
    if not {"UniqueId", "Status"} <= given.keys() <= _KEYS:
        raise BadValue("A signal has UniqueId and Status, and may have Reason and Data.")
    identifier, status = given["UniqueId"], given["Status"]
    if not isinstance(identifier, str) or not 1 <= len(identifier) <= _LONGEST_ID:
        raise BadValue(f"The UniqueId of a signal is a string of 1 to {_LONGEST_ID} characters.")
    if status not in STATUSES:
        raise BadValue(f"The Status of a signal is SUCCESS or FAILURE, not {status!r}.")
    return identifier, status, str(given.get("Reason") or "")[:_LONGEST_REASON]
