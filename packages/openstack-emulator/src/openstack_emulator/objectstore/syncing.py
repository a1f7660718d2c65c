"""Containers that send what changes in them to others: `X-Container-Sync-To` with a realm, a cluster and a key."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.errors import explained
from openstack_emulator.objectstore.records import ObjectStoreRecords

REALMS: Mapping[str, tuple[str, ...]] = {"realm1": ("name1",)}
"""The clusters by realm: this store is the only one."""
SYNC_TO = "x-container-sync-to"
PASS = 1.0
"""Seconds until a change is sent."""
SENT = ("bytes", "hash", "content_type", "headers", "delete_at", "segments", "symlink", "modified")


class SyncedRecords(ObjectStoreRecords):
    """The object store with containers that follow each other."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.deferrable(self.send)

    def changed(self, container: Record, name: str) -> None:
        if SYNC_TO in container["headers"]:
            self.after(PASS, self.send, container["id"], name, self.tick())

    def put_container(self, account: str, name: str, headers: Mapping[str, str]) -> tuple[Record, bool]:
        """As always; and a container with a partner sends all it has."""
        container, is_new = super().put_container(account, name, headers)
        if SYNC_TO in container["headers"]:
            for stored in self.objects_in(container):
                self.changed(container, stored["name"])
        return container, is_new

    def send(self, container_id: str, name: str, moment: float) -> None:
        """Bring an object to the partner, or its deletion at `moment`, unless the partner's is as new."""
        source = self.containers.get(container_id)
        target = None if source is None else self._partner(source)
        if source is None or target is None:
            return
        stored, there = self.find_object(source, name), self.find_object(target, name)
        if stored is None:
            if there is not None and there["modified"] < moment:
                self.drop(there)
                self.changed(target, name)
        elif there is None or there["modified"] < stored["modified"]:
            self._store(target, name, self.data(stored), {field: stored[field] for field in SENT})
            self.changed(target, name)

    def _partner(self, source: Record) -> Record | None:
        """The container that follows, if it knows the key."""
        headers = source["headers"]
        account, name = check_partner(headers.get(SYNC_TO)) or ("", "")
        target = self.containers.get(f"{account}/{name}")
        key = headers.get("x-container-sync-key")
        knows = target is not None and key is not None and target["headers"].get("x-container-sync-key") == key
        return target if knows else None


def check_partner(location: str | None) -> tuple[str, str] | None:
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
