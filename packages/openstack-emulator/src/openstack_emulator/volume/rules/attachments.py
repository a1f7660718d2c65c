"""Volumes attached to servers and hosts: by the attachments API, by the older actions, and by the compute service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Attachment, Volume
from openstack_emulator.volume.rules.constants import SHORT
from openstack_emulator.volume.rules.volumes import Volumes


@dataclass(frozen=True)
class Connection:
    """How a host reaches a volume: the kind of driver, and what this needs, as JSON."""

    driver: str
    data: dict[str, Any]


class Attachments(Rules):
    """Attachments: `reserved` without a connector, `attaching` with one, `attached` when complete.

    rows: the table of attachments, which other rules read too.
    """

    def __init__(self, records: Records, rows: Table[Attachment], volumes: Volumes) -> None:
        super().__init__(records)
        self.rows = rows
        self.volumes = volumes
        records.deferrable(self.finish_attach, self.finish_detach)

    def create(
        self,
        context: Context,
        volume: Volume,
        instance: str | None,
        connector: dict[str, Any] | None = None,
        mode: str | None = None,
    ) -> Attachment:
        """Reserve a volume for a server (its id) or a host; without a mode, the volume decides.

        Raises: ApiError 400 when the volume is neither available nor, being multiattach, in use.
        """
        allowed = ("available", "in-use", "reserved", "attaching") if volume.multiattach else ("available",)
        if volume.status not in allowed:
            shown = allowed[:2] if volume.multiattach else ("available", "downloading")
            raise bad_request(
                f"Invalid volume: Volume {volume.id} status must be {' or '.join(shown)} "
                f"to reserve, but the current status is {volume.status}."
            )
        attachment = self.rows.add(
            Attachment(
                id=new_id(),
                volume_id=volume.id,
                project_id=volume.project_id,
                instance=instance,
                status="reserved",
                attach_mode=mode or ("ro" if is_readonly(volume) else "rw"),
                device=None,
                host_name=None,
                connector=None,
                attached_at=None,
            )
        )
        if connector is not None:
            self.connect(attachment, connector)
        self._follow_attachments(volume)
        return attachment

    def connect(self, attachment: Attachment, connector: dict[str, Any]) -> Attachment:
        """Set the connector of an attachment; the volume becomes `attaching`."""
        attachment.status = "attaching"
        attachment.connector = connector
        attachment.host_name = connector.get("host")
        attachment.device = connector.get("mountpoint", attachment.device)
        self.rows.save(attachment)
        self._follow_attachments(self.volumes.rows.require(attachment.volume_id))
        return attachment

    def complete(self, attachment: Attachment, device: str | None = None) -> None:
        """The volume is attached; 400 when nothing was attaching."""
        if attachment.status != "attaching":
            raise bad_request(f"Invalid volume: Attachment {attachment.id} is {attachment.status}, not attaching.")
        attachment.status = "attached"
        attachment.attached_at = self.moment()
        attachment.device = device or attachment.device
        self.rows.save(attachment)
        self._follow_attachments(self.volumes.rows.require(attachment.volume_id))

    def remove(self, attachment: Attachment) -> list[Attachment]:
        """Remove an attachment; the remaining attachments of the volume."""
        self.rows.remove(attachment)
        volume = self.volumes.rows.get(attachment.volume_id)
        if volume is None:
            return []
        self._follow_attachments(volume)
        return self.rows.select(volume_id=volume.id)

    def begin_detaching(self, volume: Volume) -> None:
        """A volume is about to be detached; 400 unless it is in use."""
        self._require(volume, ("in-use",), "begin detaching")
        self._set_status(volume, "detaching")

    def roll_detaching(self, volume: Volume) -> None:
        """Undo `begin_detaching`."""
        if volume.status == "detaching":
            self._set_status(volume, "in-use")

    def reserve(self, volume: Volume) -> None:
        """Reserve a volume that will be attached; 400 unless it is available."""
        self._require(volume, ("available", "in-use") if volume.multiattach else ("available",), "reserve")
        self._set_status(volume, "attaching")

    def unreserve(self, volume: Volume) -> None:
        """Give up a reservation."""
        if volume.status in ("attaching", "reserved"):
            self._follow_attachments(volume)

    def attach(
        self, volume: Volume, instance: str | None, host_name: str | None, mountpoint: str, mode: str = "rw"
    ) -> None:
        """Attach a volume to a server or a host, as the action `os-attach` does."""
        self._require(volume, ("available", "attaching", "reserved", "in-use"), "attach")
        if volume.status == "in-use" and not volume.multiattach:
            raise bad_request(f"Invalid volume: Volume {volume.id} is attached already.")
        if is_readonly(volume) and mode == "rw":
            raise bad_request("Invalid volume: Invalid attaching mode 'rw' for a read-only volume.")
        attachment = self.rows.add(
            Attachment(
                id=new_id(),
                volume_id=volume.id,
                project_id=volume.project_id,
                instance=instance,
                status="attaching",
                attach_mode=mode,
                device=mountpoint,
                host_name=host_name,
                connector=None,
                attached_at=None,
            )
        )
        self._set_status(volume, "attaching")
        self.after(SHORT, self.finish_attach, attachment.id)

    def finish_attach(self, attachment_id: str) -> None:
        attachment = self.rows.get(attachment_id)
        if attachment is not None and attachment.status == "attaching":
            self.complete(attachment)

    def detach(self, volume: Volume, attachment_id: str | None, force: bool = False) -> None:
        """Detach one attachment, or the only one; a volume without attachments is available.

        Raises: ApiError 400 for an unknown attachment, or, unless `force`, while the volume is in maintenance.
        """
        if volume.status == "maintenance" and not force:
            raise bad_request(f"Invalid volume: Unable to detach volume {volume.id} in maintenance.")
        own = self.rows.select(volume_id=volume.id)
        gone = [row for row in own if attachment_id in (None, row.id)]
        if attachment_id is not None and not gone:
            raise bad_request(f"Invalid volume: Volume {volume.id} has no attachment {attachment_id}.")
        if len(gone) > 1:
            raise bad_request("Invalid volume: Volume is attached to more than one server: name the attachment.")
        if not gone:
            return
        self._set_status(volume, "detaching")
        self.after(SHORT, self.finish_detach, volume.id, [row.id for row in gone])

    def finish_detach(self, volume_id: str, attachment_ids: list[str]) -> None:
        for attachment_id in attachment_ids:
            if (attachment := self.rows.get(attachment_id)) is not None:
                self.rows.remove(attachment)
        volume = self.volumes.rows.get(volume_id)
        if volume is not None and volume.status == "detaching":
            self._follow_attachments(volume)

    def connection_info(self, volume: Volume) -> Connection:
        """How a host reaches a volume: the iSCSI target of the back end."""
        return Connection(
            "iscsi",
            {
                "target_discovered": False,
                "target_iqn": f"iqn.2010-10.org.openstack:volume-{volume.id}",
                "target_portal": "127.0.0.1:3260",
                "target_lun": 0,
                "volume_id": volume.id,
                "access_mode": "ro" if is_readonly(volume) else "rw",
                "encrypted": volume.encrypted,
                "qos_specs": None,
            },
        )

    def find(self, context: Context, attachment_id: str) -> Attachment:
        """An attachment the caller may see; 404 otherwise."""
        return visible(self.rows, context, attachment_id)

    def refuse_behind_server(self, attachments: list[Attachment]) -> None:
        """409 while Nova uses one of the attachments: it must be detached through the compute API."""
        devices = self.cloud.table_of("nova", "block_devices")
        for row in attachments:
            if devices is not None and devices.first(volume_id=row.volume_id, attachment_id=row.id) is not None:
                raise conflict(f"Detach volume from instance {row.instance} using the Compute API")

    def _follow_attachments(self, volume: Volume) -> None:
        """Set the status of a volume that follows from its attachments."""
        statuses = {row.status for row in self.rows.select(volume_id=volume.id)}
        order = (("attached", "in-use"), ("attaching", "attaching"), ("reserved", "reserved"))
        self._set_status(volume, next((status for held, status in order if held in statuses), "available"))

    def _set_status(self, volume: Volume, status: str) -> None:
        volume.status, volume.updated_at = status, self.moment()
        self.volumes.rows.save(volume)

    def _require(self, volume: Volume, statuses: tuple[str, ...], action: str) -> None:
        if volume.status not in statuses:
            raise refused(volume, statuses, action)


def refused(volume: Volume, statuses: tuple[str, ...], action: str) -> ApiError:
    """The 400 for an action on a volume in another status."""
    return bad_request(
        f"Invalid volume: Unable to {action} volume {volume.id}: its status must be {' or '.join(statuses)}, "
        f"but it is {volume.status}."
    )


def is_readonly(volume: Volume) -> bool:
    """Whether the volume can only be read."""
    return volume.metadata.get("readonly") == "True"
