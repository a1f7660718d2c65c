"""Volumes and snapshots on the back end that Cinder stops managing, or begins to manage, by their names there."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.volume.snapshots import Snapshots
from openstack_emulator.volume.tables import BACKEND_HOST, LONG, POOL, SHORT, ZONE
from openstack_emulator.volume.views import VolumeViews

SNAPSHOT_STATUSES = ("available", "error", "error_deleting")


def volume_reference(volume_id: str) -> str:
    """The name of a volume on the back end."""
    return f"volume-{volume_id}"


def snapshot_reference(snapshot_id: str) -> str:
    """The name of a snapshot on the back end."""
    return f"_snapshot-{snapshot_id}"


class BackendObjects(Component):
    """Objects on the back end that Cinder does not manage: `{id: the name there, size, source}`; `source` is the name
    of the volume of a snapshot, None for a volume.

    attachments: the collection of attachments: an attached volume cannot be unmanaged. views: how a new
    volume is answered.
    """

    def __init__(self, records: Records, snapshots: Snapshots, attachments: Collection, views: VolumeViews) -> None:
        super().__init__(records)
        self.rows = records.table("unmanaged")
        self.volumes = snapshots.volumes
        self._snapshots = snapshots
        self.views = views
        self._attachments = attachments
        records.deferrable(
            self.finish_unmanage_volume,
            self.finish_unmanage_snapshot,
            self.finish_manage_volume,
            self.finish_manage_snapshot,
        )

    def unmanage_volume(self, volume: Record) -> None:
        """Stop managing a volume, which stays on the back end; 400 unless it is available and nothing depends on it."""
        used = self._attachments.first(volume_id=volume["id"]) or self._snapshots.rows.first(volume_id=volume["id"])
        if volume["status"] not in ("available", "error") or used or volume["group_id"] or volume["encrypted"]:
            raise bad_request(
                f"Invalid volume: Volume {volume['id']} cannot be unmanaged: its status must be available or error, "
                f"but it is {volume['status']}, and it must not be attached, encrypted, in a group or have snapshots."
            )
        self.volumes.rows.update(volume, status="unmanaging", updated_at=self.moment())
        self.after(SHORT, self.finish_unmanage_volume, volume["id"])

    def finish_unmanage_volume(self, volume_id: str) -> None:
        volume = self.volumes.rows.get(volume_id)
        if volume is not None and volume["status"] == "unmanaging":
            self.rows.add({"id": volume_reference(volume_id), "size": volume["size"], "source": None})
            self.volumes.rows.remove(volume)

    def unmanage_snapshot(self, snapshot: Record) -> None:
        """Stop managing a snapshot, which stays on the back end; 400 while it is in use."""
        if snapshot["status"] not in SNAPSHOT_STATUSES or snapshot["group_snapshot_id"]:
            raise bad_request(
                "Invalid snapshot: Snapshot status must be available or error and it must not belong to a group "
                f"snapshot to be unmanaged, but current status is: {snapshot['status']}."
            )
        self._snapshots.rows.update(snapshot, status="unmanaging", updated_at=self.moment())
        self.after(SHORT, self.finish_unmanage_snapshot, snapshot["id"])

    def finish_unmanage_snapshot(self, snapshot_id: str) -> None:
        snapshot = self._snapshots.rows.get(snapshot_id)
        if snapshot is not None and snapshot["status"] == "unmanaging":
            source = volume_reference(snapshot["volume_id"])
            self.rows.add({"id": snapshot_reference(snapshot_id), "size": snapshot["size"], "source": source})
            self._snapshots.rows.remove(snapshot)

    def manage_volume(self, context: Context, wanted: Record) -> Record:
        """Begin to manage a volume of the back end; it ends in `error_managing` when there is none of that name.

        wanted: host, ref (`{"source-name": …}`), name, description, volume_type, availability_zone, metadata, bootable.

        Raises: ApiError 400 for an unknown host, reference or zone, 404 for an unknown type.
        """
        if wanted["host"] not in (POOL, BACKEND_HOST):
            raise bad_request(f"Host '{wanted['host']}' not found.")
        if wanted.get("availability_zone", ZONE) not in (ZONE, None):
            raise bad_request(f"Invalid input received: Availability zone '{wanted['availability_zone']}' is invalid.")
        asked = wanted.get("volume_type")
        kind = self.volumes.types.default() if asked is None else self.volumes.types.find(context, asked)
        self.volumes.quotas.check(context.project, {"volumes": 1, f"volumes_{kind['name']}": 1})
        volume = self.volumes.rows.add({**self.volumes.blank(context, wanted, kind, 0), "status": "managing"})
        self.after(LONG, self.finish_manage_volume, volume["id"], _source_name(wanted["ref"]))
        return volume

    def finish_manage_volume(self, volume_id: str, reference: str) -> None:
        volume, found = self.volumes.rows.get(volume_id), self.rows.get(reference)
        if volume is None or volume["status"] != "managing":
            return
        if found is None or found["source"] is not None or volume.pop("_fault", None) is not None:
            self.volumes.rows.update(volume, status="error_managing", updated_at=self.moment())
            return
        for snapshot in self.rows.select(source=reference):
            self.rows.update(snapshot, source=volume_reference(volume_id))
        self.rows.remove(found)
        self.volumes.rows.update(volume, status="available", size=found["size"], updated_at=self.moment())

    def manage_snapshot(self, context: Context, volume: Record, wanted: Record) -> Record:
        """Begin to manage a snapshot of a volume; it ends in `error` when the back end has none of that name.

        wanted: ref (`{"source-name": …}`), name, description, metadata.
        """
        kind = self.volumes.types.rows.require(volume["volume_type_id"])["name"]
        self.volumes.quotas.check(volume["project_id"], {"snapshots": 1, f"snapshots_{kind}": 1})
        snapshot = self._snapshots.rows.add(self._snapshots.blank(context, volume, wanted))
        self.after(LONG, self.finish_manage_snapshot, snapshot["id"], _source_name(wanted["ref"]))
        return snapshot

    def finish_manage_snapshot(self, snapshot_id: str, reference: str) -> None:
        snapshot, found = self._snapshots.rows.get(snapshot_id), self.rows.get(reference)
        if snapshot is None or snapshot["status"] != "creating":
            return
        doomed = snapshot.pop("_fault", None) is not None
        if doomed or found is None or found["source"] != volume_reference(snapshot["volume_id"]):
            self._snapshots.rows.update(snapshot, status="error", updated_at=self.moment())
            return
        self.rows.remove(found)
        self._snapshots.rows.update(snapshot, status="available", progress="100%", size=found["size"])

    def manageable_volumes(self) -> list[Record]:
        """The volumes on the back end, managed or not."""
        known = [_manageable(volume_reference(row["id"]), row) for row in self.volumes.rows if row["size"]]
        return known + [_manageable(row["id"], row, None) for row in self.rows if row["source"] is None]

    def manageable_snapshots(self) -> list[Record]:
        """The snapshots on the back end, managed or not."""
        known = [
            _manageable(snapshot_reference(row["id"]), row)
            | {"source_reference": {"source-name": volume_reference(row["volume_id"])}}
            for row in self._snapshots.rows
        ]
        return known + [
            _manageable(row["id"], row, None) | {"source_reference": {"source-name": row["source"]}}
            for row in self.rows
            if row["source"] is not None
        ]


def _manageable(reference: str, row: Record, reason: str | None = "already managed") -> Record:
    return {
        "id": reference,
        "reference": {"source-name": reference},
        "size": row["size"],
        "safe_to_manage": reason is None,
        "reason_not_safe": reason,
        "cinder_id": None if reason is None else row["id"],
        "extra_info": None,
    }


def _source_name(reference: Any) -> str:
    name = reference.get("source-name") if isinstance(reference, dict) else None
    if not isinstance(name, str) or not name:
        raise bad_request(
            f"Manage existing volume failed due to invalid backend reference {reference}: "
            "Reference must contain source-name element."
        )
    return name
