"""Containers: named references to secrets, and the consumers that registered their interest in them."""

from __future__ import annotations

from collections.abc import Sequence

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.keymanager.records import Consumer, Container, Entry
from openstack_emulator.keymanager.rules.guarded import GuardedObjects
from openstack_emulator.keymanager.rules.quotas import Quotas
from openstack_emulator.keymanager.rules.secrets import Secrets
from openstack_emulator.keymanager.rules.validation import mismatch

GENERIC, RSA, CERTIFICATE = "generic", "rsa", "certificate"
SCHEMA, REFERENCES = "'Container'", "secret_refs"
REQUIRED = {GENERIC: (), RSA: ("public_key", "private_key"), CERTIFICATE: ("certificate",)}
"""The names of the secrets that a container needs, by its type."""
_ALLOWED = {
    RSA: ("private_key", "public_key", "private_key_passphrase"),
    CERTIFICATE: ("certificate", "private_key", "private_key_passphrase", "intermediates"),
}
_TITLES = {RSA: "RSA", CERTIFICATE: "Certificate"}


class Containers(GuardedObjects[Container]):
    """The containers of all projects."""

    def __init__(self, records: Records, quotas: Quotas, secrets: Secrets) -> None:
        rows = records.table(
            "containers", Container, "project_id", missing=lambda key: not_found("Secrets container not found.")
        )
        super().__init__(records, "Container", rows)
        self._quotas = quotas
        self._secrets = secrets

    def create(
        self, project_id: str, creator_id: str, kind: str, name: str | None, entries: Sequence[Entry]
    ) -> Container:
        """Add a container of entries that have been checked. Raises ApiError 403 beyond the quota."""
        self._quotas.admit(project_id, "containers", len(self.rows.select(project_id=project_id)))
        return self.add(project_id, creator_id, kind, name, entries)

    def add(self, project_id: str, creator_id: str, kind: str, name: str | None, entries: Sequence[Entry]) -> Container:
        """Add a container of entries that have been checked, whatever the quota is."""
        now = self.moment()
        return self.rows.add(
            Container(
                id=new_id(),
                project_id=project_id,
                creator_id=creator_id,
                acl=None,
                type=kind,
                name=name,
                status="ACTIVE",
                created=now,
                updated=now,
                entries=list(entries),
                consumers=[],
            )
        )

    def require_secret(self, context: Context, entry: Entry) -> None:
        """Raise ApiError 404 for an entry whose secret the caller cannot read."""
        try:
            self._secrets.readable(context, entry.secret_id)
        except ApiError:
            raise not_found(f"Secret provided for '{entry.name}' doesn't exist.") from None

    def require_changeable(self, record: Container) -> None:
        """Raise ApiError 400 unless the secrets of a container can be changed."""
        if record.type != GENERIC:
            raise bad_request("Only 'generic' containers can be modified.")

    def add_secret(self, record: Container, entry: Entry) -> None:
        """Add a secret to a container."""
        record.entries = [*record.entries, entry]
        self._save(record)

    def remove_secret(self, record: Container, entry: Entry) -> None:
        """Remove a secret, given by its name and ID, from a container. Raises ApiError 404."""
        remaining = [
            member for member in record.entries if (member.name, member.secret_id) != (entry.name, entry.secret_id)
        ]
        if len(remaining) == len(record.entries):
            raise not_found("Secret provided is not in the container.")
        record.entries = remaining
        self._save(record)

    def add_consumer(self, context: Context, record: Container, name: str, url: str) -> None:
        """Register a consumer; one that is registered already is left as it is. Raises ApiError 403 beyond the
        quota."""
        if any((consumer.name, consumer.url) == (name, url) for consumer in record.consumers):
            return
        owned = self.rows.select(project_id=record.project_id)
        self._quotas.admit(context.project, "consumers", sum(len(container.consumers) for container in owned))
        record.consumers = [*record.consumers, Consumer(id=new_id(), name=name, url=url)]
        self._save(record)

    def remove_consumer(self, record: Container, name: str, url: str) -> None:
        """Undo `add_consumer`. Raises ApiError 404."""
        remaining = [consumer for consumer in record.consumers if (consumer.name, consumer.url) != (name, url)]
        if len(remaining) == len(record.consumers):
            raise not_found("Consumer not found.")
        record.consumers = remaining
        self._save(record)

    def _save(self, record: Container) -> None:
        record.updated = self.moment()
        self.rows.save(record)


def check_entries(kind: str, entries: Sequence[Entry]) -> None:
    """Raise ApiError 400 for entries that a container of this type cannot have. One of any type may be empty."""
    names = [entry.name for entry in entries if entry.name is not None]
    if len(set(names)) < len(names):
        raise _wrong("Duplicate reference names are not allowed")
    if len({entry.secret_id for entry in entries}) < len(entries):
        raise _wrong("Duplicate secret ids are not allowed")
    if kind in _ALLOWED and any(name not in _ALLOWED[kind] for name in names):
        *others, last = (f"'{name}'" for name in _ALLOWED[kind])
        words = f"{', '.join(others)} and {last}"
        raise _wrong(f"only {words} reference names are allowed for {_TITLES[kind]} type")
    if entries and (missing := [name for name in REQUIRED[kind] if name not in names]):
        raise _wrong(f"A container of type '{kind}' requires secrets named {' and '.join(missing)}")
    if "private_key_passphrase" in names and "private_key" not in names:
        raise _wrong("private_key_passphrase requires private_key")


def _wrong(problem: str) -> ApiError:
    return mismatch(SCHEMA, problem, REFERENCES)
