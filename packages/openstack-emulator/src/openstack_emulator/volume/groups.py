"""Generic volume groups, and snapshots of all volumes of a group at once."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.volume.group_types import GroupTypes
from openstack_emulator.volume.snapshots import Snapshots
from openstack_emulator.volume.tables import LONG, SHORT, ZONE
from openstack_emulator.volume.volumes import Volumes

GROUP_STATUSES = ("creating", "available", "error", "deleting", "error_deleting", "updating")
SETTLED = ("available", "error", "error_deleting")
ADDABLE = ("available", "in-use")
REMOVABLE = ("available", "in-use", "error", "error_deleting")


class Groups(Component):
    """Groups from their creation to their deletion.

    The collections of groups, group snapshots, snapshots and attachments are read by other components too.
    """

    def __init__(
        self,
        records: Records,
        rows: Collection,
        types: GroupTypes,
        volumes: Volumes,
        group_snapshots: Collection,
        snapshots: Collection,
        attachments: Collection,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._types = types
        self._volumes = volumes
        self._group_snapshots = group_snapshots
        self._snapshots = snapshots
        self._attachments = attachments
        records.deferrable(self.finish_delete_group)

    def volumes_of(self, group: Record) -> list[Record]:
        """The volumes of a group."""
        return [
            row for row in self._volumes.rows.select(project_id=group["project_id"]) if row["group_id"] == group["id"]
        ]

    def create(self, context: Context, wanted: Record) -> Record:
        """Begin a group.

        wanted: name, description, group_type, volume_types (ids or names), availability_zone.

        Raises: ApiError 400 for an unknown zone, 404 for an unknown type, 413 beyond the quota.
        """
        if not wanted["volume_types"]:
            raise bad_request("Invalid input received: volume_types must be provided to create a group.")
        kind = self._types.find(context, wanted["group_type"])
        types = [self._volumes.types.find(context, key)["id"] for key in wanted["volume_types"]]
        zone = wanted.get("availability_zone") or ZONE
        if zone != ZONE:
            raise bad_request(f"Invalid input received: Availability zone '{zone}' is invalid.")
        return self._new_group(context, wanted, kind["id"], list(dict.fromkeys(types)))

    def create_from(self, context: Context, wanted: Record) -> Record:
        """Begin a group with copies of all the volumes of a `group_snapshot_id` or a `source_group_id`.

        Raises: ApiError 400 when the source is empty or not available, 404 when it is unknown, 413 beyond a quota.
        """
        snapshot_id, group_id = wanted.get("group_snapshot_id"), wanted.get("source_group_id")
        if snapshot_id is not None:
            taken = visible(self._group_snapshots, context, snapshot_id)
            source = self.rows.require(taken["group_id"])
            copies = [("snapshot_id", row) for row in self._snapshots.select(group_snapshot_id=snapshot_id)]
            status = taken["status"]
        else:
            source = visible(self.rows, context, group_id or "")
            copies = [("source_volid", row) for row in self.volumes_of(source)]
            status = source["status"]
        if status != "available" or not copies:
            raise bad_request("Invalid group: the source must be available and have volumes to make a group from.")
        origin = {"group_snapshot_id": snapshot_id, "source_group_id": group_id}
        group = self._new_group(context, {**wanted, **origin}, source["group_type"], source["volume_types"])
        for field, row in copies:
            volume_type = row["volume_type_id"]
            copied = {"size": row["size"], "name": row["name"], "volume_type": volume_type, field: row["id"]}
            self._volumes.create(context, {**copied, "group_id": group["id"]})
        return group

    def update(self, context: Context, group: Record, changes: Record, joins: list[str], leaves: list[str]) -> None:
        """Set name and description; let volumes (ids) join and leave. 400 when one of them cannot."""
        if (joins or leaves) and group["status"] != "available":
            raise bad_request(
                f"Invalid group: Group status must be available, but current status is {group['status']}."
            )
        members = {row["id"]: row for row in self.volumes_of(group)}
        leaving = [members.get(key) for key in leaves]
        joining = [self._joinable(context, group, key) for key in joins]
        for row in leaving:
            if row is None or row["status"] not in REMOVABLE:
                raise bad_request(f"Invalid volume: Cannot remove volumes {leaves} from group {group['id']}.")
        for row in leaving:
            self._volumes.rows.update(row or {}, group_id=None)
        for row in joining:
            self._volumes.rows.update(row, group_id=group["id"])
        self.rows.update(group, **changes)
        if joins or leaves:
            self.rows.update(group, status="updating")
            self.records.become(SHORT, self.rows, group, {"status": "available"}, {"status": "error"})

    def delete(self, group: Record, delete_volumes: bool) -> None:
        """Begin to delete a group with its volumes; 400 when it is not empty and they are not to go, or while it or
        one of them is used."""
        members = self.volumes_of(group)
        if members and not delete_volumes:
            raise bad_request(
                f"Invalid group: Group {group['id']} is not empty. delete-volumes must be True to delete it."
            )
        if group["status"] not in (*SETTLED, "creating") or self._group_snapshots.select(group_id=group["id"]):
            raise bad_request(
                f"Invalid group: Group status must be available or error and it must not have group snapshots, "
                f"but current status is: {group['status']}."
            )
        busy = [row["id"] for row in members if self._attachments.first(volume_id=row["id"]) is not None]
        if busy or any(self._snapshots.first(volume_id=row["id"]) is not None for row in members):
            raise bad_request("Invalid volume: Volume in group is attached or has dependent snapshots.")
        for volume in members:
            self._volumes.rows.update(volume, status="deleting", group_id=None, updated_at=self.moment())
            self.after(SHORT, self._volumes.finish_delete_volume, volume["id"])
        self.rows.update(group, status="deleting")
        self.after(SHORT, self.finish_delete_group, group["id"])

    def finish_delete_group(self, group_id: str) -> None:
        group = self.rows.get(group_id)
        if group is None or group["status"] != "deleting":
            return
        if group.pop("_fault", None) is not None:
            self.rows.update(group, status="error_deleting")
        else:
            self.rows.remove(group)

    def _new_group(self, context: Context, wanted: Record, group_type: str, volume_types: list[str]) -> Record:
        self._volumes.quotas.check(context.project, {"groups": 1})
        group = self.rows.add(
            {
                "id": new_id(),
                "name": wanted.get("name"),
                "description": wanted.get("description"),
                "status": "creating",
                "project_id": context.project,
                "user_id": context.user_id,
                "group_type": group_type,
                "volume_types": volume_types,
                "availability_zone": ZONE,
                "group_snapshot_id": wanted.get("group_snapshot_id"),
                "source_group_id": wanted.get("source_group_id"),
                "created_at": self.moment(),
            }
        )
        self.records.become(LONG, self.rows, group, {"status": "available"}, {"status": "error"})
        return group

    def _joinable(self, context: Context, group: Record, key: str) -> Record:
        """A volume that may join a group; 400 otherwise."""
        volume = self._volumes.rows.get(key)
        fits = (
            volume is not None
            and context.may_see(volume)
            and volume["group_id"] is None
            and volume["status"] in ADDABLE
            and volume["volume_type_id"] in group["volume_types"]
        )
        if volume is None or not fits:
            raise bad_request(
                f"Invalid volume: Cannot add volume {key} to group {group['id']}: it must be a volume of the project, "
                "available or in use, of a type of the group, and in no group."
            )
        return volume


class GroupSnapshots(Component):
    """Snapshots of all volumes of a group."""

    def __init__(self, records: Records, rows: Collection, groups: Groups, snapshots: Snapshots) -> None:
        super().__init__(records)
        self.rows = rows
        self.groups = groups
        self._snapshots = snapshots
        records.deferrable(self.finish_delete_group_snapshot)

    def create(self, context: Context, group: Record, wanted: Record) -> Record:
        """Begin snapshots of all volumes of a group; 400 when it is empty or one of its volumes is busy."""
        members = self.groups.volumes_of(group)
        if not members:
            raise bad_request("Invalid group: Source group is empty. No group snapshot will be created.")
        for volume in members:
            if volume["status"] not in ADDABLE:
                raise bad_request(f"Invalid volume: Volume {volume['id']} is {volume['status']}, not available.")
        taken = self.rows.add(
            {
                "id": new_id(),
                "name": wanted.get("name"),
                "description": wanted.get("description"),
                "status": "creating",
                "project_id": group["project_id"],
                "user_id": context.user_id,
                "group_id": group["id"],
                "group_type_id": group["group_type"],
                "created_at": self.moment(),
            }
        )
        named = {key: wanted.get(key) for key in ("name", "description")}
        for volume in members:
            self._snapshots.create(context, volume, {**named, "group_snapshot_id": taken["id"]}, force=True)
        self.records.become(LONG, self.rows, taken, {"status": "available"}, {"status": "error"})
        return taken

    def delete(self, taken: Record) -> None:
        """Begin to delete a group snapshot with its snapshots; 400 while it is in use or a group is created from it."""
        if taken["status"] not in SETTLED:
            raise bad_request(f"Invalid group snapshot: its status must be available or error, not {taken['status']}.")
        if self.groups.rows.first(group_snapshot_id=taken["id"], status="creating") is not None:
            raise bad_request("Invalid group snapshot: a group is being created from it.")
        for snapshot in self._snapshots.rows.select(group_snapshot_id=taken["id"]):
            self._snapshots.rows.update(snapshot, status="deleting")
            self.after(SHORT, self._snapshots.finish_delete_snapshot, snapshot["id"])
        self.rows.update(taken, status="deleting")
        self.after(SHORT, self.finish_delete_group_snapshot, taken["id"])

    def finish_delete_group_snapshot(self, key: str) -> None:
        taken = self.rows.get(key)
        if taken is not None and taken["status"] == "deleting":
            self.rows.remove(taken)
