"""Volume types: who may use them, their extra specs and encryption."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.fields import identifier
from openstack_emulator.volume.records import Encryption, Volume, VolumeType
from openstack_emulator.volume.rules.inputs import NewEncryption

DEFAULT_TYPE = "lvmdriver-1"
FALLBACK_TYPE = "__DEFAULT__"


class VolumeTypes(Rules):
    """Volume types.

    volumes: the table of volumes: a type that volumes have cannot be deleted.
    """

    def __init__(self, records: Records, volumes: Table[Volume]) -> None:
        super().__init__(records)
        self.rows = records.table("types", VolumeType, "name")
        self._volumes = volumes

    def seed(self) -> None:
        """The types of a DevStack."""
        self.create(FALLBACK_TYPE, "Default Volume Type", True)
        self.create(DEFAULT_TYPE, None, True, {"volume_backend_name": DEFAULT_TYPE})

    def create(
        self, name: str, description: str | None, is_public: bool, extra_specs: dict[str, str] | None = None
    ) -> VolumeType:
        """A new type; 409 when the name is taken."""
        self._refuse_taken(name)
        return self.rows.add(
            VolumeType(
                id=new_id(),
                name=name,
                description=description,
                is_public=is_public,
                extra_specs=dict(extra_specs or {}),
                qos_specs_id=None,
                projects=[],
                encryption=None,
            )
        )

    def update(self, kind: VolumeType, changes: Mapping[str, Any]) -> VolumeType:
        """Set name, description and is_public of a type; 409 when the name is taken."""
        if (name := changes.get("name", kind.name)) != kind.name:
            self._refuse_taken(name)
        return self.rows.update(kind, **changes)

    def delete(self, kind: VolumeType) -> None:
        """Delete a type; 400 while volumes are of it or when it is the default."""
        if kind.name in (DEFAULT_TYPE, FALLBACK_TYPE):
            raise bad_request(f"The volume type {kind.id} is a default volume type and cannot be deleted.")
        if self.is_used(kind):
            raise bad_request("Target volume type is still in use.")
        self.rows.remove(kind)

    def is_used(self, kind: VolumeType) -> bool:
        """Whether there are volumes of this type."""
        return any(row.volume_type_id == kind.id for row in self._volumes)

    def usable(self, context: Context) -> list[VolumeType]:
        """The types that a project may use."""
        return [kind for kind in self.rows if may_use(kind, context)]

    def find(self, context: Context, key: str) -> VolumeType:
        """A type the caller may use, by id or name; 404 when there is none."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None or not may_use(found, context):
            called = "" if identifier(key) is None else "with name "
            raise not_found(f"Volume type {called}{key} could not be found.")
        return found

    def by_id(self, context: Context, key: str) -> VolumeType:
        """A type the caller may see, by its id only; 404 when there is none."""
        found = self.rows.require(key)
        if not may_use(found, context):
            raise not_found(f"Volume type {key} could not be found.")
        return found

    def default(self) -> VolumeType:
        """The type of volumes that are created without one."""
        found = self.rows.first(name=DEFAULT_TYPE) or self.rows.first(name=FALLBACK_TYPE)
        if found is None:
            raise ApiError(500, "There is no default volume type.")
        return found

    def add_access(self, kind: VolumeType, project_id: str) -> None:
        """Let a project use a private type; 409 when it may already."""
        _refuse_public(kind)
        if project_id in kind.projects:
            raise conflict(f"Volume type access for {kind.id} / {project_id} combination already exists.")
        kind.projects = [*kind.projects, project_id]
        self.rows.save(kind)

    def remove_access(self, kind: VolumeType, project_id: str) -> None:
        """Remove a project's access to a private type; 404 when it had none."""
        _refuse_public(kind)
        if project_id not in kind.projects:
            raise not_found(f"Volume type access not found for {kind.id} / {project_id} combination.")
        kind.projects = [project for project in kind.projects if project != project_id]
        self.rows.save(kind)

    def projects_of(self, kind: VolumeType) -> list[str]:
        """The projects that may use a private type; 404 for a public one."""
        if kind.is_public:
            raise not_found("Access list not available for public volume types.")
        return list(kind.projects)

    def set_encryption(self, kind: VolumeType, new_encryption: NewEncryption) -> Encryption:
        """Encrypt the volumes of a type; 400 when it is encrypted already or has volumes."""
        if kind.encryption is not None:
            raise bad_request(f"Volume type encryption for type {kind.id} already exists.")
        self._refuse_encryption_of_used(kind)
        encryption = Encryption(
            volume_type_id=kind.id,
            encryption_id=new_id(),
            cipher=new_encryption.cipher,
            key_size=new_encryption.key_size,
            control_location=new_encryption.control_location or "front-end",
            provider=new_encryption.provider,
            created_at=self.moment(),
            updated_at=None,
            deleted_at=None,
            deleted=False,
        )
        kind.encryption = encryption
        self.rows.save(kind)
        return encryption

    def update_encryption(self, kind: VolumeType, encryption_id: str, changes: Mapping[str, Any]) -> None:
        """Change the encryption of a type; 400 while it has volumes, 404 when it is not encrypted."""
        current = self.encryption_for(kind, encryption_id)
        self._refuse_encryption_of_used(kind)
        kind.encryption = replace(current, **changes, updated_at=self.moment())
        self.rows.save(kind)

    def delete_encryption(self, kind: VolumeType, encryption_id: str) -> None:
        """Stop encrypting; 400 while the type has volumes, 404 when it is not encrypted."""
        self.encryption_for(kind, encryption_id)
        self._refuse_encryption_of_used(kind)
        kind.encryption = None
        self.rows.save(kind)

    def encryption_for(self, kind: VolumeType, encryption_id: str) -> Encryption:
        """The encryption of a type; clients use `provider` in place of the id."""
        current = kind.encryption
        if current is None or encryption_id not in (current.encryption_id, "provider"):
            raise not_found(f"Volume type encryption for type {kind.id} does not exist.")
        return current

    def _refuse_taken(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"Volume Type {name} already exists.")

    def _refuse_encryption_of_used(self, kind: VolumeType) -> None:
        if self.is_used(kind):
            raise bad_request(f"Cannot create or change the encryption of volume type {kind.id}: it is in use.")


def may_use(kind: VolumeType, context: Context) -> bool:
    """Whether the caller may use a volume type."""
    return kind.is_public or context.is_admin or context.project_id in kind.projects


def _refuse_public(kind: VolumeType) -> None:
    if kind.is_public:
        raise bad_request("Invalid volume type: Type access modification is not applicable to public volume type.")
