"""Backups of volumes, and volumes restored from them."""

from __future__ import annotations

import base64
import binascii

import orjson

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.volume.tables import COPY, LONG, SHORT, ZONE
from openstack_emulator.volume.volumes import Volumes

BACKUP_STATUSES = ("available", "error", "creating", "deleting", "restoring", "error_deleting")
BACKUP_SERVICE = "cinder.backup.drivers.swift.SwiftBackupDriver"
OBJECTS_PER_BACKUP = 2
GENERATED_NAME = "restore_backup_"
BACKED_UP = ("name", "description", "metadata", "image_metadata")
"""The properties of its volume that a backup contains. Not that it is bootable: that follows from an image's."""


class Backups(Component):
    """Backups from their creation to their deletion.

    rows, snapshots: the collections of backups and snapshots, which other components read too.
    """

    def __init__(self, records: Records, rows: Collection, volumes: Volumes, snapshots: Collection) -> None:
        super().__init__(records)
        self.rows = rows
        self.volumes = volumes
        self._snapshots = snapshots
        records.deferrable(self.finish_backup, self.finish_restore, self.finish_delete_backup)

    def create(self, context: Context, volume: Record, wanted: Record) -> Record:
        """Begin a backup of a volume or of its snapshot.

        wanted: name, description, container, incremental, force (a volume in use), snapshot_id, metadata.

        Raises: ApiError 400 for a wrong status or an incremental backup without a full one, 413 beyond a quota.
        """
        snapshot = self._snapshot_of_backup(context, volume, wanted.get("snapshot_id"))
        allowed = ("available", "in-use") if wanted.get("force") or snapshot else ("available",)
        if volume["status"] not in allowed:
            raise bad_request(
                f"Invalid volume: Volume to be backed up must be {' or '.join(allowed)} but the current status is "
                f'"{volume["status"]}".'
            )
        parent = self._parent(volume) if wanted.get("incremental") else None
        self.volumes.quotas.check(context.project, {"backups": 1, "backup_gigabytes": volume["size"]})
        backup = self.rows.add(
            {
                **self._blank(context),
                "name": wanted.get("name"),
                "description": wanted.get("description"),
                "status": "creating",
                "size": volume["size"],
                "volume_id": volume["id"],
                "snapshot_id": None if snapshot is None else snapshot["id"],
                "container": wanted.get("container"),
                "metadata": wanted.get("metadata") or {},
                "volume_properties": {key: volume[key] for key in BACKED_UP},
                "parent_id": None if parent is None else parent["id"],
                "availability_zone": wanted.get("availability_zone") or ZONE,
            }
        )
        source = self.volumes.rows if snapshot is None else self._snapshots
        busy = volume if snapshot is None else snapshot
        source.update(busy, status="backing-up", _previous=busy["status"], updated_at=self.moment())
        self.after(LONG, self.finish_backup, backup["id"])
        return backup

    def finish_backup(self, backup_id: str) -> None:
        backup = self.rows.get(backup_id)
        if backup is None or backup["status"] != "creating":
            return
        snapshot_id = backup["snapshot_id"]
        content = f"volume-{backup['volume_id']}" if snapshot_id is None else f"snapshot-{snapshot_id}"
        copied = self.cloud.guests.copied(content, f"backup-{backup_id}")
        if copied is None:
            self.after(COPY, self.finish_backup, backup_id)
            return
        failed = backup.pop("_fault", None if copied else "The content of the volume could not be copied.")
        self.rows.update(
            backup,
            status="available" if failed is None else "error",
            fail_reason=failed,
            container=backup["container"] or "volumebackups",
            object_count=OBJECTS_PER_BACKUP if failed is None else 0,
            updated_at=self.moment(),
        )
        source = self.volumes.rows if snapshot_id is None else self._snapshots
        busy = source.get(backup["snapshot_id"] or backup["volume_id"])
        if busy is not None and busy["status"] == "backing-up":
            source.update(busy, status=busy["_previous"], _previous=None, updated_at=self.moment())

    def restore(self, context: Context, backup: Record, volume_id: str | None, name: str | None) -> Record:
        """Begin to restore a backup into a volume, a new one when `volume_id` is None; the volume.

        Raises: ApiError 400 for a wrong status or a volume that is too small, 404 for an unknown volume.
        """
        if backup["status"] != "available":
            raise bad_request("Invalid backup: Backup status must be available")
        if volume_id is None:
            volume = self.volumes.create(
                context,
                {
                    "size": backup["size"],
                    "name": name or f"{GENERATED_NAME}{backup['id']}",
                    "description": "auto-created_from_restore_from_backup",
                    "metadata": {"src_backup_id": backup["id"]},
                },
            )
        else:
            volume = self.volumes.find(context, volume_id)
            if volume["status"] != "available":
                raise bad_request("Invalid volume: Volume to be restored to must be available")
        if volume["size"] < backup["size"]:
            raise bad_request(
                f"Invalid volume: volume size {volume['size']} is too small to restore backup of size {backup['size']}."
            )
        self.volumes.rows.update(volume, status="restoring-backup", updated_at=self.moment())
        self.rows.update(backup, status="restoring", updated_at=self.moment())
        self.after(LONG, self.finish_restore, backup["id"], volume["id"])
        return volume

    def finish_restore(self, backup_id: str, volume_id: str) -> None:
        backup, volume = self.rows.get(backup_id), self.volumes.rows.get(volume_id)
        copied: bool | None = True
        if backup is not None and volume is not None and volume["status"] == "restoring-backup":
            copied = self.cloud.guests.copied(f"backup-{backup_id}", f"volume-{volume_id}")
            if copied is None:
                self.after(COPY, self.finish_restore, backup_id, volume_id)
                return
            self._restore_properties(backup, volume)
        good = "available" if copied else "error_restoring"
        self.volumes.settle(volume_id, ("restoring-backup",), good, "error_restoring")
        if backup is not None and backup["status"] == "restoring":
            backup.pop("_fault", None)
            self.rows.update(backup, status="available", updated_at=self.moment())

    def _restore_properties(self, backup: Record, volume: Record) -> None:
        """Set the properties of the volume that was backed up, but not that it is read-only; name and description only
        over a generated name."""
        known = dict(backup["volume_properties"])
        kept = {key: value for key, value in known["metadata"].items() if key != "readonly"}
        known["metadata"] = {**volume["metadata"], **kept}
        if not (volume["name"] or "").startswith(GENERATED_NAME):
            known = {key: value for key, value in known.items() if key not in ("name", "description")}
        if known["image_metadata"]:
            known["bootable"] = True
        self.volumes.rows.update(volume, **{key: value for key, value in known.items() if value is not None})

    def delete(self, backup: Record, force: bool = False) -> None:
        """Begin to delete a backup; 400 while it is in use or incremental backups depend on it."""
        if backup["status"] not in ("available", "error", "error_deleting") and not force:
            raise bad_request("Invalid backup: Backup status must be available or error")
        if self.rows.first(parent_id=backup["id"]) is not None:
            raise bad_request("Invalid backup: Incremental backups exist for this backup.")
        self.rows.update(backup, status="deleting", updated_at=self.moment())
        self.after(SHORT, self.finish_delete_backup, backup["id"])

    def finish_delete_backup(self, backup_id: str) -> None:
        backup = self.rows.get(backup_id)
        if backup is None or backup["status"] != "deleting":
            return
        if (failed := backup.pop("_fault", None)) is not None:
            self.rows.update(backup, status="error_deleting", fail_reason=failed, updated_at=self.moment())
        else:
            self.rows.remove(backup)
            self.cloud.guests.delete_content(f"backup-{backup_id}")

    def export(self, backup: Record) -> Record:
        """What `import_record` needs to restore the record of a backup; 400 unless it is available."""
        if backup["status"] != "available":
            raise bad_request("Invalid backup: Backup status must be available and not " + backup["status"] + ".")
        kept = {key: value for key, value in backup.items() if not key.startswith("_")}
        return {"backup_service": BACKUP_SERVICE, "backup_url": base64.b64encode(orjson.dumps(kept)).decode()}

    def import_record(self, context: Context, service: str, url: str) -> Record:
        """Add the record of an exported backup; 400 when it cannot be read, 503 for another kind of backup service."""
        if service != BACKUP_SERVICE:
            raise ApiError(503, f"Service {service} could not be found.")
        try:
            known = orjson.loads(base64.b64decode(url, validate=True))
            backup_id, size = str(known["id"]), int(known["size"])
        except (binascii.Error, ValueError, KeyError, TypeError):
            raise bad_request("Invalid input received: Can't parse backup record.") from None
        if backup_id in self.rows:
            raise bad_request("Invalid backup: Backup already exists in database.")
        self.volumes.quotas.check(context.project, {"backups": 1, "backup_gigabytes": size})
        backup = self.rows.add({**self._blank(context), **known, "project_id": context.project, "status": "creating"})
        self.records.become(SHORT, self.rows, backup, {"status": "available"}, {"status": "error"})
        return backup

    def _blank(self, context: Context) -> Record:
        return {
            "id": new_id(),
            "project_id": context.project,
            "user_id": context.user_id,
            "created_at": self.moment(),
            "updated_at": None,
            "data_timestamp": self.moment(),
            "fail_reason": None,
            "object_count": 0,
            "volume_properties": {},
        }

    def _snapshot_of_backup(self, context: Context, volume: Record, snapshot_id: str | None) -> Record | None:
        if snapshot_id is None:
            return None
        snapshot = visible(self._snapshots, context, snapshot_id)
        if snapshot["volume_id"] != volume["id"]:
            raise bad_request("Invalid snapshot: The snapshot is not one of the volume to be backed up.")
        if snapshot["status"] != "available":
            raise bad_request(
                f"Invalid snapshot: Snapshot to be backed up must be available, but the current status is "
                f'"{snapshot["status"]}".'
            )
        return snapshot

    def _parent(self, volume: Record) -> Record:
        done = [row for row in self.rows.select(volume_id=volume["id"]) if row["status"] == "available"]
        if not done:
            raise bad_request("Invalid backup: No backups available to do an incremental backup.")
        return done[-1]
