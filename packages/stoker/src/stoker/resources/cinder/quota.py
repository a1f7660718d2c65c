"""OS::Cinder::Quota"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from stoker.base.errors import BadValue
from stoker.plugins.resource import Call
from stoker.resources.quota import PROJECT, ProjectQuota, limit
from stoker.schema.property import Support

_LATER = Support(version="16.0.0")
_UNLIMITED = -1


class Quota(ProjectQuota):
    """The block storage quotas of a project."""

    type_name = "OS::Cinder::Quota"
    description = "Block storage quotas of a project. By default only administrators may set them."
    service = "cinder"
    extension = "os-quota-sets"
    for_administrators = True
    path = "/os-quota-sets"
    member = "quota_set"
    support = Support(version="7.0.0")

    properties = {
        "project": PROJECT,
        "gigabytes": limit("GiB of volumes and snapshots"),
        "volumes": limit("volumes"),
        "snapshots": limit("snapshots"),
        "backups": limit("backups", _LATER),
        "backup_gigabytes": limit("GiB of backups", _LATER),
    }

    async def set_quotas(self, call: Call, quotas: Mapping[str, int]) -> None:
        """Set the quotas. Raises BadValue for one that is lower than what the project uses."""
        used = await _usage(call) if any(value != _UNLIMITED for value in quotas.values()) else {}
        exceeded = [name for name, value in quotas.items() if _UNLIMITED < value < used.get(name, 0)]
        if exceeded:
            listed = ", ".join(f"{name} {quotas[name]} (in use: {used[name]})" for name in sorted(exceeded))
            raise BadValue(f"a quota must not be lower than what the project uses: {listed}")
        await super().set_quotas(call, quotas)


async def _usage(call: Call) -> dict[str, int]:
    """Return what the project uses of each quota."""
    params = {"all_tenants": True, "project_id": call.properties["project"]}

    async def listed(key: str) -> list[Any]:
        return await call.cloud.list("cinder", f"/{key}/detail", key, params)

    volumes, snapshots, backups = await asyncio.gather(listed("volumes"), listed("snapshots"), listed("backups"))
    return {
        "volumes": len(volumes),
        "snapshots": len(snapshots),
        "backups": len(backups),
        "gigabytes": sum(item["size"] for item in (*volumes, *snapshots)),
        "backup_gigabytes": sum(item["size"] for item in backups),
    }
