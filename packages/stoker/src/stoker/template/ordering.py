"""The order of a template's resources: requirements first; and the cycles in it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from stoker.template.document import Document
from stoker.template.problems import Problems

Node = TypeVar("Node", bound=Hashable)

Requirements: TypeAlias = Mapping[str, Collection[str]]
"""The names that each name requires."""


def topological(requires: Requirements) -> tuple[list[str], list[str]]:
    """Return the names in topological order, requirements first, otherwise in the given order; and a cycle, or [].

    Requirements that are not keys are ignored. If there is a cycle, the order is incomplete.
    """
    place = {name: number for number, name in enumerate(requires)}
    done: dict[str, None] = {}

    def pending_of(name: str) -> list[str]:
        waiting = (other for other in requires[name] if other in place and other not in done)
        return sorted(waiting, key=place.__getitem__, reverse=True)

    for start, others in requires.items():
        trail: dict[str, list[str]] = {}
        if not others:
            done[start] = None
        elif start not in done:
            trail[start] = pending_of(start)
        while trail:
            name, pending = next(reversed(trail.items()))
            if not pending:
                done[name] = None
                del trail[name]
                continue
            following = pending.pop()
            if following in trail:
                names = list(trail)
                return list(done), names[names.index(following) :]
            if following not in done:
                trail[following] = pending_of(following)
    return list(done), []


def would_close_cycle(requires: Mapping[Node, Collection[Node]], name: Node, other: Node) -> bool:
    """Return whether `other` depends on `name`, directly or not, so that `name` must not depend on `other` as well."""
    return name in reached(requires, [other])


def reached(requires: Mapping[Node, Collection[Node]], starts: Iterable[Node]) -> Iterator[Node]:
    """Yield these nodes and what they depend on, directly or not, each once."""
    pending, seen = list(starts), set[Node]()
    while pending:
        current = pending.pop()
        if current not in seen:
            yield current
            seen.add(current)
            pending.extend(requires.get(current, ()))


def circular(requires: Requirements) -> list[frozenset[str]]:
    """Return the largest groups of names that all require each other, directly or not; or a name that requires itself.

    These are the strongly connected components that contain a cycle (Tarjan's algorithm).
    """
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: dict[str, None] = {}
    found = []
    for start in requires:
        trail = [] if start in numbers else [(start, iter(requires[start]))]
        while trail:
            name, pending = trail[-1]
            if name not in numbers:
                numbers[name] = lowest[name] = len(numbers)
                open_names[name] = None
            following = next((other for other in pending if other in requires), None)
            if following is None:
                trail.pop()
                if trail:
                    lowest[trail[-1][0]] = min(lowest[trail[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    group = _taken(open_names, name)
                    if len(group) > 1 or name in requires[name]:
                        found.append(group)
            elif following not in numbers:
                trail.append((following, iter(requires[following])))
            elif following in open_names:
                lowest[name] = min(lowest[name], numbers[following])
    return found


def _taken(open_names: dict[str, None], last: str) -> frozenset[str]:
    """Remove and return the names from the end back to `last`."""
    group = set()
    while last not in group:
        group.add(open_names.popitem()[0])
    return frozenset(group)


def refuse_cycle(cycle: Sequence[str], document: Document, section: str) -> None:
    """Raise TemplateInvalid (CircularDependencyException) for a cycle in a section of a document; none is empty."""
    if cycle:
        problems = Problems(document)
        problems.add(
            "circular-dependency",
            f"circular dependency: {' → '.join([*cycle, cycle[0]])}",
            (section, cycle[0]),
            kind="CircularDependencyException",
        )
        problems.raise_if_any()
