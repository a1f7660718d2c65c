"""Who needs whom: putting names in order, and finding circles."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def topological(requires: Mapping[str, Collection[str]]) -> tuple[list[str], list[str]]:
    """Names with requirements first, ties in the given order; and a circle that was met, empty when there is none.

    Requirements that are no keys are left out of account.
    """
    place = {name: number for number, name in enumerate(requires)}
    done: dict[str, None] = {}

    def pending_of(name: str) -> list[str]:
        waiting = (other for other in requires[name] if other in place and other not in done)
        return sorted(waiting, key=place.__getitem__, reverse=True)

    for start in requires:
        trail: dict[str, list[str]] = {}
        if start not in done:
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


def would_close_circle(requires: Mapping[str, Collection[str]], name: str, other: str) -> bool:
    """Whether `other` needs `name` already, directly or not, so that `name` must not need `other` as well."""
    pending, seen = [other], set()
    while pending:
        current = pending.pop()
        if current == name:
            return True
        if current not in seen:
            seen.add(current)
            pending.extend(requires.get(current, ()))
    return False
