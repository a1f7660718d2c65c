"""How many members of groups are in service while an update changes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stoker.testing.rehearsal.scenario import CREATE, Outcome, Phase, Step
from stoker.testing.rehearsal.structure import Structure


@dataclass(frozen=True, slots=True)
class Capacity:
    """The members of a group during an update: `size` are needed, which is the number before or after it, whichever is
    less; `least` is how many were in service at least, and `seconds` how long there were fewer than needed.
    """

    path: str
    size: int
    least: int
    seconds: float


def capacities(outcome: Outcome, phase: Phase, structure: Structure) -> Iterator[Capacity]:
    """Yield the groups whose members a phase changes, in the order of their paths.

    A member that is created, changed, replaced or removed is not in service meanwhile.
    """
    created = outcome.phase(CREATE)
    if created is None:
        return
    groups = sorted(path for path, node, _ in structure.walk() if node.inside is not None and not node.inside.own)
    for group in groups:
        had = {step.path for step in created.steps if _is_member(group, step.path)}
        steps = [step for step in phase.steps if _is_member(group, step.path)]
        if steps:
            yield _capacity(group, had, steps, phase.seconds)


def _is_member(group: str, path: str) -> bool:
    return path.startswith(f"{group}.") and "." not in path[len(group) + 1 :]


def _capacity(group: str, had: set[str], steps: Sequence[Step], end: float) -> Capacity:
    last = {step.path: step for step in sorted(steps, key=lambda step: step.ended)}
    has = (had | set(last)) - {
        path for path, step in last.items() if step.action == "DELETE" and _is_removed(path, steps)
    }
    needed = min(len(had), len(has))
    times = sorted({0.0, end, *(step.began for step in steps), *(step.ended for step in steps)})
    seconds, least = 0.0, len(had)
    for begin, until in pairwise(times):
        serving = sum(_serves(path, path in had, path in has, steps, begin) for path in had | has)
        least = min(least, serving)
        seconds += until - begin if serving < needed else 0.0
    return Capacity(group, needed, min(least, needed), round(seconds, 1))


def _is_removed(path: str, steps: Sequence[Step]) -> bool:
    """Return whether a member is removed, and not replaced."""
    return all(step.action == "DELETE" for step in steps if step.path == path)


def _serves(path: str, before: bool, after: bool, steps: Sequence[Step], time: float) -> bool:
    """Return whether a member is in service from a time on, until something else begins or ends."""
    own = [step for step in steps if step.path == path]
    if any(step.began <= time < step.ended for step in own):
        return False
    if not any(step.began <= time for step in own):
        return before
    return after or any(step.began > time for step in own)
