"""The part of an engine that its membership and its takeovers need."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Protocol

from stoker.engine.memory import FreedMemory
from stoker.engine.ownership.healing import HealingHost
from stoker.engine.running.run import OperationRun, RunHost
from stoker.store.records import Operation
from stoker_foundation.clock import SteadyClock


class Isolation(Protocol):
    """Starts engines in processes of their own for operations that may crash the engine which runs them."""

    def begin(self, root_id: str) -> None:
        """Start an engine for the suspects of a tree of stacks, unless one runs."""


class OwnerHost(RunHost, HealingHost):
    """The part of an engine that its membership needs: it runs claimed operations.

    `isolation` starts engines for suspects, if there is a way to start them. An engine with a `trial`, the root of a
    tree of stacks, is one of these, and runs only the suspects of the tree. `steady_clock` is its clock.
    """

    steady_clock: SteadyClock

    freed_memory: FreedMemory
    isolation: Isolation | None
    trial: str | None

    @abstractmethod
    def all_runs(self) -> list[OperationRun]:
        """Return the operations that run here, and those that wait for them to stop."""

    @abstractmethod
    async def resume(self, operation: Operation, former_owner: str | None) -> OperationRun | None:
        """Resume an operation that this engine has just claimed and return its run, or close it if it has ended."""

    @abstractmethod
    def taking_on(self, operation_id: str) -> AbstractContextManager[None]:
        """Mark an operation that is recorded as this engine's until a run processes it or waits for its turn."""

    @abstractmethod
    def has_no_run(self, operation_id: str, key: str) -> bool:
        """Return whether an operation of this engine has no run, and will not get one."""
