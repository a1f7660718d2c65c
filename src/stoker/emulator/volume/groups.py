"""Generic volume groups: their types, the groups, and snapshots of all volumes of a group at once."""

from __future__ import annotations

from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import bad_request, conflict, not_found
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.volume.attachments import AttachmentLife
from stoker.emulator.volume.tables import LONG, SHORT, ZONE

MIGRATED_TYPE = "default_cgsnapshot_type"
GROUP_STATUSES = ("creating", "available", "error", "deleting", "error_deleting", "updating")
SETTLED = ("available", "error", "error_deleting")
ADDABLE = ("available", "in-use")
REMOVABLE = ("available", "in-use", "error", "error_deleting")


class GroupLife(AttachmentLife):
    """Group types, groups and group snapshots from their creation to their end."""

    def seed(self) -> None:
        """Every Cinder has the type that consistency groups of old were migrated to."""
        super().seed()
        specs = {"consistent_group_snapshot_enabled": "<is> True"}
        self.create_group_type(MIGRATED_TYPE, "Default group type for migrating cgsnapshot", True, specs)

    def create_group_type(
        self, name: str, description: str | None, is_public: bool, group_specs: dict[str, str]
    ) -> Record:
        """A new group type; 409 when the name is taken."""
        self._refuse_taken_group_type(name)
        kind = {"name": name, "description": description, "is_public": is_public, "group_specs": group_specs}
        return self.group_types.add({"id": new_id(), **kind})

    def update_group_type(self, kind: Record, changes: Record) -> Record:
        """Set name, description and is_public; 409 when the name is another one's."""
        if changes.get("name", kind["name"]) != kind["name"]:
            self._refuse_taken_group_type(changes["name"])
        return self.group_types.update(kind, **changes)

    def delete_group_type(self, kind: Record) -> None:
        """Drop a group type; 400 while groups are of it."""
        if self.groups.first(group_type=kind["id"]) is not None:
            raise bad_request("Target group type is still in use.")
        self.group_types.remove(kind)

    def group_type_for(self, context: Context, key: str) -> Record:
        """A group type the caller may see, by id or name; 404 when there is none."""
        found = self.group_types.get(key) or self.group_types.first(name=key)
        if found is None or not (found["is_public"] or context.is_admin):
            raise not_found(f"Group type {key} could not be found.")
        return found

    def volumes_of(self, group: Record) -> list[Record]:
        return [row for row in self.volumes.select(project_id=group["project_id"]) if row["group_id"] == group["id"]]

    def create_group(self, context: Context, wanted: Record) -> Record:
        """Begin a group.

        wanted: name, description, group_type, volume_types (ids or names), availability_zone.

        Raises: ApiError 400 for an unknown zone, 404 for an unknown type, 413 beyond the quota.
        """
        if not wanted["volume_types"]:
            raise bad_request("Invalid input received: volume_types must be provided to create a group.")
        kind = self.group_type_for(context, wanted["group_type"])
        types = [self.type_for(context, key)["id"] for key in wanted["volume_types"]]
        zone = wanted.get("availability_zone") or ZONE
        if zone != ZONE:
            raise bad_request(f"Invalid input received: Availability zone '{zone}' is invalid.")
        return self._new_group(context, wanted, kind["id"], list(dict.fromkeys(types)))

    def create_group_from(self, context: Context, wanted: Record) -> Record:
        """Begin a group with copies of all the volumes of a `group_snapshot_id` or a `source_group_id`.

        Raises: ApiError 400 when the source is empty or not available, 404 when it is unknown, 413 beyond a quota.
        """
        snapshot_id, group_id = wanted.get("group_snapshot_id"), wanted.get("source_group_id")
        if snapshot_id is not None:
            taken = self.visible(self.group_snapshots, context, snapshot_id)
            source = self.groups.require(taken["group_id"])
            copies = [("snapshot_id", row) for row in self.snapshots.select(group_snapshot_id=snapshot_id)]
            status = taken["status"]
        else:
            source = self.visible(self.groups, context, group_id or "")
            copies = [("source_volid", row) for row in self.volumes_of(source)]
            status = source["status"]
        if status != "available" or not copies:
            raise bad_request("Invalid group: the source must be available and have volumes to make a group from.")
        origin = {"group_snapshot_id": snapshot_id, "source_group_id": group_id}
        group = self._new_group(context, {**wanted, **origin}, source["group_type"], source["volume_types"])
        for field, row in copies:
            volume_type = row["volume_type_id"]
            copied = {"size": row["size"], "name": row["name"], "volume_type": volume_type, field: row["id"]}
            self.create_volume(context, {**copied, "group_id": group["id"]})
        return group

    def update_group(
        self, context: Context, group: Record, changes: Record, joins: list[str], leaves: list[str]
    ) -> None:
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
            self.volumes.update(row or {}, group_id=None)
        for row in joining:
            self.volumes.update(row, group_id=group["id"])
        self.groups.update(group, **changes)
        if joins or leaves:
            self.groups.update(group, status="updating")
            self.become(SHORT, self.groups, group, {"status": "available"}, {"status": "error"})

    def delete_group(self, group: Record, delete_volumes: bool) -> None:
        """Begin to delete a group with its volumes; 400 when it is not empty and they are not to go, or while it or
        one of them is used."""
        members = self.volumes_of(group)
        if members and not delete_volumes:
            raise bad_request(
                f"Invalid group: Group {group['id']} is not empty. delete-volumes must be True to delete it."
            )
        if group["status"] not in (*SETTLED, "creating") or self.group_snapshots.select(group_id=group["id"]):
            raise bad_request(
                f"Invalid group: Group status must be available or error and it must not have group snapshots, "
                f"but current status is: {group['status']}."
            )
        busy = [row["id"] for row in members if self.attachments.first(volume_id=row["id"]) is not None]
        if busy or any(self.snapshots.first(volume_id=row["id"]) is not None for row in members):
            raise bad_request("Invalid volume: Volume in group is attached or has dependent snapshots.")
        for volume in members:
            self.volumes.update(volume, status="deleting", group_id=None, updated_at=self.moment())
            self.after(SHORT, self.finish_delete_volume, volume["id"])
        self.groups.update(group, status="deleting")
        self.after(SHORT, self.finish_delete_group, group["id"])

    def finish_delete_group(self, group_id: str) -> None:
        group = self.groups.get(group_id)
        if group is None or group["status"] != "deleting":
            return
        if group.pop("_fault", None) is not None:
            self.groups.update(group, status="error_deleting")
        else:
            self.groups.remove(group)

    def create_group_snapshot(self, context: Context, group: Record, wanted: Record) -> Record:
        """Begin snapshots of all volumes of a group; 400 when it is empty or one of its volumes is busy."""
        members = self.volumes_of(group)
        if not members:
            raise bad_request("Invalid group: Source group is empty. No group snapshot will be created.")
        for volume in members:
            if volume["status"] not in ADDABLE:
                raise bad_request(f"Invalid volume: Volume {volume['id']} is {volume['status']}, not available.")
        taken = self.group_snapshots.add(
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
            self.create_snapshot(context, volume, {**named, "group_snapshot_id": taken["id"]}, force=True)
        self.become(LONG, self.group_snapshots, taken, {"status": "available"}, {"status": "error"})
        return taken

    def delete_group_snapshot(self, taken: Record) -> None:
        """Begin to delete a group snapshot and what it consists of; 400 while it is busy or a group is made of it."""
        if taken["status"] not in SETTLED:
            raise bad_request(f"Invalid group snapshot: its status must be available or error, not {taken['status']}.")
        if self.groups.first(group_snapshot_id=taken["id"], status="creating") is not None:
            raise bad_request("Invalid group snapshot: a group is being created from it.")
        for snapshot in self.snapshots.select(group_snapshot_id=taken["id"]):
            self.snapshots.update(snapshot, status="deleting")
            self.after(SHORT, self.finish_delete_snapshot, snapshot["id"])
        self.group_snapshots.update(taken, status="deleting")
        self.after(SHORT, self.finish_delete_group_snapshot, taken["id"])

    def finish_delete_group_snapshot(self, key: str) -> None:
        taken = self.group_snapshots.get(key)
        if taken is not None and taken["status"] == "deleting":
            self.group_snapshots.remove(taken)

    def _new_group(self, context: Context, wanted: Record, group_type: str, volume_types: list[str]) -> Record:
        self.check_quota(context.project, {"groups": 1})
        group = self.groups.add(
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
        self.become(LONG, self.groups, group, {"status": "available"}, {"status": "error"})
        return group

    def _joinable(self, context: Context, group: Record, key: str) -> Record:
        """A volume that may join a group; 400 otherwise."""
        volume = self.volumes.get(key)
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

    def _refuse_taken_group_type(self, name: str) -> None:
        if self.group_types.first(name=name) is not None:
            raise conflict(f"Group Type {name} already exists.")
