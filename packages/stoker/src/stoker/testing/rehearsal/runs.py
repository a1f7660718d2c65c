"""The runs of a rehearsal: each request with each disruption first, then random combinations of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stoker.testing.rehearsal.disruptions import Disruption, DisruptionKind, kinds_for
from stoker.testing.rehearsal.scenario import Outcome, Request

_COMBINED = (2, 3)
"""How many disruptions are combined at least and at most."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run: what goes wrong in it. The same number always means the same run of a scenario."""

    number: int
    disruptions: Sequence[Disruption]


class Runs:
    """The runs for a scenario, of which the outcome without disruptions is known. `alike` returns the same value for
    resources that are written at the same place of a template.
    """

    def __init__(self, usual: Outcome, alike: Callable[[str], object]) -> None:
        self._usual = usual
        self.single = sorted(_single(usual), key=_order(usual, alike))

    def __getitem__(self, number: int) -> Run:
        """Return the run of a number, from 1 on."""
        if number <= len(self.single):
            return Run(number, [self.single[number - 1]])
        chance = random.Random(f"run {number}")
        phase = chance.choice([disruption.phase for disruption in self.single])
        same = [disruption for disruption in self.single if disruption.phase == phase]
        return Run(number, chance.sample(same, min(chance.randint(*_COMBINED), len(same))))

    def first(self, count: int) -> Iterator[Run]:
        """Yield the first runs; none if nothing can go wrong."""
        for number in range(1, count + 1) if self.single else ():
            yield self[number]

    def request(self, disruption: Disruption) -> Request | None:
        """Return the request that a disruption is about, in the run without disruptions; None after a commit."""
        phase = self._usual.phase(disruption.phase)
        if phase is None or disruption.kind is DisruptionKind.DEATH_AFTER_COMMIT:
            return None
        return phase.requests[disruption.call]


def _single(usual: Outcome) -> Iterator[Disruption]:
    for phase in usual.phases:
        for request in phase.requests:
            if request.resource:
                for kind in kinds_for(request):
                    yield Disruption(phase.name, request.number, kind)
        for number in range(phase.commits):
            yield Disruption(phase.name, number, DisruptionKind.DEATH_AFTER_COMMIT)


def _order(usual: Outcome, alike: Callable[[str], object]) -> Callable[[Disruption], tuple[int, int]]:
    """Return the key by which disruptions are sorted: what is new comes before what is like something else."""
    kinds = list(DisruptionKind)
    seen: Counter[object] = Counter()
    times: dict[tuple[str, int], int] = {}
    for phase in usual.phases:
        for request in phase.requests:
            shape = (phase.name, request.method, request.path.split("/")[1:4:2], alike(request.resource))
            times[phase.name, request.number] = seen[str(shape)]
            seen[str(shape)] += 1

    def key(disruption: Disruption) -> tuple[int, int]:
        again = (
            times.get((disruption.phase, disruption.call), 0)
            if disruption.kind is not DisruptionKind.DEATH_AFTER_COMMIT
            else 0
        )
        return min(again, 1), kinds.index(disruption.kind)

    return key
