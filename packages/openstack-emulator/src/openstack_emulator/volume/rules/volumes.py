"""Volumes: created, changed and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.guests.driver import IMAGE
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Attachment, Group, Snapshot, Transfer, Volume, VolumeType
from openstack_emulator.volume.rules.backend import Backend
from openstack_emulator.volume.rules.constants import COPY, LONG, SHORT, ZONE
from openstack_emulator.volume.rules.inputs import NewVolume
from openstack_emulator.volume.rules.messages import NO_BACKEND, Messages
from openstack_emulator.volume.rules.quotas import Quotas
from openstack_emulator.volume.rules.sources import Source, Sources, size_of
from openstack_emulator.volume.rules.types import VolumeTypes

DELETABLE = ("available", "error", "error_restoring", "error_extending", "error_managing")
STATUSES = (
    "creating",
    "available",
    "deleting",
    "error",
    "error_deleting",
    "error_managing",
    "managing",
    "attaching",
    "in-use",
    "detaching",
    "maintenance",
    "restoring-backup",
    "error_restoring",
    "reserved",
    "awaiting-transfer",
    "backing-up",
    "error_backing-up",
    "error_extending",
    "downloading",
    "uploading",
    "retyping",
    "extending",
)


@dataclass(frozen=True)
class DependentTables:
    """The tables of records that belong to volumes."""

    attachments: Table[Attachment]
    snapshots: Table[Snapshot]
    transfers: Table[Transfer]
    groups: Table[Group]


class Volumes(Rules):
    """Volumes from their creation to their deletion.

    rows: the table of volumes, which other rules read too. related: the tables that a deletion reads.
    """

    def __init__(
        self,
        records: Records,
        rows: Table[Volume],
        sources: Sources,
        types: VolumeTypes,
        quotas: Quotas,
        backend: Backend,
        messages: Messages,
        related: DependentTables,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.types = types
        self.quotas = quotas
        self._sources = sources
        self._backend = backend
        self._messages = messages
        self._related = related
        records.deferrable(self.fail_to_schedule, self.begin_download, self.finish_create, self.finish_delete_volume)

    def supports(self, kind: VolumeType, size: int) -> bool:
        """Whether the back end can have volumes of a type and size."""
        return self._backend.accepts(kind, size)

    def find(self, context: Context, volume_id: str) -> Volume:
        """A volume the caller may see; 404 otherwise."""
        return visible(self.rows, context, volume_id)

    def create(self, context: Context, new_volume: NewVolume) -> Volume:
        """Create a volume, which becomes available later.

        Raises: ApiError 400 for what does not fit, 404 for an unknown source or type, 413 beyond a quota.
        """
        source = self._sources.find(context, new_volume)
        kind = self._type_of_new(context, new_volume, source)
        size = size_of(new_volume.size, source)
        zone = new_volume.availability_zone or ZONE
        if zone != ZONE:
            raise bad_request(f"Availability zone '{zone}' is invalid.")
        self._check_group(context, new_volume, kind)
        self.quotas.check_new_volume(context.project, size, kind)
        volume = self.blank(context, new_volume, kind, size)
        volume.snapshot_id = new_volume.snapshot_id or source.snapshot_id
        volume.content = _content_of(new_volume, volume.snapshot_id)
        volume.bootable = new_volume.image_id is not None or source.bootable
        volume.image_metadata = source.image_metadata
        if new_volume.backup_id is not None:
            volume.metadata = {**source.metadata, "src_backup_id": new_volume.backup_id}
        self.rows.add(volume)
        if not self._backend.accepts(kind, size):
            self.after(SHORT, self.fail_to_schedule, volume.id)
        elif new_volume.image_id is not None:
            self.after(SHORT, self.begin_download, volume.id)
        else:
            self.after(LONG, self.finish_create, volume.id)
        return volume

    def blank(self, context: Context, new_volume: NewVolume, kind: VolumeType, size: int) -> Volume:
        """A new volume, which has not been added to the table yet."""
        return Volume(
            id=new_id(),
            name=new_volume.name,
            description=new_volume.description,
            status="creating",
            size=size,
            project_id=context.project,
            user_id=context.user_id,
            volume_type_id=kind.id,
            availability_zone=ZONE,
            created_at=self.moment(),
            updated_at=None,
            snapshot_id=new_volume.snapshot_id,
            source_volid=new_volume.source_volid,
            bootable=new_volume.bootable,
            encrypted=kind.encryption is not None,
            multiattach=is_multiattach(kind),
            metadata=dict(new_volume.metadata or {}),
            image_metadata={},
            migration_status=None,
            group_id=new_volume.group_id,
            previous=None,
            request_id=new_volume.request_id,
            content=None,
        )

    def fail_to_schedule(self, volume_id: str) -> None:
        """No back end accepts a new volume: it goes to error, with a user message."""
        volume = self.rows.get(volume_id)
        if volume is not None and volume.status == "creating":
            volume.status, volume.updated_at = "error", self.moment()
            self.rows.save(volume)
            self._messages.add(volume, NO_BACKEND)

    def _check_group(self, context: Context, new_volume: NewVolume, kind: VolumeType) -> None:
        """400 for a volume of a type that its group does not support, 404 for an unknown group."""
        group_id = new_volume.group_id
        if group_id is None:
            return
        group = visible(self._related.groups, context, group_id)
        if new_volume.volume_type is None or kind.id not in group.volume_types:
            raise bad_request(
                "Invalid input received: a volume_type that the group supports must be provided when creating a "
                f"volume in group {group_id}."
            )

    def begin_download(self, volume_id: str) -> None:
        """The image is being copied to the new volume."""
        volume = self.rows.get(volume_id)
        if volume is not None and volume.status == "creating":
            volume.status = "downloading"
            self.rows.save(volume)
            self.after(LONG, self.finish_create, volume_id)

    def finish_create(self, volume_id: str) -> None:
        volume, copied = self.rows.get(volume_id), True
        if volume is not None and (content := volume.content) is not None:
            finished = self.cloud.guests.copy(content, f"volume-{volume_id}")
            if finished is None:
                self.after(COPY, self.finish_create, volume_id)
                return
            copied = finished
        self.settle(volume_id, ("creating", "downloading"), "available" if copied else "error", "error")

    def settle(self, volume_id: str, during: tuple[str, ...], good: str, bad: str) -> None:
        """Replace a status of `during` by `good`, or by `bad` when a fault rule demands it; leave any other status."""
        volume = self.rows.get(volume_id)
        if volume is not None and volume.status in during:
            has_fault = volume.take_fault() is not None
            volume.status, volume.updated_at = bad if has_fault else good, self.moment()
            self.rows.save(volume)

    def update(self, volume: Volume, changes: Mapping[str, object]) -> Volume:
        """Set the fields that a request names, such as name, description and metadata."""
        return self.rows.update(volume, **changes, updated_at=self.moment())

    def set_metadata(self, volume: Volume, metadata: dict[str, str]) -> None:
        """Replace a volume's metadata; 400 while it is in maintenance."""
        if volume.status == "maintenance":
            raise bad_request("Invalid volume: Metadata of a volume in maintenance cannot be changed.")
        volume.metadata, volume.updated_at = metadata, self.moment()
        self.rows.save(volume)

    def delete(self, volume: Volume, cascade: bool = False, force: bool = False) -> None:
        """Begin to delete a volume, with its snapshots when `cascade`; `force` whatever its status.

        Raises: ApiError 400 while it is used, has snapshots or awaits a transfer.
        """
        snapshots = self._related.snapshots.select(volume_id=volume.id)
        used = self._related.attachments.first(volume_id=volume.id) is not None
        wrong = volume.status not in DELETABLE or volume.migration_status not in (None, "success", "error")
        if (wrong and not force) or used or (snapshots and not cascade) or volume.group_id:
            raise bad_request(
                f"Invalid volume: Volume status must be {' or '.join(DELETABLE)} and must not be migrating, attached, "
                "belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after "
                "volume transfer."
            )
        for snapshot in snapshots:
            snapshot.status = "deleting"
            self._related.snapshots.save(snapshot)
        volume.status, volume.updated_at = "deleting", self.moment()
        self.rows.save(volume)
        self.after(SHORT, self.finish_delete_volume, volume.id)

    def finish_delete_volume(self, volume_id: str) -> None:
        volume = self.rows.get(volume_id)
        if volume is None or volume.status != "deleting":
            return
        if volume.take_fault() is not None:
            volume.status, volume.updated_at = "error_deleting", self.moment()
            self.rows.save(volume)
            return
        for snapshot in self._related.snapshots.select(volume_id=volume_id):
            self._related.snapshots.remove(snapshot)
            self.cloud.guests.delete_content(f"snapshot-{snapshot.id}")
        for transfer in self._related.transfers.select(volume_id=volume_id):
            self._related.transfers.remove(transfer)
        self.rows.remove(volume)
        self.cloud.guests.delete_content(f"volume-{volume_id}")

    def _type_of_new(self, context: Context, new_volume: NewVolume, source: Source) -> VolumeType:
        if new_volume.volume_type is not None:
            return self.types.find(context, new_volume.volume_type)
        type_of_source = self.types.rows.get(source.volume_type_id or "")
        return self.types.default() if type_of_source is None else type_of_source


def _content_of(new_volume: NewVolume, snapshot_id: str | None) -> str | None:
    """Return the name of what a new volume is a copy of (`GuestDriver.copy_content`)."""
    if snapshot_id is not None:  # also that of an image that was made of a volume
        return f"snapshot-{snapshot_id}"
    if new_volume.image_id is not None:
        return IMAGE
    if new_volume.source_volid is not None:
        return f"volume-{new_volume.source_volid}"
    return None if new_volume.backup_id is None else f"backup-{new_volume.backup_id}"


def is_multiattach(kind: VolumeType) -> bool:
    """Whether volumes of a type can be attached to several servers."""
    return kind.extra_specs.get("multiattach") == "<is> True"
