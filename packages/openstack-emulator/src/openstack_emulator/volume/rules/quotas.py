"""How much block storage a project may use."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.limits import Limits, over_limit
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Backup, Group, Snapshot, Volume, VolumeType

DEFAULT_LIMITS = {
    "volumes": 10,
    "gigabytes": 1000,
    "snapshots": 10,
    "per_volume_gigabytes": -1,
    "backups": 10,
    "backup_gigabytes": 1000,
    "groups": 10,
}
PER_TYPE = ("volumes", "gigabytes", "snapshots")


class Quotas(Limits):
    """The limits of Cinder, and how much of each a project uses.

    The arguments are the tables whose records are counted.
    """

    def __init__(
        self,
        records: Records,
        types: Table[VolumeType],
        volumes: Table[Volume],
        snapshots: Table[Snapshot],
        backups: Table[Backup],
        groups: Table[Group],
    ) -> None:
        super().__init__(records)
        self._types = types
        self._volumes = volumes
        self._snapshots = snapshots
        self._backups = backups
        self._groups = groups

    def names(self) -> list[str]:
        """The names of all limits: the fixed ones, and those per volume type."""
        per_type = [f"{name}_{kind.name}" for kind in self._types for name in PER_TYPE]
        return [*DEFAULT_LIMITS, *per_type]

    def initial(self) -> Mapping[str, int]:
        return {name: DEFAULT_LIMITS.get(name, -1) for name in self.names()}

    def used_by(self, project_id: str) -> dict[str, int]:
        """What a project uses of each limit."""
        volumes = self._volumes.select(project_id=project_id)
        snapshots = self._snapshots.select(project_id=project_id)
        backups = self._backups.select(project_id=project_id)
        used = dict.fromkeys(self.names(), 0) | {
            "groups": len(self._groups.select(project_id=project_id)),
            "backups": len(backups),
            "backup_gigabytes": sum(row.size for row in backups),
        }
        for label, members in (("volumes", volumes), ("snapshots", snapshots)):
            for row in members:
                kind = self._types.get(row.volume_type_id)
                suffixes = ["", f"_{kind.name}"] if kind is not None else [""]
                for suffix in suffixes:
                    used[label + suffix] += 1
                    used["gigabytes" + suffix] += row.size
        return used

    def check(self, project_id: str, requested: Mapping[str, int]) -> None:
        """Refuse what goes beyond a limit.

        requested: quota name → how much more of it.

        Raises: ApiError 413.
        """
        used = self.used_by(project_id)
        for name, limit in self.exceeded(project_id, requested, used).items():
            raise over_limit(_exceeded(name, requested[name], limit, used[name]))

    def check_new_volume(self, project_id: str, size: int, kind: VolumeType) -> None:
        """Refuse a volume of `size` GiB of a type that the project may not have."""
        largest = self.limits_of(project_id)["per_volume_gigabytes"]
        if 0 <= largest < size:
            raise over_limit(
                f"VolumeSizeExceedsLimit: Requested volume size {size}G is larger than "
                f"maximum allowed limit {largest}G."
            )
        name = kind.name
        self.check(project_id, {"gigabytes": size, f"gigabytes_{name}": size, "volumes": 1, f"volumes_{name}": 1})


def _exceeded(name: str, amount: int, limit: int, used: int) -> str:
    if "backup_gigabytes" in name:
        return (
            f"BackupSizeExceedsAvailableQuota: Requested backup exceeds allowed Backup gigabytes quota. "
            f"Requested {amount}G, quota is {limit}G and {used}G has been consumed."
        )
    if "gigabytes" in name:
        return (
            f"VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed {name} quota. "
            f"Requested {amount}G, quota is {limit}G and {used}G has been consumed."
        )
    tail = "" if name == "backups" else f" for quota '{name}'."
    kind = {"v": "Volume", "s": "Snapshot", "b": "Backup", "g": "Group"}[name[0]]
    return f"{kind}LimitExceeded: Maximum number of {name.split('_')[0]} allowed ({limit}) exceeded{tail}"
