"""Snapshots of volumes."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Snapshot, Volume
from openstack_emulator.volume.rules.constants import COPY, LONG, SHORT
from openstack_emulator.volume.rules.inputs import NewSnapshot
from openstack_emulator.volume.rules.volumes import Volumes

SNAPSHOT_STATUSES = ("available", "error", "creating", "deleting", "error_deleting", "backing-up")


class Snapshots(Rules):
    """Snapshots from their creation to their deletion.

    rows: the table of snapshots, which other rules read too.
    """

    def __init__(self, records: Records, rows: Table[Snapshot], volumes: Volumes) -> None:
        super().__init__(records)
        self.rows = rows
        self.volumes = volumes
        records.deferrable(self.finish_snapshot, self.finish_delete_snapshot, self.finish_revert)

    def create(self, context: Context, volume: Volume, new_snapshot: NewSnapshot, force: bool) -> Snapshot:
        """Begin a snapshot; `force` allows it of a volume in use. 400 in another status, 413 beyond a quota."""
        allowed = ("available", "in-use") if force else ("available",)
        if volume.status not in allowed:
            raise bad_request(
                f"Invalid volume: Volume {volume.id} status must be {' or '.join(allowed)}, "
                f"but current status is: {volume.status}."
            )
        kind = self.volumes.types.rows.require(volume.volume_type_id).name
        size = volume.size
        self.volumes.quotas.check(
            context.project,
            {"gigabytes": size, f"gigabytes_{kind}": size, "snapshots": 1, f"snapshots_{kind}": 1},
        )
        snapshot = self.rows.add(self.blank(context, volume, new_snapshot))
        self.after(LONG, self.finish_snapshot, snapshot.id)
        return snapshot

    def blank(self, context: Context, volume: Volume, new_snapshot: NewSnapshot) -> Snapshot:
        """A new snapshot, which has not been added to the table yet."""
        return Snapshot(
            id=new_id(),
            name=new_snapshot.name,
            description=new_snapshot.description,
            status="creating",
            progress="0%",
            size=volume.size,
            volume_id=volume.id,
            volume_type_id=volume.volume_type_id,
            project_id=volume.project_id,
            user_id=context.user_id,
            metadata=dict(new_snapshot.metadata or {}),
            group_snapshot_id=new_snapshot.group_snapshot_id,
            created_at=self.moment(),
            updated_at=None,
            previous=None,
        )

    def finish_snapshot(self, snapshot_id: str) -> None:
        snapshot = self.rows.get(snapshot_id)
        if snapshot is not None and snapshot.status == "creating":
            copied = self.cloud.guests.copy(f"volume-{snapshot.volume_id}", f"snapshot-{snapshot_id}")
            if copied is None:
                self.after(COPY, self.finish_snapshot, snapshot_id)
                return
            has_fault = snapshot.take_fault() is not None or not copied
            snapshot.status, snapshot.updated_at = "error" if has_fault else "available", self.moment()
            if not has_fault:
                snapshot.progress = "100%"
            self.rows.save(snapshot)

    def set_status(self, snapshot: Snapshot, status: str) -> None:
        snapshot.status = status
        self.rows.save(snapshot)

    def delete(self, snapshot: Snapshot, force: bool = False) -> None:
        """Begin to delete a snapshot; 400 unless it is available or in error, or when `force`."""
        if snapshot.status not in ("available", "error", "error_deleting") and not force:
            raise bad_request(
                "Invalid snapshot: Snapshot status must be available or error, "
                f"but current status is: {snapshot.status}."
            )
        if snapshot.group_snapshot_id:
            raise bad_request(
                f"Invalid snapshot: Snapshot {snapshot.id} belongs to group snapshot "
                f"{snapshot.group_snapshot_id} and is deleted with it."
            )
        snapshot.status, snapshot.updated_at = "deleting", self.moment()
        self.rows.save(snapshot)
        self.after(SHORT, self.finish_delete_snapshot, snapshot.id)

    def finish_delete_snapshot(self, snapshot_id: str) -> None:
        snapshot = self.rows.get(snapshot_id)
        if snapshot is None or snapshot.status != "deleting":
            return
        if snapshot.take_fault() is not None:
            snapshot.status, snapshot.updated_at = "error_deleting", self.moment()
            self.rows.save(snapshot)
        else:
            self.rows.remove(snapshot)
            self.cloud.guests.delete_content(f"snapshot-{snapshot_id}")

    def revert_volume(self, volume: Volume, snapshot_id: str) -> None:
        """Revert a volume to its latest snapshot; 400 for another snapshot or a volume that is not available."""
        own = self.rows.select(volume_id=volume.id)
        if not own or own[-1].id != snapshot_id:
            raise bad_request(f"Specified snapshot {snapshot_id} is None or not the latest one of volume {volume.id}.")
        if volume.status != "available" or own[-1].status != "available":
            raise bad_request(
                f"Invalid volume: Can't revert volume {volume.id} to its latest snapshot {snapshot_id}. "
                "Volume and snapshot must be available."
            )
        volume.status, volume.size, volume.updated_at = "reverting", own[-1].size, self.moment()
        self.volumes.rows.save(volume)
        self.after(LONG, self.finish_revert, volume.id)

    def finish_revert(self, volume_id: str) -> None:
        copied: bool | None = True
        if own := self.rows.select(volume_id=volume_id):
            copied = self.cloud.guests.copy(f"snapshot-{own[-1].id}", f"volume-{volume_id}")
            if copied is None:
                self.after(COPY, self.finish_revert, volume_id)
                return
        self.volumes.settle(volume_id, ("reverting",), "available" if copied else "error", "error")
