"""The steps that decide how long an operation takes."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.testing.rehearsal.scenario import Step
from stoker.testing.rehearsal.structure import Structure

_SAME = 0.05


def critical_path(steps: Sequence[Step], structure: Structure) -> list[Step]:
    """Return the steps of a creation of which each waits for the one before it, up to the one that ends last."""
    leaves = {step.path: step for step in steps if not any(other.path.startswith(f"{step.path}.") for other in steps)}
    step = max(leaves.values(), key=lambda leaf: leaf.ended, default=None)
    critical: list[Step] = []
    while step is not None:
        critical.append(step)
        before = [earlier for earlier in _before(step.path, leaves, structure) if earlier.ended <= step.began + _SAME]
        step = max(before, key=lambda earlier: earlier.ended, default=None)
    return critical[::-1]


def _before(path: str, leaves: dict[str, Step], structure: Structure) -> list[Step]:
    """Return the steps on whose end a step has waited: those that its resource requires, or what contains it does."""
    parts = path.split(".")
    chain = structure.chain(path)
    for depth in range(len(chain), 0, -1):
        required = chain[depth - 1][1].requires
        above = parts[: depth - 1]
        names = [".".join([*above, name]) for name in required]
        preceding = [
            step for leaf, step in leaves.items() if any(leaf == name or leaf.startswith(f"{name}.") for name in names)
        ]
        if preceding:
            return preceding
    return []
