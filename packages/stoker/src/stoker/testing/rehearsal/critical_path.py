"""The steps that decide how long an operation takes."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.testing.rehearsal.scenario import Step
from stoker.testing.rehearsal.structure import Structure

_SAME = 0.05


def critical_path(steps: Sequence[Step], structure: Structure) -> list[Step]:
    """Return the steps of a creation of which each waits for the one before it, up to the one that ends last."""
    leaves = {step.path: step for step in steps if not any(each.path.startswith(f"{step.path}.") for each in steps)}
    step = max(leaves.values(), key=lambda each: each.ended, default=None)
    found: list[Step] = []
    while step is not None:
        found.append(step)
        before = [each for each in _before(step.path, leaves, structure) if each.ended <= step.began + _SAME]
        step = max(before, key=lambda each: each.ended, default=None)
    return found[::-1]


def _before(path: str, leaves: dict[str, Step], structure: Structure) -> list[Step]:
    """Return the steps on whose end a step has waited: those that its resource requires, or what contains it does."""
    parts = path.split(".")
    chain = structure.chain(path)
    for depth in range(len(chain), 0, -1):
        required = chain[depth - 1][1].requires
        above = parts[: depth - 1]
        names = [".".join([*above, name]) for name in required]
        found = [
            step for each, step in leaves.items() if any(each == name or each.startswith(f"{name}.") for name in names)
        ]
        if found:
            return found
    return []
