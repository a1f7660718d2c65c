"""Engines that are killed in the middle of each operation on a stack of many services, and started again.

Each operation runs once without a kill, which shows how long it takes and how many objects there are then; afterwards
with kills at moments that the seed decides. It must complete, with as many objects.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tools.realcloud.cases import merged
from tools.realcloud.scenarios.trials import Failed, Place, Trial

DOCUMENT = Path(__file__).with_name("kills.yaml")
ROUNDS = 4
"""Rounds of kills, one in each of the five operations."""
SECONDS = 400.0
"""Seconds after which an operation on a stack of this size counts as stuck."""
_SETTLING_SECONDS = 15.0

Counts = Counter[str]
"""List of a service → number of objects in it."""


def kills(place: Place) -> Iterator[Trial]:
    """Rounds of operations, first without kills; a round ends when an operation has not ended as it should."""
    chance = random.Random(place.seed)
    known: dict[str, tuple[float, Counts]] = {}
    for number in range(ROUNDS + 1):
        one = Round(place, chance, known)
        for operation in one.operations:
            name = f"{operation}, kill {number} with seed {place.seed}" if number else f"{operation} without a kill"
            yield Trial(name, partial(one.run, operation, killed=bool(number)))
            if one.broken:
                yield Trial(f"delete after {operation}", partial(one.run, "delete", killed=False))
                break


class Round:
    """The operations on one stack; `known` is filled by operations that are not killed."""

    def __init__(self, place: Place, chance: random.Random, known: dict[str, tuple[float, Counts]]) -> None:
        self._place, self._chance, self._known = place, chance, known
        self._template = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
        self._resources = self._template["resources"]
        self._stack = ""
        self._others = _counts(place)
        self.broken = False
        self.operations: dict[str, Callable[[], str]] = {
            "create": self._create,
            "update": self._update,
            "replacement": self._replace,
            "rollback": self._fail,
            "delete": self._delete,
        }
        """Operation → what begins it and returns the status that it ends with."""

    def run(self, operation: str, *, killed: bool) -> str:
        """Run an operation, and compare what there is then. Raises Failed."""
        if killed and operation not in self._known:
            raise Failed("it did not succeed without a kill, so there is nothing to compare with")
        was_broken, self.broken = self.broken, True
        began = time.monotonic()
        template = self.operations[operation]()
        report = self._kill(self._known[operation][0]) if killed else ""
        self._place.expect(self._stack, template, SECONDS)
        spent = time.monotonic() - began
        if killed or was_broken:
            self._compare(operation)
        else:
            self._known[operation] = (spent, self._counts())
        self.broken = was_broken
        return f"{report}{template} after {spent:.0f} s"

    def _kill(self, usual: float) -> str:
        pause = self._chance.uniform(0.05, 0.6) * usual
        time.sleep(pause)
        status = self._place.engine.show(self._stack)["stack_status"]
        self._place.engine.kill()
        self._place.engine.start()
        return f"killed in {status} after {pause:.1f} s of {usual:.1f} s, "

    def _compare(self, operation: str) -> None:
        """Require as many objects as without a kill, as soon as services have removed what is being deleted."""
        expected = self._known[operation][1]
        deadline = time.monotonic() + _SETTLING_SECONDS
        while (found := self._counts()) != expected:
            if time.monotonic() > deadline:
                more, fewer = found - expected, expected - found
                raise Failed(f"too many: {dict(more)}, too few: {dict(fewer)}")

    def _counts(self) -> Counts:
        counts = _counts(self._place)
        counts.subtract(self._others)
        return +counts

    # -- operations ---------------------------------------------------------------------------------------------------

    def _body(self) -> dict[str, Any]:
        return {"heat_template_version": "2021-04-16", "resources": self._resources}

    def _create(self) -> str:
        self._stack = self._place.create("kills", self._body(), timeout_mins=15)
        return "CREATE_COMPLETE"

    def _update(self) -> str:
        return self._changed("update", "UPDATE_COMPLETE")

    def _replace(self) -> str:
        return self._changed("replace", "UPDATE_COMPLETE")

    def _fail(self) -> str:
        before = self._resources
        ended = self._changed("rollback", "ROLLBACK_COMPLETE", fails=self._template["fails"])
        self._resources = before
        return ended

    def _delete(self) -> str:
        self._place.engine.send("DELETE", self._stack)
        return "DELETE_COMPLETE"

    def _changed(self, section: str, ended: str, **added: Any) -> str:
        changes = self._template[section]
        self._resources = {
            name: {**one, "properties": merged(one.get("properties", {}), changes.get(name, {}))}
            for name, one in self._resources.items()
        } | added
        self._place.engine.update(self._stack, self._body(), {}, disable_rollback=not added, timeout_mins=15)
        return ended


def _counts(place: Place) -> Counts:
    return Counter(path for path, _ in place.held())
