"""What Cinder keeps, with all that may be done to it."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, bad_request
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.image.records import ImageRecords
from stoker.emulator.volume.attachments import refused
from stoker.emulator.volume.managed import ManagedLife
from stoker.emulator.volume.tables import LONG, POOL


class VolumeRecords(ManagedLife):
    """Volumes and what belongs to them; here: changes of a volume's nature, and transfers to other projects.

    The compute service uses `volume_for`, `create_volume`, `delete_volume`, `create_attachment`,
    `connect_attachment`, `complete_attachment`, `begin_detaching`, `roll_detaching` and `remove_attachment`.
    """

    def extend(self, context: Context, volume: Record, new_size: int, while_in_use: bool) -> None:
        """Begin to make a volume larger; 400 for a smaller size or a wrong status, 413 beyond a quota."""
        statuses = ("available", "in-use") if while_in_use else ("available",)
        if volume["status"] not in statuses:
            raise refused(volume, statuses, "extend")
        if new_size <= volume["size"]:
            raise bad_request(
                f"Invalid input received: New size for extend must be greater than current size. "
                f"(current: {volume['size']}, extended: {new_size})."
            )
        kind = self.types.require(volume["volume_type_id"])["name"]
        more = new_size - volume["size"]
        self.check_quota(volume["project_id"], {"gigabytes": more, f"gigabytes_{kind}": more})
        self.volumes.update(volume, status="extending", _previous=volume["status"], updated_at=self.moment())
        self.after(LONG, self.finish_extend, volume["id"], new_size)

    def finish_extend(self, volume_id: str, new_size: int) -> None:
        volume = self.volumes.get(volume_id)
        if volume is None or volume["status"] != "extending":
            return
        if volume.pop("_fault", None) is not None:
            self.volumes.update(volume, status="error_extending", updated_at=self.moment())
            return
        self.volumes.update(volume, status=volume["_previous"], size=new_size, updated_at=self.moment())
        for attachment in self.attachments.select(volume_id=volume_id, status="attached"):
            if attachment["instance"] is not None:
                self.notify("nova", "volume_extended", attachment["instance"], volume_id)

    def retype(self, context: Context, volume: Record, new_type: str) -> None:
        """Begin to change a volume's type; 400 for its own type or a wrong status, 404 for an unknown type."""
        statuses = ("available", "in-use")
        if volume["status"] not in statuses:
            raise refused(volume, statuses, "retype")
        kind = self.type_for(context, new_type)
        if kind["id"] == volume["volume_type_id"]:
            raise bad_request(f"Invalid input received: New volume_type same as original: {new_type}.")
        if volume["status"] == "in-use" and (kind["_encryption"] is not None) != volume["encrypted"]:
            raise bad_request(
                "Invalid input received: Retype cannot change encryption requirements of a volume in use."
            )
        size, name = volume["size"], kind["name"]
        self.check_quota(volume["project_id"], {f"gigabytes_{name}": size, f"volumes_{name}": 1})
        self.volumes.update(volume, status="retyping", _previous=volume["status"], updated_at=self.moment())
        self.after(LONG, self.finish_retype, volume["id"], kind["id"])

    def finish_retype(self, volume_id: str, type_id: str) -> None:
        volume, kind = self.volumes.get(volume_id), self.types.get(type_id)
        if volume is None or volume["status"] != "retyping":
            return
        doomed = volume.pop("_fault", None) is not None
        if kind is not None and not doomed:
            multiattach = kind["extra_specs"].get("multiattach") == "<is> True"
            encrypted = kind["_encryption"] is not None
            volume.update(volume_type_id=type_id, multiattach=multiattach, encrypted=encrypted)
        self.volumes.update(volume, status="error" if doomed else volume["_previous"], updated_at=self.moment())

    def upload_to_image(self, volume: Record, wanted: Record, force: bool) -> Record:
        """Begin to make an image of a volume; the image. 400 in a wrong status."""
        statuses = ("available", "in-use") if force else ("available",)
        if volume["status"] not in statuses:
            raise refused(volume, statuses, "upload")
        formats = {key: wanted[key] for key in ("container_format", "disk_format", "visibility") if wanted.get(key)}
        image = self.cloud.of(ImageRecords).create_from_server(
            volume["project_id"],
            {"name": wanted["image_name"], "min_disk": volume["size"], "disk_format": "raw", **formats},
        )
        self.volumes.update(volume, status="uploading", _previous=volume["status"], updated_at=self.moment())
        self.after(LONG, self.finish_upload, volume["id"])
        return image

    def finish_upload(self, volume_id: str) -> None:
        volume = self.volumes.get(volume_id)
        if volume is not None:
            self.settle_volume(volume_id, ("uploading",), volume["_previous"], "error")

    def migrate(self, volume: Record, host: str) -> None:
        """Refuse to move a volume: the cloud has a single back end. 400 for its own host, 404 for another."""
        if host in (POOL, POOL.partition("#")[0]):
            raise bad_request("Invalid input received: Destination host must be different than the current host.")
        raise bad_request(f"Invalid input received: No available service named cinder-volume on host {host}.")

    def create_transfer(self, context: Context, volume: Record, name: str | None, no_snapshots: bool) -> Record:
        """Offer a volume to whoever knows the `_auth_key` of the transfer; 400 unless it is available."""
        if volume["status"] != "available":
            raise bad_request("Invalid volume: status must be available")
        if volume["encrypted"]:
            raise bad_request("Invalid volume: transferring encrypted volume is not supported")
        self.volumes.update(volume, status="awaiting-transfer", updated_at=self.moment())
        return self.transfers.add(
            {
                "id": new_id(),
                "name": name,
                "volume_id": volume["id"],
                "project_id": context.project,
                "created_at": self.moment(),
                "source_project_id": context.project,
                "destination_project_id": None,
                "accepted": False,
                "no_snapshots": no_snapshots,
                "_auth_key": secrets.token_hex(8),
            }
        )

    def delete_transfer(self, transfer: Record) -> None:
        """Withdraw an offer."""
        volume = self.volumes.get(transfer["volume_id"])
        if volume is not None and volume["status"] == "awaiting-transfer":
            self.volumes.update(volume, status="available", updated_at=self.moment())
        self.transfers.remove(transfer)

    def accept_transfer(self, context: Context, transfer_id: str, auth_key: Any) -> Record:
        """Take the volume of an offer over; 400 for a wrong key, 413 beyond a quota."""
        transfer = self.transfers.require(transfer_id)
        if not isinstance(auth_key, str) or not hmac.compare_digest(auth_key.encode(), transfer["_auth_key"].encode()):
            raise bad_request(f"Invalid auth key: Attempt to transfer {transfer_id} with invalid auth key.")
        volume = self.volumes.get(transfer["volume_id"])
        if volume is None or volume["status"] != "awaiting-transfer":
            raise ApiError(400, f"Invalid volume: the volume of transfer {transfer_id} is not awaiting it.")
        self.check_new_volume(context.project, volume["size"], self.types.require(volume["volume_type_id"]))
        owner = {"project_id": context.project, "user_id": context.user_id}
        self.volumes.update(volume, **owner, status="available", updated_at=self.moment())
        if not transfer["no_snapshots"]:
            for snapshot in self.snapshots.select(volume_id=volume["id"]):
                self.snapshots.update(snapshot, **owner)
        self.transfers.remove(transfer)
        return transfer
