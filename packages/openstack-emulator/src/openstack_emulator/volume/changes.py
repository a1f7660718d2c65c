"""Changes of what a volume is: its size, its type, its host; and images made of volumes."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.image.records import ImageRecords
from openstack_emulator.volume.attachments import refused
from openstack_emulator.volume.tables import LONG, POOL
from openstack_emulator.volume.volumes import Volumes


class VolumeChanges(Component):
    """Extends, retypes, uploads and migrates volumes.

    attachments: the collection of attachments: servers are notified of a volume that was extended.
    """

    def __init__(self, records: Records, volumes: Volumes, attachments: Collection) -> None:
        super().__init__(records)
        self.volumes = volumes
        self._attachments = attachments
        records.deferrable(self.finish_extend, self.finish_retype, self.finish_upload)

    def extend(self, volume: Record, new_size: int, while_in_use: bool) -> None:
        """Begin to extend a volume; 400 for a smaller size or a wrong status, 413 beyond a quota."""
        statuses = ("available", "in-use") if while_in_use else ("available",)
        if volume["status"] not in statuses:
            raise refused(volume, statuses, "extend")
        if new_size <= volume["size"]:
            raise bad_request(
                f"Invalid input received: New size for extend must be greater than current size. "
                f"(current: {volume['size']}, extended: {new_size})."
            )
        kind = self.volumes.types.rows.require(volume["volume_type_id"])["name"]
        more = new_size - volume["size"]
        self.volumes.quotas.check(volume["project_id"], {"gigabytes": more, f"gigabytes_{kind}": more})
        self.volumes.rows.update(volume, status="extending", _previous=volume["status"], updated_at=self.moment())
        self.after(LONG, self.finish_extend, volume["id"], new_size)

    def finish_extend(self, volume_id: str, new_size: int) -> None:
        volume = self.volumes.rows.get(volume_id)
        if volume is None or volume["status"] != "extending":
            return
        if volume.pop("_fault", None) is not None:
            self.volumes.rows.update(volume, status="error_extending", updated_at=self.moment())
            return
        self.volumes.rows.update(volume, status=volume["_previous"], size=new_size, updated_at=self.moment())
        for attachment in self._attachments.select(volume_id=volume_id, status="attached"):
            if attachment["instance"] is not None:
                self.records.notify("nova", "volume_extended", attachment["instance"], volume_id)

    def retype(self, context: Context, volume: Record, new_type: str) -> None:
        """Begin to change a volume's type; 400 for its own type or a wrong status, 404 for an unknown type."""
        statuses = ("available", "in-use")
        if volume["status"] not in statuses:
            raise refused(volume, statuses, "retype")
        kind = self.volumes.types.find(context, new_type)
        if kind["id"] == volume["volume_type_id"]:
            raise bad_request(f"Invalid input received: New volume_type same as original: {new_type}.")
        if volume["status"] == "in-use" and (kind["_encryption"] is not None) != volume["encrypted"]:
            raise bad_request(
                "Invalid input received: Retype cannot change encryption requirements of a volume in use."
            )
        size, name = volume["size"], kind["name"]
        self.volumes.quotas.check(volume["project_id"], {f"gigabytes_{name}": size, f"volumes_{name}": 1})
        self.volumes.rows.update(volume, status="retyping", _previous=volume["status"], updated_at=self.moment())
        self.after(LONG, self.finish_retype, volume["id"], kind["id"])

    def finish_retype(self, volume_id: str, type_id: str) -> None:
        volume, kind = self.volumes.rows.get(volume_id), self.volumes.types.rows.get(type_id)
        if volume is None or volume["status"] != "retyping":
            return
        doomed = volume.pop("_fault", None) is not None
        possible = kind is not None and self.volumes.supports(kind, volume["size"])
        if kind is not None and possible and not doomed:
            multiattach = kind["extra_specs"].get("multiattach") == "<is> True"
            encrypted = kind["_encryption"] is not None
            volume.update(volume_type_id=type_id, multiattach=multiattach, encrypted=encrypted)
        self.volumes.rows.update(volume, status="error" if doomed else volume["_previous"], updated_at=self.moment())

    def upload_to_image(self, volume: Record, wanted: Record, force: bool) -> Record:
        """Begin to create an image of a volume; the image. 400 in a wrong status."""
        statuses = ("available", "in-use") if force else ("available",)
        if volume["status"] not in statuses:
            raise refused(volume, statuses, "upload")
        formats = {key: wanted[key] for key in ("container_format", "disk_format", "visibility") if wanted.get(key)}
        image = self.cloud.of(ImageRecords).create_from_server(
            volume["project_id"],
            {"name": wanted["image_name"], "min_disk": volume["size"], "disk_format": "raw", **formats},
        )
        self.volumes.rows.update(volume, status="uploading", _previous=volume["status"], updated_at=self.moment())
        self.after(LONG, self.finish_upload, volume["id"])
        return image

    def finish_upload(self, volume_id: str) -> None:
        volume = self.volumes.rows.get(volume_id)
        if volume is not None:
            self.volumes.settle(volume_id, ("uploading",), volume["_previous"], "error")

    def migrate(self, volume: Record, host: str) -> None:
        """Refuse to move a volume: the cloud has a single back end. 400 for its own host, 404 for another."""
        if host in (POOL, POOL.partition("#")[0]):
            raise bad_request("Invalid input received: Destination host must be different than the current host.")
        raise bad_request(f"Invalid input received: No available service named cinder-volume on host {host}.")
