"""How many containers, and how much for them, a project may have."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.container.records import Container
from openstack_emulator.container.rules.errors import QUOTA
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.limits import Limits
from openstack_emulator.core.store import Table

DEFAULTS: Mapping[str, int] = {"containers": 40, "cpu": 20, "memory": 51200, "disk": 100}


class Quotas(Limits):
    """The limits of projects; -1 means unlimited. Memory is in mebibytes, disks are in gibibytes."""

    def __init__(self, records: Records, containers: Table[Container]) -> None:
        super().__init__(records)
        self._containers = containers

    def initial(self) -> Mapping[str, int]:
        return DEFAULTS

    def used(self, project_id: str) -> dict[str, float]:
        """Return what the containers of a project have."""
        rows = self._containers.select(project_id=project_id)
        sums = {name: sum(float(row.get(name) or 0) for row in rows) for name in ("cpu", "memory", "disk")}
        return {"containers": len(rows), **sums}

    def admit(self, project_id: str, requested: Mapping[str, float]) -> None:
        """Raise ApiError 403 if a project would have more than it may."""
        if over := self.exceeded(project_id, requested, self.used(project_id)):
            raise forbidden(f"Quota exceeded for resources: {list(over)}", QUOTA)
