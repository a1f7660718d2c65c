"""Uploads and deletions of objects, with what containers ask for: quotas, versions, partners."""

from __future__ import annotations

from openstack_emulator.objectstore.records import Container, StoredObject
from openstack_emulator.objectstore.rules.errors import constrained, refused
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.objects import Objects, hash_of
from openstack_emulator.objectstore.rules.quotas import Quotas
from openstack_emulator.objectstore.rules.syncing import ContainerSync
from openstack_emulator.objectstore.rules.times import VersionClock, http_date
from openstack_emulator.objectstore.rules.versions import HISTORY, Versions

LONGEST_NAME = 1024


class Uploads:
    """Puts objects into containers, and deletes them."""

    def __init__(
        self, objects: Objects, quotas: Quotas, versions: Versions, syncing: ContainerSync, ticks: VersionClock
    ) -> None:
        self._objects, self._quotas, self._versions = objects, quotas, versions
        self._syncing, self._ticks = syncing, ticks

    def put(self, container: Container, name: str, data: bytes, new: NewObject) -> StoredObject:
        """Store an object; one that it replaces becomes an old version where the container asks for that.

        Raises: ApiError 422 when the hash is not the expected one, 413 beyond a quota, 412 when the container for
        old versions is missing.
        """
        if (length := len(name.encode())) > LONGEST_NAME:
            raise constrained(f"Object name length of {length} longer than {LONGEST_NAME}")
        if new.expected_hash is not None and new.expected_hash != (new.hash or hash_of(data)):
            raise refused(422, {"Last-Modified": http_date(self._ticks.now())})
        self._quotas.admit(container, name, len(data) if new.bytes is None else new.bytes)
        self._versions.keep(container, name)
        stored = self._objects.store(container, name, data, new)
        self._syncing.send_later(container, name)
        return stored

    def delete(self, container: Container, name: str) -> None:
        """Delete an object: an older version comes back, or a history notes the deletion. Raises ApiError 404, 412."""
        stored = self._objects.require(container, name)
        if HISTORY in container.headers:
            self._versions.note_deletion(container, name)
            return
        older = self._versions.newest(container, name)
        self._objects.drop(stored)
        if older is not None:
            self._objects.move(older, container, name)
        self._syncing.send_later(container, name)
