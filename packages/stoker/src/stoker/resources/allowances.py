"""Helpers to declare quotas: reading them from a service, and amounts from properties."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.plugins.preflight import Allowance, Amount, Facts, Planned
from stoker.schema.unknown import is_unknown


def used_and_reserved(row: Mapping[str, Any], used: str) -> Allowance:
    """Return the quota in a row with `limit`, `reserved` and the key `used`."""
    return Allowance(int(row["limit"]), int(row.get(used) or 0) + int(row.get("reserved") or 0))


def counted(
    service: str, path: str, limits: str, lists: Mapping[str, tuple[str, str]], owner: str = ""
) -> Callable[[str], Callable[[Facts], Awaitable[Mapping[str, Allowance]]]]:
    """Return readers for a service that tells limits only: what is used is counted in lists of the project.

    `path` is that of the limits, with `{project}` in it, `limits` the key around them in the body, "" for none. `lists`
    are the path and the key of the list to count, by the name of the quota; `owner` is the parameter that selects the
    project's own objects, "" where a list has no others. The reader for a quota reads its list only.
    """

    def reader(name: str) -> Callable[[Facts], Awaitable[Mapping[str, Allowance]]]:
        async def read(facts: Facts) -> Mapping[str, Allowance]:
            body = await facts.get(service, path.format(project=facts.project_id or ""))
            limit = int((body[limits] if limits else body).get(name, -1))
            if limit < 0:
                return {name: Allowance(-1)}
            listed, key = lists[name]
            own = {owner: facts.project_id} if owner else None
            return {name: Allowance(limit, len(await facts.list(service, listed, key, own)))}

        return read

    return reader


def size(name: str) -> Amount:
    """Return the amount that a property says; nothing is known if it is not given."""

    async def amount(planned: Planned, facts: Facts) -> int | None:
        value = planned.known(name)
        return None if value is None else int(value)

    return amount


def own_project(amount: Amount, *owners: str) -> Amount:
    """Return an amount that is 0 for objects of another project, which the properties `owners` can name."""

    async def of_project(planned: Planned, facts: Facts) -> int | None:
        named = [planned.properties.get(owner) for owner in owners]
        given = [value for value in named if value is not None]
        if any(is_unknown(value) for value in given):
            return None
        return await amount(planned, facts) if all(value == facts.project_id for value in given) else 0

    return of_project
