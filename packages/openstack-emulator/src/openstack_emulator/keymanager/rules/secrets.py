"""Secrets: their metadata in records, their payloads apart from them, and the rules for both."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.core.validation import fields
from openstack_emulator.keymanager.records import Secret
from openstack_emulator.keymanager.rules.guarded import GuardedObjects
from openstack_emulator.keymanager.rules.inputs import Content, NewSecret
from openstack_emulator.keymanager.rules.quotas import Quotas
from openstack_emulator.keymanager.rules.times import SECONDS

LARGEST_PAYLOAD = 20_000
"""Bytes."""


class Secrets(GuardedObjects[Secret]):
    """The secrets of all projects."""

    def __init__(self, records: Records, quotas: Quotas) -> None:
        super().__init__(records, "Secret", records.table("secrets", Secret, "project_id", missing=_missing))
        self._quotas = quotas

    def require(self, key: str) -> Secret:
        record = self.rows.require(key)
        if self._has_expired(record):
            raise self.rows.missing(key)
        return record

    def of_project(self, project_id: str) -> list[Secret]:
        """The project's secrets, without those that have expired."""
        return [row for row in self.rows.select(project_id=project_id) if not self._has_expired(row)]

    def create(self, project_id: str, creator_id: str, new_secret: NewSecret, content: Content | None) -> Secret:
        """Add a secret with a payload or, for the second step, without one. Raises ApiError 403 beyond the quota."""
        self._quotas.admit(project_id, "secrets", len(self.of_project(project_id)))
        return self.add(project_id, creator_id, new_secret, content)

    def add(self, project_id: str, creator_id: str, new_secret: NewSecret, content: Content | None) -> Secret:
        """Add a secret whatever the quota is. Raises ApiError 413 for a payload that is too large."""
        now = self.moment()
        record = Secret(
            id=new_id(),
            project_id=project_id,
            creator_id=creator_id,
            acl=None,
            name=new_secret.name,
            status="ACTIVE",
            secret_type=new_secret.secret_type,
            algorithm=new_secret.algorithm,
            bit_length=new_secret.bit_length,
            mode=new_secret.mode,
            expiration=new_secret.expiration,
            created=now,
            updated=now,
            content_type=None,
            metadata={},
        )
        if content is not None:
            self._store(record, content)
        return self.rows.add(record)

    def set_payload(self, record: Secret, content: Content) -> None:
        """Store the payload of a secret that has none yet. Raises ApiError 409."""
        if record.content_type is not None:
            raise conflict("Secret already has data, cannot modify it.")
        self._store(record, content)
        record.updated = self.moment()
        self.rows.save(record)

    def payload(self, record: Secret) -> Content | None:
        """The payload, None while there is none."""
        kind = record.content_type
        data = None if kind is None else self.cloud.store.get_blob(_blob(record))
        return None if data is None or kind is None else Content(data, kind)

    def set_metadata(self, record: Secret, metadata: dict[str, str]) -> None:
        record.metadata = metadata
        self.rows.save(record)

    def remove(self, record: Secret) -> None:
        """Remove a secret with its payload."""
        self.rows.remove(record)
        self.cloud.store.remove_blob(_blob(record))

    def _store(self, record: Secret, content: Content) -> None:
        if len(content.data) > LARGEST_PAYLOAD:
            raise ApiError(413, "Provided information too large to process")
        self.cloud.store.put_blob(_blob(record), content.data)
        record.content_type = content.type

    def _has_expired(self, record: Secret) -> bool:
        return record.expiration is not None and record.expiration <= self.records.now().strftime(SECONDS)


def _missing(key: str) -> ApiError:
    """The 404 for a secret."""
    is_identifier = fields.identifier(key) is None
    return not_found("Secret not found." if is_identifier else "Not Found. Provided secret id is invalid.")


def _blob(record: Secret) -> str:
    return f"key-manager/secrets/{record.id}"
