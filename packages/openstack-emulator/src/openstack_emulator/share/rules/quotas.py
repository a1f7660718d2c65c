"""How much shared storage a project may use."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.http import Version
from openstack_emulator.core.limits import Limits, over_limit
from openstack_emulator.core.store import Table
from openstack_emulator.share.records import Share, ShareNetwork, Snapshot

DEFAULT_LIMITS = {
    "shares": 50,
    "gigabytes": 1000,
    "snapshots": 50,
    "snapshot_gigabytes": 1000,
    "share_networks": 10,
    "share_groups": 50,
    "share_group_snapshots": 50,
    "share_replicas": 100,
    "replica_gigabytes": 1000,
    "per_share_gigabytes": -1,
}
"""Those of share groups and replicas limit nothing, since the emulated service has neither."""
SINCE: Mapping[str, Version] = {
    "share_groups": (2, 40),
    "share_group_snapshots": (2, 40),
    "share_replicas": (2, 53),
    "replica_gigabytes": (2, 53),
    "per_share_gigabytes": (2, 62),
}
"""Limits that not every microversion shows."""
EXCEEDED = {
    "shares": "ShareLimitExceeded: Maximum number of shares allowed ({limit}) exceeded.",
    "gigabytes": "ShareSizeExceedsAvailableQuota: Requested share exceeds allowed project/user or share type gigabytes "
    "quota.",
    "snapshots": "SnapshotLimitExceeded: Maximum number of snapshots allowed ({limit}) exceeded.",
    "snapshot_gigabytes": "SnapshotSizeExceedsAvailableQuota: Requested snapshot exceeds allowed gigabytes quota.",
    "share_networks": "ShareNetworksLimitExceeded: Maximum number of share-networks allowed ({limit}) exceeded.",
}


class Quotas(Limits):
    """The limits of Manila, and how much of each a project uses.

    The arguments are the tables whose records are counted.
    """

    def __init__(
        self, records: Records, shares: Table[Share], snapshots: Table[Snapshot], networks: Table[ShareNetwork]
    ) -> None:
        super().__init__(records)
        self._shares = shares
        self._snapshots = snapshots
        self._networks = networks

    def initial(self) -> Mapping[str, int]:
        return DEFAULT_LIMITS

    def used_by(self, project_id: str) -> dict[str, int]:
        """What a project uses of each limit."""
        shares = self._shares.select(project_id=project_id)
        snapshots = self._snapshots.select(project_id=project_id)
        return {
            **dict.fromkeys(DEFAULT_LIMITS, 0),
            "shares": len(shares),
            "gigabytes": sum(row.size for row in shares),
            "snapshots": len(snapshots),
            "snapshot_gigabytes": sum(row.share_size for row in snapshots),
            "share_networks": len(self._networks.select(project_id=project_id)),
        }

    def check(self, project_id: str, requested: Mapping[str, int]) -> None:
        """Refuse what goes beyond a limit.

        requested: quota name → how much more of it.

        Raises: ApiError 413.
        """
        for name, limit in self.exceeded(project_id, requested, self.used_by(project_id)).items():
            raise over_limit(EXCEEDED[name].format(limit=limit))

    def check_size(self, project_id: str, size: int) -> None:
        """Refuse a share of more GiB than one may have. Raises ApiError 413."""
        largest = self.limits_of(project_id)["per_share_gigabytes"]
        if 0 <= largest < size:
            raise over_limit(
                f"ShareSizeExceedsLimit: Requested share size {size} is larger than maximum allowed limit {largest}."
            )
