"""Snapshots of shares."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.share.records import Share, Snapshot
from openstack_emulator.share.rules.constants import LONG, SHORT
from openstack_emulator.share.rules.inputs import NewSnapshot
from openstack_emulator.share.rules.shares import Shares

STATUSES = ("available", "error", "creating", "deleting", "error_deleting")
DELETABLE = frozenset({"available", "error", "error_deleting"})


class ShareSnapshots(Rules):
    """Snapshots from their creation to their deletion.

    rows: the table of snapshots.
    """

    def __init__(self, records: Records, rows: Table[Snapshot], shares: Shares) -> None:
        super().__init__(records)
        self.rows = rows
        self.shares = shares
        records.deferrable(self.finish_snapshot, self.finish_snapshot_deletion)

    def create(self, context: Context, share: Share, new_snapshot: NewSnapshot) -> Snapshot:
        """Begin a snapshot; 422 of a share that cannot have one, 400 in another status, 413 beyond a quota."""
        if not share.abilities.snapshot_support:
            raise ApiError(
                422, f"Snapshots for share '{share.id}' cannot be created since it does not have such capability."
            )
        self.shares.require_status(share, "available")
        self.shares.quotas.check(share.project_id, {"snapshot_gigabytes": share.size, "snapshots": 1})
        snapshot = self.rows.add(
            Snapshot(
                id=new_id(),
                share_id=share.id,
                name=new_snapshot.name,
                description=new_snapshot.description,
                status="creating",
                size=share.size,
                share_size=share.size,
                share_proto=share.share_proto,
                project_id=share.project_id,
                user_id=context.user_id,
                metadata=new_snapshot.metadata,
                created_at=self.moment(),
                updated_at=None,
            )
        )
        self.after(LONG, self.finish_snapshot, snapshot.id)
        return snapshot

    def finish_snapshot(self, snapshot_id: str) -> None:
        snapshot = self.rows.get(snapshot_id)
        if snapshot is not None and snapshot.status == "creating":
            self.set_status(snapshot, "error" if snapshot.take_fault() is not None else "available")

    def set_status(self, snapshot: Snapshot, status: str) -> None:
        snapshot.status = status
        self.save(snapshot)

    def save(self, snapshot: Snapshot) -> None:
        """Note that a snapshot was changed now."""
        snapshot.updated_at = self.moment()
        self.rows.save(snapshot)

    def delete(self, snapshot: Snapshot, force: bool = False) -> None:
        """Begin to delete a snapshot; 403 in another status unless `force`."""
        if snapshot.status not in DELETABLE and not force:
            raise forbidden(
                f"Invalid share snapshot: Share Snapshot status must be one of {', '.join(sorted(DELETABLE))}."
            )
        self.set_status(snapshot, "deleting")
        self.after(SHORT, self.finish_snapshot_deletion, snapshot.id)

    def finish_snapshot_deletion(self, snapshot_id: str) -> None:
        snapshot = self.rows.get(snapshot_id)
        if snapshot is None or snapshot.status != "deleting":
            return
        if snapshot.take_fault() is not None:
            self.set_status(snapshot, "error_deleting")
        else:
            self.rows.remove(snapshot)
