"""Backups of volumes, and volumes restored from them."""

from __future__ import annotations

import base64
import binascii

import orjson

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.core.typed import to_bytes
from openstack_emulator.volume.records import Backup, Snapshot, Volume, VolumeProperties
from openstack_emulator.volume.rules.constants import COPY, LONG, SHORT, ZONE
from openstack_emulator.volume.rules.inputs import NewBackup, NewVolume
from openstack_emulator.volume.rules.volumes import Volumes

BACKUP_STATUSES = ("available", "error", "creating", "deleting", "restoring", "error_deleting")
BACKUP_SERVICE = "cinder.backup.drivers.swift.SwiftBackupDriver"
OBJECTS_PER_BACKUP = 2
GENERATED_NAME = "restore_backup_"


class Backups(Rules):
    """Backups from their creation to their deletion.

    rows, snapshots: the tables of backups and snapshots, which other rules read too.
    """

    def __init__(self, records: Records, rows: Table[Backup], volumes: Volumes, snapshots: Table[Snapshot]) -> None:
        super().__init__(records)
        self.rows = rows
        self.volumes = volumes
        self._snapshots = snapshots
        records.deferrable(self.finish_backup, self.finish_restore, self.finish_delete_backup)

    def create(self, context: Context, volume: Volume, new_backup: NewBackup) -> Backup:
        """Begin a backup of a volume or of its snapshot.

        Raises: ApiError 400 for a wrong status or an incremental backup without a full one, 413 beyond a quota.
        """
        snapshot = self._snapshot_of_backup(context, volume, new_backup.snapshot_id)
        allowed = ("available", "in-use") if new_backup.force or snapshot else ("available",)
        if volume.status not in allowed:
            raise bad_request(
                f"Invalid volume: Volume to be backed up must be {' or '.join(allowed)} but the current status is "
                f'"{volume.status}".'
            )
        parent = self._parent(volume) if new_backup.incremental else None
        self.volumes.quotas.check(context.project, {"backups": 1, "backup_gigabytes": volume.size})
        backup = self.rows.add(
            Backup(
                id=new_id(),
                project_id=context.project,
                user_id=context.user_id,
                created_at=self.moment(),
                updated_at=None,
                data_timestamp=self.moment(),
                fail_reason=None,
                object_count=0,
                volume_properties=VolumeProperties(
                    name=volume.name,
                    description=volume.description,
                    metadata=volume.metadata,
                    image_metadata=volume.image_metadata,
                ),
                name=new_backup.name,
                description=new_backup.description,
                status="creating",
                size=volume.size,
                volume_id=volume.id,
                snapshot_id=None if snapshot is None else snapshot.id,
                container=new_backup.container,
                metadata=dict(new_backup.metadata or {}),
                parent_id=None if parent is None else parent.id,
                availability_zone=new_backup.availability_zone or ZONE,
            )
        )
        busy = volume if snapshot is None else snapshot
        busy.previous, busy.status, busy.updated_at = busy.status, "backing-up", self.moment()
        self._save_source(busy)
        self.after(LONG, self.finish_backup, backup.id)
        return backup

    def finish_backup(self, backup_id: str) -> None:
        backup = self.rows.get(backup_id)
        if backup is None or backup.status != "creating":
            return
        snapshot_id = backup.snapshot_id
        content = f"volume-{backup.volume_id}" if snapshot_id is None else f"snapshot-{snapshot_id}"
        copied = self.cloud.guests.copy(content, f"backup-{backup_id}")
        if copied is None:
            self.after(COPY, self.finish_backup, backup_id)
            return
        failed = backup.take_fault() or (None if copied else "The content of the volume could not be copied.")
        backup.status = "available" if failed is None else "error"
        backup.fail_reason = failed
        backup.container = backup.container or "volumebackups"
        backup.object_count = OBJECTS_PER_BACKUP if failed is None else 0
        backup.updated_at = self.moment()
        self.rows.save(backup)
        busy = self.volumes.rows.get(backup.volume_id) if snapshot_id is None else self._snapshots.get(snapshot_id)
        if busy is not None and busy.status == "backing-up":
            busy.status, busy.previous, busy.updated_at = busy.previous or "available", None, self.moment()
            self._save_source(busy)

    def _save_source(self, busy: Volume | Snapshot) -> None:
        if isinstance(busy, Volume):
            self.volumes.rows.save(busy)
        else:
            self._snapshots.save(busy)

    def restore(self, context: Context, backup: Backup, volume_id: str | None, name: str | None) -> Volume:
        """Begin to restore a backup into a volume, a new one when `volume_id` is None; the volume.

        Raises: ApiError 400 for a wrong status or a volume that is too small, 404 for an unknown volume.
        """
        if backup.status != "available":
            raise bad_request("Invalid backup: Backup status must be available")
        if volume_id is None:
            volume = self.volumes.create(
                context,
                NewVolume(
                    size=backup.size,
                    name=name or f"{GENERATED_NAME}{backup.id}",
                    description="auto-created_from_restore_from_backup",
                    metadata={"src_backup_id": backup.id},
                ),
            )
        else:
            volume = self.volumes.find(context, volume_id)
            if volume.status != "available":
                raise bad_request("Invalid volume: Volume to be restored to must be available")
        if volume.size < backup.size:
            raise bad_request(
                f"Invalid volume: volume size {volume.size} is too small to restore backup of size {backup.size}."
            )
        volume.status, volume.updated_at = "restoring-backup", self.moment()
        self.volumes.rows.save(volume)
        backup.status, backup.updated_at = "restoring", self.moment()
        self.rows.save(backup)
        self.after(LONG, self.finish_restore, backup.id, volume.id)
        return volume

    def finish_restore(self, backup_id: str, volume_id: str) -> None:
        backup, volume = self.rows.get(backup_id), self.volumes.rows.get(volume_id)
        copied: bool | None = True
        if backup is not None and volume is not None and volume.status == "restoring-backup":
            copied = self.cloud.guests.copy(f"backup-{backup_id}", f"volume-{volume_id}")
            if copied is None:
                self.after(COPY, self.finish_restore, backup_id, volume_id)
                return
            self._restore_properties(backup, volume)
        good = "available" if copied else "error_restoring"
        self.volumes.settle(volume_id, ("restoring-backup",), good, "error_restoring")
        if backup is not None and backup.status == "restoring":
            backup.take_fault()
            backup.status, backup.updated_at = "available", self.moment()
            self.rows.save(backup)

    def _restore_properties(self, backup: Backup, volume: Volume) -> None:
        """Set the properties of the volume that was backed up, but not that it is read-only; name and description only
        over a generated name."""
        known = backup.volume_properties
        if known is None:
            return
        metadata = {key: value for key, value in known.metadata.items() if key != "readonly"}
        volume.metadata = {**volume.metadata, **metadata}
        if (volume.name or "").startswith(GENERATED_NAME):
            volume.description = volume.description if known.description is None else known.description
            volume.name = volume.name if known.name is None else known.name
        volume.image_metadata = known.image_metadata
        volume.bootable = volume.bootable or bool(known.image_metadata)
        self.volumes.rows.save(volume)

    def set_status(self, backup: Backup, status: str) -> None:
        backup.status = status
        self.rows.save(backup)

    def delete(self, backup: Backup, force: bool = False) -> None:
        """Begin to delete a backup; 400 while it is in use or incremental backups depend on it."""
        if backup.status not in ("available", "error", "error_deleting") and not force:
            raise bad_request("Invalid backup: Backup status must be available or error")
        if self.rows.first(parent_id=backup.id) is not None:
            raise bad_request("Invalid backup: Incremental backups exist for this backup.")
        backup.status, backup.updated_at = "deleting", self.moment()
        self.rows.save(backup)
        self.after(SHORT, self.finish_delete_backup, backup.id)

    def finish_delete_backup(self, backup_id: str) -> None:
        backup = self.rows.get(backup_id)
        if backup is None or backup.status != "deleting":
            return
        if (failed := backup.take_fault()) is not None:
            backup.status, backup.fail_reason, backup.updated_at = "error_deleting", failed, self.moment()
            self.rows.save(backup)
        else:
            self.rows.remove(backup)
            self.cloud.guests.delete_content(f"backup-{backup_id}")

    def export(self, backup: Backup) -> dict[str, str]:
        """What `import_record` needs to restore the record of a backup; 400 unless it is available."""
        if backup.status != "available":
            raise bad_request("Invalid backup: Backup status must be available and not " + backup.status + ".")
        return {"backup_service": BACKUP_SERVICE, "backup_url": base64.b64encode(to_bytes(backup)).decode()}

    def import_record(self, context: Context, service: str, url: str) -> Backup:
        """Add the record of an exported backup; 400 when it cannot be read, 503 for another kind of backup service."""
        if service != BACKUP_SERVICE:
            raise ApiError(503, f"Service {service} could not be found.")
        try:
            known = orjson.loads(base64.b64decode(url, validate=True))
            backup = Backup.from_json({**self._defaults(context), **known})
            backup.id, backup.size = str(backup.id), int(backup.size)
        except (binascii.Error, ValueError, KeyError, TypeError):
            raise bad_request("Invalid input received: Can't parse backup record.") from None
        if backup.id in self.rows:
            raise bad_request("Invalid backup: Backup already exists in database.")
        self.volumes.quotas.check(context.project, {"backups": 1, "backup_gigabytes": backup.size})
        backup.project_id, backup.status = context.project, "creating"
        self.rows.add(backup)
        self.records.change_later(SHORT, self.rows, backup, {"status": "available"}, {"status": "error"})
        return backup

    def _defaults(self, context: Context) -> dict[str, object]:
        """The fields that an imported record may lack."""
        return {
            "user_id": context.user_id,
            "created_at": self.moment(),
            "updated_at": None,
            "data_timestamp": self.moment(),
            "fail_reason": None,
            "object_count": 0,
            "volume_properties": None,
        }

    def _snapshot_of_backup(self, context: Context, volume: Volume, snapshot_id: str | None) -> Snapshot | None:
        if snapshot_id is None:
            return None
        snapshot = visible(self._snapshots, context, snapshot_id)
        if snapshot.volume_id != volume.id:
            raise bad_request("Invalid snapshot: The snapshot is not one of the volume to be backed up.")
        if snapshot.status != "available":
            raise bad_request(
                f"Invalid snapshot: Snapshot to be backed up must be available, but the current status is "
                f'"{snapshot.status}".'
            )
        return snapshot

    def _parent(self, volume: Volume) -> Backup:
        done = [row for row in self.rows.select(volume_id=volume.id) if row.status == "available"]
        if not done:
            raise bad_request("Invalid backup: No backups available to do an incremental backup.")
        return done[-1]
