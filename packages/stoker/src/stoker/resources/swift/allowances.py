"""What objects take of the quotas of a Swift account. Containers take nothing: these quotas limit what is in them."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.preflight import Allowance, Consumption, Facts, Planned, Quota

_LIMITS = {
    "count": (("x-account-quota-count",), "x-account-object-count"),
    "bytes": (("x-account-quota-bytes", "x-account-meta-quota-bytes"), "x-account-bytes-used"),
}
"""The headers of an account with its limits, and with what it uses."""


async def _account(facts: Facts) -> Mapping[str, Allowance]:
    headers = await facts.headers("swift", "")
    found = {}
    for name, (limits, used) in _LIMITS.items():
        given = [int(headers[limit]) for limit in limits if headers.get(limit, "").isdigit()]
        found[name] = Allowance(min(given, default=-1), int(headers.get(used, 0)))
    return found


_OBJECTS = Quota("swift", "count", "objects of the account", _account)
_BYTES = Quota("swift", "bytes", "bytes of the account", _account)


def one_object(size: int) -> tuple[Consumption, ...]:
    """Return the consumption of an object with that many bytes."""

    async def amount(planned: Planned, facts: Facts) -> int | None:
        return size

    return Consumption(_OBJECTS), Consumption(_BYTES, amount)
