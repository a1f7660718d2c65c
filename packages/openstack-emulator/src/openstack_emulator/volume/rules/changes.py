"""Changes of what a volume is: its size, its type, its host; and images made of volumes."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.inputs import NewCopy
from openstack_emulator.volume.records import Attachment, Volume
from openstack_emulator.volume.rules.attachments import refused
from openstack_emulator.volume.rules.constants import LONG, POOL
from openstack_emulator.volume.rules.inputs import NewImage
from openstack_emulator.volume.rules.volumes import Volumes, is_multiattach


class VolumeChanges(Rules):
    """Extends, retypes, uploads, migrates and resets volumes.

    attachments: the table of attachments: servers are notified of a volume that was extended.
    """

    def __init__(self, records: Records, volumes: Volumes, attachments: Table[Attachment]) -> None:
        super().__init__(records)
        self.volumes = volumes
        self._attachments = attachments
        records.deferrable(self.finish_extend, self.finish_retype, self.finish_upload)

    def reset(self, volume: Volume, body: Mapping[str, str | None]) -> None:
        """Set the given `status` and `migration_status`; a detached `attach_status` removes attachments."""
        if (status := body.get("status")) is not None:
            volume.status = status
        if "migration_status" in body:
            named = body["migration_status"]
            volume.migration_status = None if named == "none" else named
        if body.get("attach_status") == "detached":
            for attachment in self._attachments.select(volume_id=volume.id):
                self._attachments.remove(attachment)
        volume.updated_at = self.moment()
        self.volumes.rows.save(volume)

    def extend(self, volume: Volume, new_size: int, while_in_use: bool) -> None:
        """Begin to extend a volume; 400 for a smaller size or a wrong status, 413 beyond a quota."""
        statuses = ("available", "in-use") if while_in_use else ("available",)
        if volume.status not in statuses:
            raise refused(volume, statuses, "extend")
        if new_size <= volume.size:
            raise bad_request(
                f"Invalid input received: New size for extend must be greater than current size. "
                f"(current: {volume.size}, extended: {new_size})."
            )
        kind = self.volumes.types.rows.require(volume.volume_type_id).name
        more = new_size - volume.size
        self.volumes.quotas.check(volume.project_id, {"gigabytes": more, f"gigabytes_{kind}": more})
        volume.status, volume.previous, volume.updated_at = "extending", volume.status, self.moment()
        self.volumes.rows.save(volume)
        self.after(LONG, self.finish_extend, volume.id, new_size)

    def finish_extend(self, volume_id: str, new_size: int) -> None:
        volume = self.volumes.rows.get(volume_id)
        if volume is None or volume.status != "extending":
            return
        if volume.take_fault() is not None:
            volume.status, volume.updated_at = "error_extending", self.moment()
            self.volumes.rows.save(volume)
            return
        volume.status, volume.size, volume.updated_at = volume.previous or "available", new_size, self.moment()
        self.volumes.rows.save(volume)
        for attachment in self._attachments.select(volume_id=volume_id, status="attached"):
            if attachment.instance is not None:
                self.records.notify("nova", "volume_extended", attachment.instance, volume_id)

    def retype(self, context: Context, volume: Volume, new_type: str) -> None:
        """Begin to change a volume's type; 400 for its own type or a wrong status, 404 for an unknown type."""
        statuses = ("available", "in-use")
        if volume.status not in statuses:
            raise refused(volume, statuses, "retype")
        kind = self.volumes.types.find(context, new_type)
        if kind.id == volume.volume_type_id:
            raise bad_request(f"Invalid input received: New volume_type same as original: {new_type}.")
        if volume.status == "in-use" and (kind.encryption is not None) != volume.encrypted:
            raise bad_request(
                "Invalid input received: Retype cannot change encryption requirements of a volume in use."
            )
        size, name = volume.size, kind.name
        self.volumes.quotas.check(volume.project_id, {f"gigabytes_{name}": size, f"volumes_{name}": 1})
        volume.status, volume.previous, volume.updated_at = "retyping", volume.status, self.moment()
        self.volumes.rows.save(volume)
        self.after(LONG, self.finish_retype, volume.id, kind.id)

    def finish_retype(self, volume_id: str, type_id: str) -> None:
        volume, kind = self.volumes.rows.get(volume_id), self.volumes.types.rows.get(type_id)
        if volume is None or volume.status != "retyping":
            return
        has_fault = volume.take_fault() is not None
        possible = kind is not None and self.volumes.supports(kind, volume.size)
        if kind is not None and possible and not has_fault:
            volume.volume_type_id, volume.multiattach = type_id, is_multiattach(kind)
            volume.encrypted = kind.encryption is not None
        volume.status = "error" if has_fault else volume.previous or "available"
        volume.updated_at = self.moment()
        self.volumes.rows.save(volume)

    def upload_to_image(self, volume: Volume, new_image: NewImage) -> Image:
        """Begin to create an image of a volume; the image. 400 in a wrong status."""
        statuses = ("available", "in-use") if new_image.force else ("available",)
        if volume.status not in statuses:
            raise refused(volume, statuses, "upload")
        copy = NewCopy(
            name=new_image.name,
            min_disk=volume.size,
            disk_format=new_image.disk_format or "raw",
            container_format=new_image.container_format or "bare",
            visibility=new_image.visibility or "private",
        )
        image = self.cloud.of(ImageService).images.copy(volume.project_id, copy)
        volume.status, volume.previous, volume.updated_at = "uploading", volume.status, self.moment()
        self.volumes.rows.save(volume)
        self.after(LONG, self.finish_upload, volume.id)
        return image

    def finish_upload(self, volume_id: str) -> None:
        volume = self.volumes.rows.get(volume_id)
        if volume is not None:
            self.volumes.settle(volume_id, ("uploading",), volume.previous or "available", "error")

    def migrate(self, volume: Volume, host: str) -> None:
        """Refuse to move a volume: the cloud has a single back end. 400 for its own host, 404 for another."""
        if host in (POOL, POOL.partition("#")[0]):
            raise bad_request("Invalid input received: Destination host must be different than the current host.")
        raise bad_request(f"Invalid input received: No available service named cinder-volume on host {host}.")
