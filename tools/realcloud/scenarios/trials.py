"""The trials that a scenario consists of, each with its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tools.realcloud import inventory
from tools.realcloud.engine import Engine, Refused, Stuck
from tools.realcloud.lab import Account, Lab, LabMissing

ACCOUNT = "realcloud-scenarios"
"""The user whose stacks the scenarios make: other runs do not disturb what its project holds."""
ADMINISTRATOR = "realcloud-admin"
"""The user whose stacks have objects for administrators."""


class Failed(Exception):
    """A trial has not ended as it should."""


@dataclass(frozen=True)
class Place:
    """Where trials run: the lab, a Stoker on it for each account, and the seed of what is left to chance.

    Stacks are those of `ACCOUNT` unless another engine is named.
    """

    lab: Lab
    engines: Mapping[str, Engine]
    seed: int
    _stacks: list[tuple[Engine, str]] = field(default_factory=list)

    @property
    def engine(self) -> Engine:
        """The Stoker of `ACCOUNT`."""
        return self.engines[ACCOUNT]

    @property
    def account(self) -> Account:
        """The user whom the stacks belong to."""
        return self.engine.account

    @property
    def administrator(self) -> Account:
        """The administrator of the cloud."""
        return self.lab.administrator

    def create(self, name: str, template: Mapping[str, Any], *, engine: Engine | None = None, **options: Any) -> str:
        """Begin to create a stack, and return its path."""
        engine = engine or self.engine
        stack = engine.create(f"{inventory.STACK_PREFIX}scenario-{name}", template, {}, **options)
        self._stacks.append((engine, stack))
        return stack

    def adopt(self, stack: str) -> None:
        """Delete this stack, too, when a trial fails."""
        self._stacks.append((self.engine, stack))

    def expect(self, stack: str, expected: str, seconds: float | None = None, *, engine: Engine | None = None) -> str:
        """Wait until the operation on a stack has ended with this status, and return the reason. Raises Failed."""
        status, reason = (engine or self.engine).ended(stack, *([seconds] if seconds else []))
        if status != expected:
            raise Failed(f"{status} instead of {expected}: {reason}")
        return reason

    def delete(self, stack: str, *, engine: Engine | None = None) -> str:
        """Delete a stack, and return the reason of its status. Raises Failed."""
        (engine or self.engine).send("DELETE", stack)
        return self.expect(stack, "DELETE_COMPLETE", engine=engine)

    def clear(self, scenario: str) -> Iterator[TrialResult]:
        """Delete the stacks that a trial has left because it failed; yields the deletions that fail."""
        while self._stacks:
            engine, stack = self._stacks.pop()
            if engine.show(stack)["stack_status"] != "DELETE_COMPLETE":
                deletion = Trial(f"delete {stack.split('/')[2]}", partial(self.delete, stack, engine=engine))
                reported = tried(scenario, deletion)
                if not reported.passed:
                    yield reported

    def outputs(self, stack: str) -> dict[str, Any]:
        """Return the values of the outputs of a stack."""
        shown = self.engine.send("GET", stack)["stack"]["outputs"]
        return {output["output_key"]: output["output_value"] for output in shown}

    def held(self) -> inventory.Inventory:
        """Return what the project of the account holds."""
        return inventory.of_projects(inventory.taken([self.account]))


@dataclass(frozen=True)
class Trial:
    """One thing that is tried: `act` returns what is worth telling. Raises Failed, Refused, Stuck, LabMissing."""

    name: str
    act: Callable[[], str]


@dataclass(frozen=True)
class TrialResult:
    """The outcome of a trial: what happened, and whether this is what should."""

    scenario: str
    trial: str
    passed: bool
    text: str
    seconds: float


def run(place: Place, scenario: str, trials: Iterable[Trial]) -> Iterable[TrialResult]:
    """Run the trials of a scenario; the last outcome compares what the project held before and afterwards."""
    before = place.held()
    for trial in trials:
        reported = tried(scenario, trial)
        yield reported
        if not reported.passed:
            yield from place.clear(scenario)
    yield tried(scenario, Trial("what is left", lambda: _nothing_left(place, before)))


def tried(scenario: str, trial: Trial) -> TrialResult:
    """Run a trial, and return its outcome."""
    began = time.monotonic()
    try:
        text, passed = trial.act(), True
    except (Failed, Refused, Stuck, LabMissing) as error:
        text, passed = str(error), False
    return TrialResult(scenario, trial.name, passed, text, time.monotonic() - began)


def _nothing_left(place: Place, before: inventory.Inventory) -> str:
    after = place.held()
    lines = [*inventory.left(before, after), *(f"gone: {line}" for line in inventory.left(after, before))]
    if lines:
        raise Failed("; ".join(lines))
    return "The services hold what they held before."
