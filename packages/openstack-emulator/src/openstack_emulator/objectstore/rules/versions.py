"""Old versions of objects, in the container that another one names for them."""

from __future__ import annotations

from urllib.parse import unquote

from openstack_emulator.core.store import Table
from openstack_emulator.objectstore.records import Container, StoredObject
from openstack_emulator.objectstore.rules.errors import refused
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.objects import Objects
from openstack_emulator.objectstore.rules.times import VersionClock, timestamp

STACK, HISTORY = "x-versions-location", "x-history-location"
"""The headers that name the container: one whose newest version comes back, and one that keeps all."""
DELETED = NewObject(content_type="application/x-deleted;swift_versions_deleted=1")
"""The marker that a history keeps for a deleted object."""


class Versions:
    """Keeps versions of objects that are replaced or deleted."""

    def __init__(self, containers: Table[Container], objects: Objects, ticks: VersionClock) -> None:
        self._containers, self._objects, self._ticks = containers, objects, ticks

    def keep(self, container: Container, name: str) -> None:
        """Move the object that is about to be replaced into the container for old versions, if there is one.

        Raises: ApiError 412 when that container is missing.
        """
        target = self._target(container)
        current = self._objects.find(container, name)
        if target is not None and current is not None:
            self._objects.move(current, target, _version_name(name, current.modified))

    def note_deletion(self, container: Container, name: str) -> None:
        """Keep an object in the history, and the marker of its deletion. Raises ApiError 412."""
        target = self._target(container)
        self.keep(container, name)
        if target is not None:
            self._objects.store(target, _version_name(name, self._ticks.tick()), b"", DELETED)

    def newest(self, container: Container, name: str) -> StoredObject | None:
        """The version that comes back when an object is deleted, if any. Raises ApiError 412."""
        target = self._target(container) if STACK in container.headers else None
        prefix = _version_name(name)
        versions = [] if target is None else self._objects.of(target)
        return next((row for row in reversed(versions) if row.name.startswith(prefix)), None)

    def _target(self, container: Container) -> Container | None:
        location = container.headers.get(STACK) or container.headers.get(HISTORY)
        if location is None:
            return None
        target = self._containers.get(f"{container.account}/{unquote(location).strip('/')}")
        if target is None:
            raise refused(412)
        return target


def _version_name(name: str, modified: float | None = None) -> str:
    return f"{len(name):03x}{name}/" + ("" if modified is None else timestamp(modified))
