"""Changes that a service never makes, found in the plan."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from stoker.plugins.preflight import Code, Conflict, Facts, Planned, Problem


def never_smaller(name: str, noun: str) -> Conflict:
    """Return the check that a property, a size in GiB, does not get smaller."""

    async def smaller(changed: Sequence[Planned], facts: Facts) -> AsyncIterator[Problem]:
        for each in changed:
            before, after = each.former.known(name) if each.former is not None else None, each.known(name)
            if isinstance(before, int) and isinstance(after, int) and after < before:
                message = f"the size of {noun} cannot be decreased from {before} to {after} GiB"
                yield Problem(each, (name,), message, f"keep {before}, or make another one")

    return Conflict(Code.REFUSED_CHANGE, smaller, of_changes=True)


VOLUME_SIZE = never_smaller("size", "a volume")
