"""What goes wrong in a run of a rehearsal: one request of the engine, or the engine itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request
from stoker.testing.calls import READS
from stoker.testing.rehearsal.scenario import Request as Sent
from stoker.testing.rehearsal.visibility import HIDDEN_SECONDS

SLOW_SECONDS = 300.0
"""How much longer a slow request takes: longer than the engine repeats what conflicts with the state of an object."""
_RETRY_SECONDS = 5.0


class DisruptionKind(StrEnum):
    """Kinds of disruptions, in the order in which they are tried."""

    SLOW = "slow"
    FAILED = "failed"
    LOST_ANSWER = "lost-answer"
    ENGINE_DEATH = "engine-death"
    BROKEN_OBJECT = "broken-object"
    REFUSED = "refused"
    QUOTA = "quota"
    NO_CONNECTION = "no-connection"
    RATE_LIMIT = "rate-limit"
    PARTIAL_LIST = "partial-list"
    EVENTUAL_CONSISTENCY = "eventual-consistency"
    DEATH_AFTER_COMMIT = "death-after-commit"


WORDS: Mapping[DisruptionKind, str] = {
    DisruptionKind.SLOW: f"takes {SLOW_SECONDS:.0f} s longer",
    DisruptionKind.FAILED: "fails with 500",
    DisruptionKind.LOST_ANSWER: "is carried out, and its answer is lost",
    DisruptionKind.ENGINE_DEATH: "is carried out, and the engine dies",
    DisruptionKind.BROKEN_OBJECT: "succeeds, and the object goes into its error state",
    DisruptionKind.REFUSED: "is refused with 400",
    DisruptionKind.QUOTA: "exceeds a quota",
    DisruptionKind.NO_CONNECTION: "does not reach the service",
    DisruptionKind.RATE_LIMIT: f"is refused with 429 for {_RETRY_SECONDS:.0f} s",
    DisruptionKind.PARTIAL_LIST: "is answered without the second half of the list",
    DisruptionKind.EVENTUAL_CONSISTENCY: f"creates an object that reads do not show for {HIDDEN_SECONDS:.0f} s",
    DisruptionKind.DEATH_AFTER_COMMIT: "is the last one before the engine dies, right after a commit",
}
"""What happens to a request."""

PASSING: Collection[DisruptionKind] = frozenset(DisruptionKind) - {DisruptionKind.QUOTA, DisruptionKind.BROKEN_OBJECT}
"""The kinds after which the cloud is as it was: another attempt succeeds."""

_ACTIONS: Mapping[DisruptionKind, str] = {
    DisruptionKind.FAILED: "fail",
    DisruptionKind.REFUSED: "fail",
    DisruptionKind.QUOTA: "fail",
    DisruptionKind.LOST_ANSWER: "act_and_drop",
    DisruptionKind.BROKEN_OBJECT: "error_state",
    DisruptionKind.NO_CONNECTION: "drop",
    DisruptionKind.RATE_LIMIT: "rate_limit",
}
_OF_READS = (DisruptionKind.FAILED, DisruptionKind.NO_CONNECTION)
_OF_CREATIONS = (DisruptionKind.BROKEN_OBJECT, DisruptionKind.QUOTA)
_BREAKABLE = frozenset(
    {"servers", "volumes", "backups", "snapshots", "loadbalancers", "instances", "clusters", "shares", "zones", "zone"}
)
"""The last parts of the paths of requests that create objects with an error state."""
_QUOTAS: Mapping[str, tuple[int, str | None]] = {"compute": (403, None), "network": (409, "OverQuota")}
"""With which status, and name of the error, services refuse what exceeds a quota; the others answer 413."""


def kinds_for(request: Sent) -> Sequence[DisruptionKind]:
    """Return what can go wrong with a request, whose answer without disruptions is known."""
    if request.method in READS:
        return (*_OF_READS, DisruptionKind.PARTIAL_LIST) if request.listed else _OF_READS
    without: set[DisruptionKind] = {DisruptionKind.DEATH_AFTER_COMMIT, DisruptionKind.PARTIAL_LIST}
    if not request.made:
        without.add(DisruptionKind.EVENTUAL_CONSISTENCY)
    if request.method != "POST":
        without |= set(_OF_CREATIONS)
    elif request.path.rstrip("/").rsplit("/", 1)[-1] not in _BREAKABLE:
        without.add(DisruptionKind.BROKEN_OBJECT)
    return [kind for kind in DisruptionKind if kind not in without]


@dataclass(frozen=True, slots=True)
class Disruption:
    """What goes wrong with the request `call` of a phase, which are counted from 0; or after the commit of this number,
    for deaths after a commit.
    """

    phase: str
    call: int
    kind: DisruptionKind

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Disruption:
        """Return what `asdict` described."""
        return cls(data["phase"], data["call"], DisruptionKind(data["kind"]))


class _Limited(Fault):
    """A fault whose answer is the service's refusal of what exceeds a quota."""

    def error(self) -> ApiError:
        status, name = _QUOTAS.get(self.message, (413, None))
        return ApiError(status, "Quota exceeded: the project has no more of it.", name, {"Retry-After": "0"})


class Script:
    """What goes wrong (`disruptions`), and where in a run the engine is. `met` are those that have taken place.

    `requests` are those of the phase in the order in which they were sent, with the stack's ID and the resource's name
    that they were sent for; `answers` are, by their numbers, how many objects the answer listed, and the ID of the one
    that was created.
    """

    def __init__(self, disruptions: Sequence[Disruption] = ()) -> None:
        self.disruptions = disruptions
        self.met: list[Disruption] = []
        self._lasting: set[tuple[str, str]] = set()
        self.begin("")

    def begin(self, phase: str) -> None:
        """Count from the beginning of a phase."""
        self.phase, self.commits = phase, 0
        self.requests: list[tuple[Request, tuple[str, str] | None]] = []
        self.answers: dict[int, tuple[int, str]] = {}
        self._lasting.clear()

    def next_call(self, request: Request, resource: tuple[str, str] | None) -> DisruptionKind | None:
        """Return what goes wrong with the next request."""
        number = len(self.requests)
        self.requests.append((request, resource))
        due = [
            disruption
            for disruption in self.disruptions
            if (disruption.phase, disruption.call) == (self.phase, number)
            and disruption.kind is not DisruptionKind.DEATH_AFTER_COMMIT
        ]
        self.met += due
        endpoint = (request.method, request.path)
        if any(disruption.kind is DisruptionKind.QUOTA for disruption in due):
            self._lasting.add(endpoint)
        return DisruptionKind.QUOTA if endpoint in self._lasting else due[0].kind if due else None

    def next_commit(self) -> bool:
        """Return whether the engine dies after the next commit."""
        number, self.commits = self.commits, self.commits + 1
        death = Disruption(self.phase, number, DisruptionKind.DEATH_AFTER_COMMIT)
        if death in self.disruptions:
            self.met.append(death)
        return death in self.disruptions


def fault_of(kind: DisruptionKind, request: Request) -> Fault | None:
    """Return the emulator's fault rule for a disruption of a request; None if the cloud just serves it."""
    action = _ACTIONS.get(kind)
    if action is None:
        return None
    if kind is DisruptionKind.QUOTA:
        return _Limited(on="* *", do=action, message=request.path.split("/")[1])
    message = "The rehearsal makes this request go wrong."
    return Fault(
        on="* *",
        do=action,
        status=400 if kind is DisruptionKind.REFUSED else None,
        seconds=_RETRY_SECONDS,
        message=message,
    )
