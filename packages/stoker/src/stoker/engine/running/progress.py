"""The state of a run: how this engine got the operation, what it has planned from, how far it is, and what waits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from stoker.engine.plan_policies.policy import Policy
from stoker.engine.planning.plan import Plan
from stoker.engine.planning.planner import Wanted
from stoker.engine.planning.relocating import Relocated
from stoker.engine.planning.retaining import Removing
from stoker.engine.records.failure import Failure
from stoker.engine.records.retention import Left
from stoker.engine.records.state import ResourceState
from stoker.engine.running.stopping import Stop
from stoker.plugins.resource import AttributeKey
from stoker.store.journal import Batch, Claim
from stoker.store.records import Operation, Stack
from stoker_foundation.clock import Clock


class Waiting:
    """The waiting steps of one run. `paused` are the futures that they wait for, by the resource's uuid."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.paused: dict[str, asyncio.Future[None]] = {}
        self._woken: set[str] = set()

    async def pause(self, uuid: str, seconds: float | None) -> bool:
        """Wait for `seconds`, or until the step is woken; return False if it was woken before it began to wait."""
        if uuid in self._woken:
            self._woken.discard(uuid)
            return False
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.paused[uuid] = future
        timer = None
        if seconds is not None:
            timer = self._clock.call_later(seconds, lambda: self.wake(uuid))
        try:
            await future
        finally:
            del self.paused[uuid]
            self._woken.discard(uuid)
            if timer is not None:
                timer.cancel()
        return True

    def wake(self, uuid: str) -> None:
        """Poll a waiting step now."""
        future = self.paused.get(uuid)
        if future is None:
            self._woken.add(uuid)
        elif not future.done():
            future.set_result(None)

    def wake_all(self) -> None:
        """Poll all waiting steps now."""
        for future in self.paused.values():
            if not future.done():
                future.set_result(None)


@dataclass(frozen=True)
class Assignment:
    """How an operation came to this engine: with which claim, when, and from which engine, unless that one handed it
    over or there was none.
    """

    claim: Claim
    claimed_at: float
    former_owner: str | None = None


@dataclass(slots=True)
class Planning:
    """What a run has planned, and from what: set before the first step, and only read by the steps.

    `removing` is how the operation removes resources.

    `earlier` are the resources from before the run, by name. `attribute_keys` are the attributes of each resource that
    others refer to. `adopted` are the documents of adopted resources, `copies` those of the snapshot that the operation
    is about, by resource, and `snapshot_path` the place of the stack in it. `imported` is that of `Forward`.
    `relocated` is what was moved, None if nothing could be. `policies` are those that the plan must satisfy.
    """

    removing: Removing = field(default_factory=Removing)
    wanted: Wanted | None = None
    plan: Plan | None = None
    earlier: Mapping[str, list[ResourceState]] = field(default_factory=dict)
    attribute_keys: dict[str, set[AttributeKey]] = field(default_factory=dict)
    adopted: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    copies: dict[str, ResourceState] = field(default_factory=dict)
    snapshot_path: tuple[str, ...] = ()
    imported: Mapping[str, str] = field(default_factory=dict)
    relocated: Relocated | None = None
    policies: tuple[Policy, ...] = ()


@dataclass(slots=True)
class Objects:
    """What steps know of objects beyond the record.

    `moved` are the names of the resources whose reference id has changed; `making` are the tasks that create an object
    whose id is not stored yet, by the resource's uuid; `late` are the resources, by uuid, for which a service may
    execute a request late. `position` is that of the latest resource row, in the order of creation.
    """

    moved: set[str] = field(default_factory=set)
    making: dict[str, asyncio.Task[object]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    position: int = 0


@dataclass(slots=True)
class Progress:
    """How far a run is, and how it ends.

    `planned` is set when its plan is made, or it has ended without one; `done` when the run has ended and is fully
    recorded. `stopping` is why it starts no more steps, unless it was `cancelled`. `failures` are those of its steps,
    `failure` that with which the operation has ended, with secrets redacted. `refused` is true when a plug-in or a
    check has refused the operation, and nothing has been done for it. `left` are the objects that a forced deletion
    could not delete. `document` is the sealed document of a new snapshot. `follow_up` is the operation that follows on
    the stack. `unsaved_transfers` are new names of resources, and imported ones, until the first commit.
    """

    planned: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: Stop | None = None
    cancelled: bool = False
    failures: list[Failure] = field(default_factory=list)
    failure: Failure | None = None
    refused: bool = False
    left: list[Left] = field(default_factory=list)
    document: str | None = None
    follow_up: tuple[Operation, Stack] | None = None
    unsaved_transfers: Batch | None = None

    @property
    def ends_early(self) -> bool:
        """Whether no more steps are started."""
        return bool(self.failures) or self.stopping is not None or self.cancelled
