"""Types of volume groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Group, GroupType

MIGRATED_TYPE = "default_cgsnapshot_type"


class GroupTypes(Rules):
    """Group types.

    groups: the table of groups: a type that groups have cannot be deleted.
    """

    def __init__(self, records: Records, groups: Table[Group]) -> None:
        super().__init__(records)
        self.rows = records.table("group_types", GroupType, "name")
        self._groups = groups

    def seed(self) -> None:
        """The type that every Cinder has, to which former consistency groups were migrated."""
        specs = {"consistent_group_snapshot_enabled": "<is> True"}
        self.create(MIGRATED_TYPE, "Default group type for migrating cgsnapshot", True, specs)

    def create(self, name: str, description: str | None, is_public: bool, group_specs: dict[str, str]) -> GroupType:
        """A new group type; 409 when the name is taken."""
        self._refuse_taken(name)
        return self.rows.add(
            GroupType(id=new_id(), name=name, description=description, is_public=is_public, group_specs=group_specs)
        )

    def update(self, kind: GroupType, changes: Mapping[str, Any]) -> GroupType:
        """Set name, description and is_public; 409 when the name is taken."""
        if (name := changes.get("name", kind.name)) != kind.name:
            self._refuse_taken(name)
        return self.rows.update(kind, **changes)

    def delete(self, kind: GroupType) -> None:
        """Delete a group type; 400 while groups are of it."""
        if self._groups.first(group_type=kind.id) is not None:
            raise bad_request("Target group type is still in use.")
        self.rows.remove(kind)

    def find(self, context: Context, key: str) -> GroupType:
        """A group type the caller may see, by id or name; 404 when there is none."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None or not (found.is_public or context.is_admin):
            raise not_found(f"Group type {key} could not be found.")
        return found

    def _refuse_taken(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"Group Type {name} already exists.")
