"""Snapshots of shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.share.shares import Shares
from openstack_emulator.share.tables import LONG, SHORT

STATUSES = ("available", "error", "creating", "deleting", "error_deleting")
DELETABLE = frozenset({"available", "error", "error_deleting"})


class ShareSnapshots(Component):
    """Snapshots from their creation to their deletion.

    rows: the collection of snapshots.
    """

    def __init__(self, records: Records, rows: Collection, shares: Shares) -> None:
        super().__init__(records)
        self.rows = rows
        self.shares = shares
        records.deferrable(self.finish_snapshot, self.finish_snapshot_deletion)

    def create(self, context: Context, share: Record, wanted: Mapping[str, Any]) -> Record:
        """Begin a snapshot; 422 of a share that cannot have one, 400 in another status, 413 beyond a quota."""
        if not share["_abilities"]["snapshot_support"]:
            raise ApiError(
                422, f"Snapshots for share '{share['id']}' cannot be created since it does not have such capability."
            )
        self.shares.require_status(share, "available")
        self.shares.quotas.check(share["project_id"], {"snapshot_gigabytes": share["size"], "snapshots": 1})
        snapshot = self.rows.add(
            {
                "id": new_id(),
                "share_id": share["id"],
                "name": wanted.get("name") or wanted.get("display_name"),
                "description": wanted.get("description") or wanted.get("display_description"),
                "status": "creating",
                "size": share["size"],
                "share_size": share["size"],
                "share_proto": share["share_proto"],
                "project_id": share["project_id"],
                "user_id": context.user_id,
                "metadata": wanted.get("metadata") or {},
                "created_at": self.moment(),
                "updated_at": None,
            }
        )
        self.after(LONG, self.finish_snapshot, snapshot["id"])
        return snapshot

    def finish_snapshot(self, snapshot_id: str) -> None:
        snapshot = self.rows.get(snapshot_id)
        if snapshot is not None and snapshot["status"] == "creating":
            status = "error" if snapshot.pop("_fault", None) is not None else "available"
            self.rows.update(snapshot, status=status, updated_at=self.moment())

    def delete(self, snapshot: Record, force: bool = False) -> None:
        """Begin to delete a snapshot; 403 in another status unless `force`."""
        if snapshot["status"] not in DELETABLE and not force:
            raise forbidden(
                f"Invalid share snapshot: Share Snapshot status must be one of {', '.join(sorted(DELETABLE))}."
            )
        self.rows.update(snapshot, status="deleting", updated_at=self.moment())
        self.after(SHORT, self.finish_snapshot_deletion, snapshot["id"])

    def finish_snapshot_deletion(self, snapshot_id: str) -> None:
        snapshot = self.rows.get(snapshot_id)
        if snapshot is None or snapshot["status"] != "deleting":
            return
        if snapshot.pop("_fault", None) is not None:
            self.rows.update(snapshot, status="error_deleting", updated_at=self.moment())
        else:
            self.rows.remove(snapshot)
