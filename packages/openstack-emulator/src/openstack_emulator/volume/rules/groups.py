"""Generic volume groups, and snapshots of all volumes of a group at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Attachment, Group, GroupSnapshot, Snapshot, Volume
from openstack_emulator.volume.rules.constants import LONG, SHORT, ZONE
from openstack_emulator.volume.rules.group_types import GroupTypes
from openstack_emulator.volume.rules.inputs import NewGroup, NewSnapshot, NewVolume
from openstack_emulator.volume.rules.snapshots import Snapshots
from openstack_emulator.volume.rules.volumes import Volumes

GROUP_STATUSES = ("creating", "available", "error", "deleting", "error_deleting", "updating")
SETTLED = ("available", "error", "error_deleting")
ADDABLE = ("available", "in-use")
REMOVABLE = ("available", "in-use", "error", "error_deleting")


class Groups(Rules):
    """Groups from their creation to their deletion.

    The tables of groups, group snapshots, snapshots and attachments are read by other rules too.
    """

    def __init__(
        self,
        records: Records,
        rows: Table[Group],
        types: GroupTypes,
        volumes: Volumes,
        group_snapshots: Table[GroupSnapshot],
        snapshots: Table[Snapshot],
        attachments: Table[Attachment],
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._types = types
        self._volumes = volumes
        self._group_snapshots = group_snapshots
        self._snapshots = snapshots
        self._attachments = attachments
        records.deferrable(self.finish_delete_group)

    def volumes_of(self, group: Group) -> list[Volume]:
        """The volumes of a group."""
        return [row for row in self._volumes.rows.select(project_id=group.project_id) if row.group_id == group.id]

    def create(self, context: Context, new_group: NewGroup) -> Group:
        """Begin a group.

        Raises: ApiError 400 for an unknown zone, 404 for an unknown type, 413 beyond the quota.
        """
        if not new_group.volume_types:
            raise bad_request("Invalid input received: volume_types must be provided to create a group.")
        kind = self._types.find(context, new_group.group_type)
        types = [self._volumes.types.find(context, key).id for key in new_group.volume_types]
        zone = new_group.availability_zone or ZONE
        if zone != ZONE:
            raise bad_request(f"Invalid input received: Availability zone '{zone}' is invalid.")
        return self._new_group(context, new_group, kind.id, list(dict.fromkeys(types)))

    def create_from(self, context: Context, new_group: NewGroup) -> Group:
        """Begin a group with copies of all the volumes of a `group_snapshot_id` or a `source_group_id`.

        Raises: ApiError 400 when the source is empty or not available, 404 when it is unknown, 413 beyond a quota.
        """
        if new_group.group_snapshot_id is not None:
            taken = visible(self._group_snapshots, context, new_group.group_snapshot_id)
            source, status = self.rows.require(taken.group_id), taken.status
            snapshots = self._snapshots.select(group_snapshot_id=taken.id)
            copies = [replace(_copy_of(row), snapshot_id=row.id) for row in snapshots]
        else:
            source = visible(self.rows, context, new_group.source_group_id or "")
            status = source.status
            copies = [replace(_copy_of(row), source_volid=row.id) for row in self.volumes_of(source)]
        if status != "available" or not copies:
            raise bad_request("Invalid group: the source must be available and have volumes to make a group from.")
        group = self._new_group(context, new_group, source.group_type, source.volume_types)
        for copy in copies:
            self._volumes.create(context, replace(copy, group_id=group.id))
        return group

    def update(
        self, context: Context, group: Group, changes: Mapping[str, str], joins: list[str], leaves: list[str]
    ) -> None:
        """Set name and description; let volumes (ids) join and leave. 400 when one of them cannot."""
        if (joins or leaves) and group.status != "available":
            raise bad_request(f"Invalid group: Group status must be available, but current status is {group.status}.")
        members = {row.id: row for row in self.volumes_of(group)}
        leaving = [members[key] for key in leaves if key in members and members[key].status in REMOVABLE]
        joining = [self._joinable(context, group, key) for key in joins]
        if len(leaving) < len(leaves):
            raise bad_request(f"Invalid volume: Cannot remove volumes {leaves} from group {group.id}.")
        for row in leaving:
            row.group_id = None
            self._volumes.rows.save(row)
        for row in joining:
            row.group_id = group.id
            self._volumes.rows.save(row)
        self.rows.update(group, **changes)
        if joins or leaves:
            group.status = "updating"
            self.rows.save(group)
            self.records.change_later(SHORT, self.rows, group, {"status": "available"}, {"status": "error"})

    def set_status(self, group: Group, status: str) -> None:
        group.status = status
        self.rows.save(group)

    def delete(self, group: Group, delete_volumes: bool) -> None:
        """Begin to delete a group with its volumes; 400 when it is not empty and they are not to go, or while it or
        one of them is used."""
        members = self.volumes_of(group)
        if members and not delete_volumes:
            raise bad_request(
                f"Invalid group: Group {group.id} is not empty. delete-volumes must be True to delete it."
            )
        if group.status not in (*SETTLED, "creating") or self._group_snapshots.select(group_id=group.id):
            raise bad_request(
                f"Invalid group: Group status must be available or error and it must not have group snapshots, "
                f"but current status is: {group.status}."
            )
        busy = [row.id for row in members if self._attachments.first(volume_id=row.id) is not None]
        if busy or any(self._snapshots.first(volume_id=row.id) is not None for row in members):
            raise bad_request("Invalid volume: Volume in group is attached or has dependent snapshots.")
        for volume in members:
            volume.status, volume.group_id, volume.updated_at = "deleting", None, self.moment()
            self._volumes.rows.save(volume)
            self.after(SHORT, self._volumes.finish_delete_volume, volume.id)
        group.status = "deleting"
        self.rows.save(group)
        self.after(SHORT, self.finish_delete_group, group.id)

    def finish_delete_group(self, group_id: str) -> None:
        group = self.rows.get(group_id)
        if group is None or group.status != "deleting":
            return
        if group.take_fault() is not None:
            group.status = "error_deleting"
            self.rows.save(group)
        else:
            self.rows.remove(group)

    def _new_group(self, context: Context, new_group: NewGroup, group_type: str, volume_types: list[str]) -> Group:
        self._volumes.quotas.check(context.project, {"groups": 1})
        group = self.rows.add(
            Group(
                id=new_id(),
                name=new_group.name,
                description=new_group.description,
                status="creating",
                project_id=context.project,
                user_id=context.user_id,
                group_type=group_type,
                volume_types=volume_types,
                availability_zone=ZONE,
                group_snapshot_id=new_group.group_snapshot_id,
                source_group_id=new_group.source_group_id,
                created_at=self.moment(),
            )
        )
        self.records.change_later(LONG, self.rows, group, {"status": "available"}, {"status": "error"})
        return group

    def _joinable(self, context: Context, group: Group, key: str) -> Volume:
        """A volume that may join a group; 400 otherwise."""
        volume = self._volumes.rows.get(key)
        fits = (
            volume is not None
            and context.may_see(volume)
            and volume.group_id is None
            and volume.status in ADDABLE
            and volume.volume_type_id in group.volume_types
        )
        if volume is None or not fits:
            raise bad_request(
                f"Invalid volume: Cannot add volume {key} to group {group.id}: it must be a volume of the project, "
                "available or in use, of a type of the group, and in no group."
            )
        return volume


def _copy_of(source: Volume | Snapshot) -> NewVolume:
    """A volume like another, or like the one that a snapshot was taken of."""
    return NewVolume(size=source.size, name=source.name or None, volume_type=source.volume_type_id)


class GroupSnapshots(Rules):
    """Snapshots of all volumes of a group."""

    def __init__(self, records: Records, rows: Table[GroupSnapshot], groups: Groups, snapshots: Snapshots) -> None:
        super().__init__(records)
        self.rows = rows
        self.groups = groups
        self._snapshots = snapshots
        records.deferrable(self.finish_delete_group_snapshot)

    def create(self, context: Context, group: Group, name: str | None, description: str | None) -> GroupSnapshot:
        """Begin snapshots of all volumes of a group; 400 when it is empty or one of its volumes is busy."""
        members = self.groups.volumes_of(group)
        if not members:
            raise bad_request("Invalid group: Source group is empty. No group snapshot will be created.")
        for volume in members:
            if volume.status not in ADDABLE:
                raise bad_request(f"Invalid volume: Volume {volume.id} is {volume.status}, not available.")
        taken = self.rows.add(
            GroupSnapshot(
                id=new_id(),
                name=name,
                description=description,
                status="creating",
                project_id=group.project_id,
                user_id=context.user_id,
                group_id=group.id,
                group_type_id=group.group_type,
                created_at=self.moment(),
            )
        )
        for volume in members:
            new_snapshot = NewSnapshot(name=name, description=description, group_snapshot_id=taken.id)
            self._snapshots.create(context, volume, new_snapshot, force=True)
        self.records.change_later(LONG, self.rows, taken, {"status": "available"}, {"status": "error"})
        return taken

    def set_status(self, taken: GroupSnapshot, status: str) -> None:
        taken.status = status
        self.rows.save(taken)

    def delete(self, taken: GroupSnapshot) -> None:
        """Begin to delete a group snapshot with its snapshots; 400 while it is in use or a group is created from it."""
        if taken.status not in SETTLED:
            raise bad_request(f"Invalid group snapshot: its status must be available or error, not {taken.status}.")
        if self.groups.rows.first(group_snapshot_id=taken.id, status="creating") is not None:
            raise bad_request("Invalid group snapshot: a group is being created from it.")
        for snapshot in self._snapshots.rows.select(group_snapshot_id=taken.id):
            snapshot.status = "deleting"
            self._snapshots.rows.save(snapshot)
            self.after(SHORT, self._snapshots.finish_delete_snapshot, snapshot.id)
        taken.status = "deleting"
        self.rows.save(taken)
        self.after(SHORT, self.finish_delete_group_snapshot, taken.id)

    def finish_delete_group_snapshot(self, key: str) -> None:
        taken = self.rows.get(key)
        if taken is not None and taken.status == "deleting":
            self.rows.remove(taken)
