"""What shares and share networks take of Manila's quotas."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.preflight import Allowance, Consumption, Facts, Quota, size

_USED = {
    "shares": ("maxTotalShares", "totalSharesUsed"),
    "gigabytes": ("maxTotalShareGigabytes", "totalShareGigabytesUsed"),
    "share_networks": ("maxTotalShareNetworks", "totalShareNetworksUsed"),
}


async def _totals(facts: Facts) -> Mapping[str, Allowance]:
    absolute = (await facts.get("manila", "/limits"))["limits"]["absolute"]
    return {
        name: Allowance(int(absolute[limit]), int(absolute[used]))
        for name, (limit, used) in _USED.items()
        if limit in absolute and used in absolute
    }


SHARE = (
    Consumption(Quota("manila", "shares", "shares", _totals)),
    Consumption(Quota("manila", "gigabytes", "GiB of shares", _totals), size("size"), "size"),
)
SHARE_NETWORK = (Consumption(Quota("manila", "share_networks", "share networks", _totals)),)
