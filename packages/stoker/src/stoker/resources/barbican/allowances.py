"""What secrets, containers and orders take of Barbican's quotas. What an order makes is not counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from stoker.plugins.preflight import Allowance, Consumption, Facts, Quota


def _reader(kind: str) -> Callable[[Facts], Awaitable[Mapping[str, Allowance]]]:
    async def read(facts: Facts) -> Mapping[str, Allowance]:
        limit = int((await facts.get("barbican", "/quotas"))["quotas"].get(kind, -1))
        if limit < 0:
            return {kind: Allowance(-1)}
        return {kind: Allowance(limit, int((await facts.get("barbican", f"/{kind}?limit=1"))["total"]))}

    return read


def _counts(kind: str) -> tuple[Consumption, ...]:
    return (Consumption(Quota("barbican", kind, f"{kind} of the key manager", _reader(kind))),)


SECRET = _counts("secrets")
CONTAINER = _counts("containers")
ORDER = _counts("orders")
