"""What clusters take of Magnum's quota."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.preflight import Allowance, Consumption, Facts, Quota


async def _clusters(facts: Facts) -> Mapping[str, Allowance]:
    limit = int((await facts.get("magnum", f"/quotas/{facts.project_id}/Cluster"))["hard_limit"])
    if limit < 0:
        return {"Cluster": Allowance(-1)}
    return {"Cluster": Allowance(limit, len(await facts.list("magnum", "/clusters", "clusters")))}


CLUSTER = (Consumption(Quota("magnum", "Cluster", "clusters", _clusters)),)
