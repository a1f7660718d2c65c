"""Share types: who may use them, and their extra specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.share.records import Share, ShareCapabilities, ShareType

DEFAULT_TYPE = "default"
SERVERS = "driver_handles_share_servers"
"""The extra spec that every share type has: whether the driver creates share servers, in share networks."""
ABILITIES = ("snapshot_support", "create_share_from_snapshot_support", "revert_to_snapshot_support",
             "mount_snapshot_support")  # fmt: skip
"""Boolean extra specs: what can be done with shares of the type."""
SHOWN_TO_ALL = frozenset({SERVERS, *ABILITIES, "replication_type", "availability_zones"})
"""Extra specs that other users than administrators see."""


class ShareTypes(Rules):
    """Share types.

    shares: the table of shares: a type that shares have cannot be deleted.
    """

    def __init__(self, records: Records, shares: Table[Share]) -> None:
        super().__init__(records)
        self.rows = records.table("types", ShareType, "name")
        self._shares = shares

    def seed(self) -> None:
        """A type without share servers, which is the default, and one with them."""
        abilities = dict.fromkeys(ABILITIES[:3], "True")
        self.create(DEFAULT_TYPE, None, True, {SERVERS: "False", **abilities})
        self.create("dhss_true", None, True, {SERVERS: "True", **abilities})

    def create(
        self, name: str, description: str | None, is_public: bool, extra_specs: Mapping[str, object]
    ) -> ShareType:
        """A new type; 409 when the name is taken, 400 for invalid extra specs."""
        self._refuse_taken(name)
        if SERVERS not in extra_specs:
            raise bad_request(f"Invalid extra_spec: Required extra specs '{SERVERS}' not specified.")
        return self.rows.add(
            ShareType(
                id=new_id(),
                name=name,
                description=description,
                is_public=is_public,
                extra_specs=specs_of(extra_specs),
                created_at=self.moment(),
                projects=[],
            )
        )

    def update(self, kind: ShareType, changes: Mapping[str, Any]) -> None:
        """Set name, description and is_public of a type; 409 when the name is taken."""
        name = changes.get("name", kind.name)
        if name != kind.name:
            self._refuse_taken(name)
        self.rows.update(kind, **changes)

    def add_specs(self, kind: ShareType, extra_specs: Mapping[str, object]) -> dict[str, str]:
        """Set extra specs of a type, in place of those with the same keys; 400 for invalid ones."""
        added = specs_of(extra_specs)
        kind.extra_specs = {**kind.extra_specs, **added}
        self.rows.save(kind)
        return added

    def remove_spec(self, kind: ShareType, key: str) -> None:
        """Remove an extra spec; 404 for one that the type does not have, 403 for the one that it must have."""
        if key not in kind.extra_specs:
            raise not_found(f"Share Type {kind.id} has no extra spec with key {key}.")
        if key == SERVERS:
            raise forbidden(f"Extra spec '{key}' can't be deleted.")
        kind.extra_specs = {name: value for name, value in kind.extra_specs.items() if name != key}
        self.rows.save(kind)

    def delete(self, kind: ShareType) -> None:
        """Delete a type; 400 while shares are of it."""
        if self._shares.first(share_type_id=kind.id) is not None:
            raise bad_request("Target share type is still in use.")
        self.rows.remove(kind)

    def usable(self, context: Context) -> list[ShareType]:
        """The types that a project may use."""
        return [kind for kind in self.rows if may_use(kind, context)]

    def by_id(self, context: Context, key: str) -> ShareType:
        """A type the caller may see, by its id only; 404 when there is none."""
        found = self.rows.get(key)
        if found is None or not may_use(found, context):
            raise not_found("Share type not found.")
        return found

    def find(self, context: Context, key: str) -> ShareType:
        """A type the caller may use, by id or name; 404 when there is none."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None or not may_use(found, context):
            raise not_found("Share type not found.")
        return found

    def default(self) -> ShareType:
        """The type of shares that are created without one; 404 when it does not exist."""
        found = self.rows.first(name=DEFAULT_TYPE)
        if found is None:
            raise not_found("Default share type could not be found.")
        return found

    def add_access(self, kind: ShareType, project_id: str) -> None:
        """Let a project use a private type; 409 when it may already, or when the type is public."""
        _refuse_public(kind)
        if project_id in kind.projects:
            raise conflict(f"Share type access for {kind.id} / {project_id} combination already exists.")
        kind.projects = [*kind.projects, project_id]
        self.rows.save(kind)

    def remove_access(self, kind: ShareType, project_id: str) -> None:
        """Remove a project's access to a private type; 404 when it had none, 409 when the type is public."""
        _refuse_public(kind)
        if project_id not in kind.projects:
            raise not_found(f"Share type access not found for {kind.id} / {project_id} combination.")
        kind.projects = [project for project in kind.projects if project != project_id]
        self.rows.save(kind)

    def projects_of(self, kind: ShareType) -> list[str]:
        """The projects that may use a private type; 404 for a public one."""
        if kind.is_public:
            raise not_found("Access list not available for public share types.")
        return list(kind.projects)

    def _refuse_taken(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"Share Type {name} already exists.")


def specs_of(extra_specs: Mapping[str, object]) -> dict[str, str]:
    """Extra specs as strings; 400 for a boolean one with another value."""
    for name, value in extra_specs.items():
        if name in (SERVERS, *ABILITIES) and _boolean(value) is None:
            raise bad_request(f"Invalid extra_spec: {name}: {value!r} is not a boolean.")
    return {name: str(value) for name, value in extra_specs.items()}


def is_able(kind: ShareType, ability: str) -> bool:
    """Whether a boolean extra spec of a type is set."""
    return bool(_boolean(kind.extra_specs.get(ability)))


def abilities_of(kind: ShareType) -> ShareCapabilities:
    """What can be done with new shares of a type."""
    return ShareCapabilities(**{name: is_able(kind, name) for name in ABILITIES})


def may_use(kind: ShareType, context: Context) -> bool:
    """Whether the caller may use a share type."""
    return bool(kind.is_public or context.is_admin or context.project_id in kind.projects)


def _boolean(value: object) -> bool | None:
    """The boolean that `True`, `"true"` or `"<is> True"` means; None for other values."""
    return as_boolean(str(value).removeprefix("<is>").strip())


def _refuse_public(kind: ShareType) -> None:
    if kind.is_public:
        raise conflict(f"Type access modification is not applicable to public share type {kind.id}.")
