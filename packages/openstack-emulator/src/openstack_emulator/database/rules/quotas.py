"""How many instances and backups, how much memory and storage a project may have; -1 means unlimited."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.limits import Limits
from openstack_emulator.core.store import Table
from openstack_emulator.database.records import Backup, Instance

INITIAL = {"instances": 10, "ram": -1, "volumes": 40, "backups": 50}
"""`ram` is in MiB, `volumes` in GiB."""


class Quotas(Limits):
    """The limits of projects; the arguments are the tables whose records are counted."""

    def __init__(self, records: Records, instances: Table[Instance], backups: Table[Backup]) -> None:
        super().__init__(records)
        self._instances, self._backups = instances, backups

    def initial(self) -> Mapping[str, int]:
        return INITIAL

    def used_by(self, project_id: str) -> dict[str, int]:
        """What a project uses of each limit."""
        instances = self._instances.select(project_id=project_id)
        return {
            "instances": len(instances),
            "ram": sum(row.ram for row in instances),
            "volumes": sum(row.volume_size for row in instances),
            "backups": len(self._backups.select(project_id=project_id)),
        }

    def admit(self, project_id: str, **requested: int) -> None:
        """Raise ApiError 413 when a project that uses more of these would exceed a limit."""
        if over := self.exceeded(project_id, requested, self.used_by(project_id)):
            raise ApiError(413, f"Quota exceeded for resources: {list(over)}.")
