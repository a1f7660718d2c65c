"""Types of volume groups."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record

MIGRATED_TYPE = "default_cgsnapshot_type"


class GroupTypes(Component):
    """Group types.

    groups: the collection of groups: a type that groups have cannot be deleted.
    """

    def __init__(self, records: Records, groups: Collection) -> None:
        super().__init__(records)
        self.rows = records.table("group_types", "name")
        self._groups = groups

    def seed(self) -> None:
        """The type that every Cinder has, to which former consistency groups were migrated."""
        specs = {"consistent_group_snapshot_enabled": "<is> True"}
        self.create(MIGRATED_TYPE, "Default group type for migrating cgsnapshot", True, specs)

    def create(self, name: str, description: str | None, is_public: bool, group_specs: dict[str, str]) -> Record:
        """A new group type; 409 when the name is taken."""
        self._refuse_taken(name)
        kind = {"name": name, "description": description, "is_public": is_public, "group_specs": group_specs}
        return self.rows.add({"id": new_id(), **kind})

    def update(self, kind: Record, changes: Record) -> Record:
        """Set name, description and is_public; 409 when the name is taken."""
        if changes.get("name", kind["name"]) != kind["name"]:
            self._refuse_taken(changes["name"])
        return self.rows.update(kind, **changes)

    def delete(self, kind: Record) -> None:
        """Delete a group type; 400 while groups are of it."""
        if self._groups.first(group_type=kind["id"]) is not None:
            raise bad_request("Target group type is still in use.")
        self.rows.remove(kind)

    def find(self, context: Context, key: str) -> Record:
        """A group type the caller may see, by id or name; 404 when there is none."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None or not (found["is_public"] or context.is_admin):
            raise not_found(f"Group type {key} could not be found.")
        return found

    def _refuse_taken(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"Group Type {name} already exists.")
