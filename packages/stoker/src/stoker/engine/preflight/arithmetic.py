"""The arithmetic of quotas: what a plan needs of one at least, whatever the order of its steps, and at most.

A stack makes everything before it removes anything. At the end of that, all its new objects exist together with those
that they replace; only what a step deletes first, or makes smaller, is gone. A nested stack removes its own old objects
at the end of its own operation, so what it needs is over before the operation of the stack around it ends; and the
members of a group may be replaced a few at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stoker.engine.planning.kinds import Kind
from stoker.engine.preflight.objects import Item, StackNode
from stoker.plugins.preflight import Planned

Amounts = Mapping[Planned, int]
"""How much of a quota each resource takes."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a plan needs of a quota in addition to what is in use: `least` in any case, `most` in the worst order."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class _Sum:
    """Of one stack: the change when all is made (`made`), when all is done (`after`), the most in the worst order, what
    may become free on the way (`freed`), and the largest certain need of a stack in it with what is freed there.
    """

    made: int = 0
    after: int = 0
    most: int = 0
    freed: int = 0
    inner: tuple[tuple[int, int], ...] = ()


def need_of(root: StackNode, amounts: Amounts) -> Need:
    """Return what a plan needs of a quota of which its resources take these amounts."""
    whole = _sum(root, amounts)
    freed_before_removals = whole.freed - sum(_removed(item, amounts) for item in root.items)
    least = max([whole.made, *(made - (freed_before_removals - freed) for made, freed in whole.inner)])
    return Need(least, whole.most)


def _sum(node: StackNode, amounts: Amounts) -> _Sum:
    if node.removed:
        gone = sum(_former(item, amounts) for item in node.all_items())
        return _Sum(after=-gone, freed=gone)
    made = most = freed = removed = 0
    for item in node.items:
        new, old = _new(item, amounts), _former(item, amounts)
        match item.step.kind:
            case _ if item.uncertain:  # what is in use may contain it
                most += new
            case Kind.DELETE if item.goes_first:
                made, freed = made - old, freed + old
            case Kind.REPLACE if not item.step.deletes_first:
                made, most = made + new, most + new
            case Kind.CREATE | Kind.REPLACE | Kind.UPDATE:
                made, most, freed = made + new - old, most + max(new - old, 0), freed + max(old - new, 0)
        removed += _removed(item, amounts)
    below = [(_sum(child, amounts), child) for child in node.children]
    inner = []
    for child_sum, child in below:
        made += 0 if child.removed else child_sum.after
        most += child_sum.most
        freed += child_sum.freed
        if not (child.removed or child.in_batches):
            inner += [(child_sum.made, child_sum.freed), *child_sum.inner]
    gone = sum(child_sum.after for child_sum, child in below if child.removed)
    return _Sum(made, made - removed + gone, most, freed + removed, tuple(inner))


def _new(item: Item, amounts: Amounts) -> int:
    return amounts.get(item.planned, 0) if item.planned is not None else 0


def _former(item: Item, amounts: Amounts) -> int:
    return amounts.get(item.former, 0) if item.former is not None else 0


def _removed(item: Item, amounts: Amounts) -> int:
    """Return what a removal frees, which comes after everything has been made."""
    return _former(item, amounts) if item.step.kind is Kind.DELETE and not item.goes_first else 0
