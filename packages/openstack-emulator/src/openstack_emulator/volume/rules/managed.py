"""Volumes and snapshots on the back end that Cinder stops managing, or begins to manage, by their names there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Attachment, BackendObject, Snapshot, Volume
from openstack_emulator.volume.rules.constants import BACKEND_HOST, LONG, POOL, SHORT, ZONE
from openstack_emulator.volume.rules.inputs import NewSnapshot, NewVolume
from openstack_emulator.volume.rules.snapshots import Snapshots

SNAPSHOT_STATUSES = ("available", "error", "error_deleting")


def volume_reference(volume_id: str) -> str:
    """The name of a volume on the back end."""
    return f"volume-{volume_id}"


def snapshot_reference(snapshot_id: str) -> str:
    """The name of a snapshot on the back end."""
    return f"_snapshot-{snapshot_id}"


@dataclass(frozen=True)
class Manageable:
    """A volume or a snapshot on the back end.

    reference: its name there. cinder_id: its ID, if Cinder manages it. source: the name of the volume of a snapshot.
    """

    reference: str
    size: int
    cinder_id: str | None = None
    source: str | None = None

    def get(self, name: str) -> Any:
        """The value of a field that a list can be sorted by; None for others."""
        return {"id": self.reference, "reference": self.reference, "size": self.size}.get(name)


class BackendObjects(Rules):
    """Objects on the back end that Cinder does not manage.

    attachments: the table of attachments: an attached volume cannot be unmanaged.
    """

    def __init__(self, records: Records, snapshots: Snapshots, attachments: Table[Attachment]) -> None:
        super().__init__(records)
        self.rows = records.table("unmanaged", BackendObject)
        self.volumes = snapshots.volumes
        self._snapshots = snapshots
        self._attachments = attachments
        records.deferrable(
            self.finish_unmanage_volume,
            self.finish_unmanage_snapshot,
            self.finish_manage_volume,
            self.finish_manage_snapshot,
        )

    def unmanage_volume(self, volume: Volume) -> None:
        """Stop managing a volume, which stays on the back end; 400 unless it is available and nothing depends on it."""
        used = self._attachments.first(volume_id=volume.id) or self._snapshots.rows.first(volume_id=volume.id)
        if volume.status not in ("available", "error") or used or volume.group_id or volume.encrypted:
            raise bad_request(
                f"Invalid volume: Volume {volume.id} cannot be unmanaged: its status must be available or error, "
                f"but it is {volume.status}, and it must not be attached, encrypted, in a group or have snapshots."
            )
        volume.status, volume.updated_at = "unmanaging", self.moment()
        self.volumes.rows.save(volume)
        self.after(SHORT, self.finish_unmanage_volume, volume.id)

    def finish_unmanage_volume(self, volume_id: str) -> None:
        volume = self.volumes.rows.get(volume_id)
        if volume is not None and volume.status == "unmanaging":
            self.rows.add(BackendObject(id=volume_reference(volume_id), size=volume.size, source=None))
            self.volumes.rows.remove(volume)

    def unmanage_snapshot(self, snapshot: Snapshot) -> None:
        """Stop managing a snapshot, which stays on the back end; 400 while it is in use."""
        if snapshot.status not in SNAPSHOT_STATUSES or snapshot.group_snapshot_id:
            raise bad_request(
                "Invalid snapshot: Snapshot status must be available or error and it must not belong to a group "
                f"snapshot to be unmanaged, but current status is: {snapshot.status}."
            )
        snapshot.status, snapshot.updated_at = "unmanaging", self.moment()
        self._snapshots.rows.save(snapshot)
        self.after(SHORT, self.finish_unmanage_snapshot, snapshot.id)

    def finish_unmanage_snapshot(self, snapshot_id: str) -> None:
        snapshot = self._snapshots.rows.get(snapshot_id)
        if snapshot is not None and snapshot.status == "unmanaging":
            source = volume_reference(snapshot.volume_id)
            self.rows.add(BackendObject(id=snapshot_reference(snapshot_id), size=snapshot.size, source=source))
            self._snapshots.rows.remove(snapshot)

    def manage_volume(self, context: Context, host: str, reference: object, new_volume: NewVolume) -> Volume:
        """Begin to manage a volume of the back end; it ends in `error_managing` when there is none of that name.

        reference: `{"source-name": …}`.

        Raises: ApiError 400 for an unknown host, reference or zone, 404 for an unknown type.
        """
        if host not in (POOL, BACKEND_HOST):
            raise bad_request(f"Host '{host}' not found.")
        if new_volume.availability_zone not in (ZONE, None):
            raise bad_request(f"Invalid input received: Availability zone '{new_volume.availability_zone}' is invalid.")
        type_key = new_volume.volume_type
        kind = self.volumes.types.default() if type_key is None else self.volumes.types.find(context, type_key)
        self.volumes.quotas.check(context.project, {"volumes": 1, f"volumes_{kind.name}": 1})
        volume = self.volumes.blank(context, new_volume, kind, 0)
        volume.status = "managing"
        self.volumes.rows.add(volume)
        self.after(LONG, self.finish_manage_volume, volume.id, _source_name(reference))
        return volume

    def finish_manage_volume(self, volume_id: str, reference: str) -> None:
        volume, found = self.volumes.rows.get(volume_id), self.rows.get(reference)
        if volume is None or volume.status != "managing":
            return
        if found is None or found.source is not None or volume.take_fault() is not None:
            volume.status, volume.updated_at = "error_managing", self.moment()
            self.volumes.rows.save(volume)
            return
        for snapshot in self.rows.select(source=reference):
            snapshot.source = volume_reference(volume_id)
            self.rows.save(snapshot)
        self.rows.remove(found)
        volume.status, volume.size, volume.updated_at = "available", found.size, self.moment()
        self.volumes.rows.save(volume)

    def manage_snapshot(
        self, context: Context, volume: Volume, reference: object, new_snapshot: NewSnapshot
    ) -> Snapshot:
        """Begin to manage a snapshot of a volume; it ends in `error` when the back end has none of that name.

        reference: `{"source-name": …}`.
        """
        kind = self.volumes.types.rows.require(volume.volume_type_id).name
        self.volumes.quotas.check(volume.project_id, {"snapshots": 1, f"snapshots_{kind}": 1})
        snapshot = self._snapshots.rows.add(self._snapshots.blank(context, volume, new_snapshot))
        self.after(LONG, self.finish_manage_snapshot, snapshot.id, _source_name(reference))
        return snapshot

    def finish_manage_snapshot(self, snapshot_id: str, reference: str) -> None:
        snapshot, found = self._snapshots.rows.get(snapshot_id), self.rows.get(reference)
        if snapshot is None or snapshot.status != "creating":
            return
        has_fault = snapshot.take_fault() is not None
        if has_fault or found is None or found.source != volume_reference(snapshot.volume_id):
            snapshot.status, snapshot.updated_at = "error", self.moment()
            self._snapshots.rows.save(snapshot)
            return
        self.rows.remove(found)
        snapshot.status, snapshot.progress, snapshot.size = "available", "100%", found.size
        self._snapshots.rows.save(snapshot)

    def manageable_volumes(self) -> list[Manageable]:
        """The volumes on the back end, managed or not."""
        known = [Manageable(volume_reference(row.id), row.size, row.id) for row in self.volumes.rows if row.size]
        return known + [Manageable(row.id, row.size) for row in self.rows if row.source is None]

    def manageable_snapshots(self) -> list[Manageable]:
        """The snapshots on the back end, managed or not."""
        known = [
            Manageable(snapshot_reference(row.id), row.size, row.id, volume_reference(row.volume_id))
            for row in self._snapshots.rows
        ]
        return known + [Manageable(row.id, row.size, source=row.source) for row in self.rows if row.source is not None]


def _source_name(reference: object) -> str:
    name = reference.get("source-name") if isinstance(reference, dict) else None
    if not isinstance(name, str) or not name:
        raise bad_request(
            f"Manage existing volume failed due to invalid backend reference {reference}: "
            "Reference must contain source-name element."
        )
    return name
