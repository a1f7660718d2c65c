"""Objects, as they are stored: those that have expired are gone."""

from __future__ import annotations

import dataclasses
import hashlib

from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.rules import Rules
from openstack_emulator.objectstore.records import Container, StoredObject
from openstack_emulator.objectstore.rules.errors import refused
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.times import VersionClock


class Objects(Rules):
    """The objects of all containers."""

    def __init__(self, records: Records, ticks: VersionClock) -> None:
        super().__init__(records)
        self._ticks = ticks
        self.rows = records.table("objects", StoredObject, "container_id", missing=lambda key: refused(404))

    def of(self, container: Container) -> list[StoredObject]:
        """The objects of a container, by name."""
        rows = self.rows.select(container_id=container.id)
        return sorted((row for row in rows if not self._expired(row)), key=lambda row: row.name)

    def find(self, container: Container, name: str) -> StoredObject | None:
        """The object, if there is one."""
        found = self.rows.get(f"{container.id}/{name}")
        return None if found is None or self._expired(found) else found

    def require(self, container: Container, name: str) -> StoredObject:
        """The object. Raises ApiError 404."""
        found = self.find(container, name)
        if found is None:
            raise refused(404)
        return found

    def _expired(self, stored: StoredObject) -> bool:
        if stored.delete_at is None or stored.delete_at > self._ticks.now():
            return False
        self.drop(stored)
        return True

    def data(self, stored: StoredObject) -> bytes:
        """The bytes uploaded under this name (of a large object: none; see `large_objects`)."""
        return self.cloud.store.get_blob(stored.blob) or b""

    def usage(self, container: Container) -> tuple[int, int]:
        """Number of objects and their bytes."""
        rows = self.of(container)
        return len(rows), sum(row.bytes for row in rows)

    def store(
        self, container: Container, name: str, data: bytes, new: NewObject, modified: float | None = None
    ) -> StoredObject:
        """Store an object in place of one with its name; it is modified now unless the time is given."""
        key = f"{container.id}/{name}"
        old = self.rows.get(key)
        if old is not None:
            self.drop(old)
        blob = f"swift/objects/{new_hex_id()}"
        self.cloud.store.put_blob(blob, data)
        now = self._ticks.tick()
        return self.rows.add(
            StoredObject(
                id=key,
                project_id=container.project_id,
                container_id=container.id,
                name=name,
                modified=now if modified is None else modified,
                bytes=len(data) if new.bytes is None else new.bytes,
                hash=hash_of(data) if new.hash is None else new.hash,
                content_type=new.content_type,
                headers=dict(new.headers),
                delete_at=new.delete_at,
                segments=new.segments,
                symlink=new.symlink,
                blob=blob,
            )
        )

    def describe(self, stored: StoredObject, new: NewObject) -> None:
        """Replace the metadata of an object."""
        stored.content_type, stored.headers, stored.delete_at = new.content_type, dict(new.headers), new.delete_at
        stored.modified = self._ticks.tick()
        self.rows.save(stored)

    def move(self, stored: StoredObject, container: Container, name: str) -> None:
        """Give an object another place, where it replaces what is there; its data and times stay."""
        self.rows.remove(stored)
        if (replaced := self.rows.get(f"{container.id}/{name}")) is not None:
            self.drop(replaced)
        self.rows.add(dataclasses.replace(stored, id=f"{container.id}/{name}", container_id=container.id, name=name))

    def drop(self, stored: StoredObject) -> None:
        """Remove an object with its data, whatever the container says about versions."""
        self.cloud.store.remove_blob(stored.blob)
        self.rows.remove(stored)


def hash_of(data: bytes) -> str:
    """The hash that is the ETag of an object."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
