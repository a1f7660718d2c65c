"""Containers that send what changes in them to others: `X-Container-Sync-To` with a realm, a cluster and a key."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.objectstore.records import Container
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.objects import Objects
from openstack_emulator.objectstore.rules.times import VersionClock

REALMS: Mapping[str, tuple[str, ...]] = {"realm1": ("name1",)}
"""The clusters by realm: this store is the only one."""
SYNC_TO, SYNC_KEY = "x-container-sync-to", "x-container-sync-key"
PASS = 1.0
"""Seconds until a change is sent."""


class ContainerSync(Rules):
    """Has containers follow each other."""

    def __init__(self, records: Records, containers: Table[Container], objects: Objects, ticks: VersionClock) -> None:
        super().__init__(records)
        self._containers, self._objects, self._ticks = containers, objects, ticks
        records.deferrable(self.send)

    def send_later(self, container: Container, name: str) -> None:
        """Send an object that was stored or deleted, later, if the container has a partner."""
        if SYNC_TO in container.headers:
            self.after(PASS, self.send, container.id, name, self._ticks.tick())

    def send_all(self, container: Container) -> None:
        """Send all objects of a container, later, if it has a partner."""
        if SYNC_TO in container.headers:
            for stored in self._objects.of(container):
                self.send_later(container, stored.name)

    def send(self, container_id: str, name: str, moment: float) -> None:
        """Bring an object to the partner, or its deletion at `moment`, unless the partner's is as new."""
        source = self._containers.get(container_id)
        target = None if source is None else self._sync_target(source)
        if source is None or target is None:
            return
        stored, there = self._objects.find(source, name), self._objects.find(target, name)
        if stored is None:
            if there is not None and there.modified < moment:
                self._objects.drop(there)
                self.send_later(target, name)
        elif there is None or there.modified < stored.modified:
            sent = NewObject(
                content_type=stored.content_type,
                headers=stored.headers,
                delete_at=stored.delete_at,
                segments=stored.segments,
                symlink=stored.symlink,
                bytes=stored.bytes,
                hash=stored.hash,
            )
            self._objects.store(target, name, self._objects.data(stored), sent, stored.modified)
            self.send_later(target, name)

    def _sync_target(self, source: Container) -> Container | None:
        """The container that follows, if it knows the key."""
        account, name = check_sync_target(source.headers.get(SYNC_TO)) or ("", "")
        target = self._containers.get(f"{account}/{name}")
        key = source.headers.get(SYNC_KEY)
        knows = target is not None and key is not None and target.headers.get(SYNC_KEY) == key
        return target if knows else None


def check_sync_target(location: str | None) -> tuple[str, str] | None:
    """The account and the container that `//realm/cluster/account/container` names; None for none. 400 for others."""
    if not location:
        return None
    parts = unquote(location).split("/", 5)
    if len(parts) != 6 or parts[:2] != ["", ""] or not parts[5]:
        raise explained(400, f"Invalid X-Container-Sync-To {location!r}: give //realm/cluster/account/container.")
    realm, cluster, account, container = parts[2:]
    if cluster not in REALMS.get(realm, ()):
        raise explained(400, f"No cluster endpoint for {realm!r} {cluster!r}")
    return account, container
