"""What Swift keeps: accounts, containers and objects; quotas, expiry, and old versions of objects."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from openstack_emulator.core.cloud import Cloud, Records, new_hex_id
from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.conditions import http_date
from openstack_emulator.objectstore.errors import constrained, explained, refused
from openstack_emulator.objectstore.metadata import ACCOUNT_QUOTAS, is_number

LONGEST_CONTAINER_NAME = 256
LONGEST_OBJECT_NAME = 1024
DELETED = "application/x-deleted;swift_versions_deleted=1"
"""Content type of the marker that a history keeps for a deleted object."""
TICK = 0.00001
"""Resolution of Swift's timestamps in seconds."""


class ObjectStoreRecords(Records):
    """Accounts, containers, objects.

    An account is `{id: "AUTH_<project>", project_id, headers, created}`, a container `{id: "<account>/<name>",
    account, name, …}`, an object `{id: "<container id>/<name>", container_id, name, bytes, hash, content_type,
    modified, delete_at, headers, segments, symlink}`. `headers` are those that were sent to be kept, lower-case; times
    are seconds since the epoch. `segments` is the manifest of a static large object, else None; `symlink` is what a
    link leads to, `{account, container, object, hash}`.
    """

    service = "swift"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        missing = lambda key: refused(404)  # noqa: E731
        self.accounts = self.collection("accounts", (), missing)
        self.containers = self.collection("containers", ("account",), missing)
        self.objects = self.collection("objects", ("container_id",), missing)
        self._last_tick = 0.0

    def tick(self) -> float:
        """The time now, later than every time this gave before: it orders the versions of an object."""
        self._last_tick = max(round(self.cloud.clock.now(), 5), round(self._last_tick + TICK, 5))
        return self._last_tick

    def account(self, name: str) -> Record:
        """The account; it comes into being when it is first used."""
        return self.accounts.get(name) or self.accounts.add(
            {"id": name, "project_id": name.partition("_")[2], "headers": {}, "created": self.tick()}
        )

    def containers_of(self, account: str) -> list[Record]:
        return self.containers.select(account=account)

    def container(self, account: str, name: str) -> Record:
        """The container; 404 when there is none."""
        return self.containers.require(f"{account}/{name}")

    def put_container(self, account: str, name: str, headers: Mapping[str, str]) -> tuple[Record, bool]:
        """Make the container, or change its headers; the container and whether it is new."""
        if len(name) > LONGEST_CONTAINER_NAME:
            raise constrained(f"Container name length of {len(name)} longer than {LONGEST_CONTAINER_NAME}")
        known = self.containers.get(f"{account}/{name}")
        if known is not None:
            return self.containers.update(known, headers=dict(headers)), False
        owner = self.account(account)
        made = {
            "id": f"{account}/{name}",
            "account": account,
            "project_id": owner["project_id"],
            "name": name,
            "headers": dict(headers),
            "created": self.tick(),
        }
        return self.containers.add(made), True

    def delete_container(self, container: Record) -> None:
        """Delete an empty container; 409 otherwise."""
        if self.objects_in(container):
            raise refused(409)
        self.containers.remove(container)

    def objects_in(self, container: Record) -> list[Record]:
        """The objects of a container that have not expired, by name."""
        rows = self.objects.select(container_id=container["id"])
        alive = [row for row in rows if not self._expired(row)]
        return sorted(alive, key=lambda row: str(row["name"]))

    def find_object(self, container: Record, name: str) -> Record | None:
        found = self.objects.get(f"{container['id']}/{name}")
        return None if found is None or self._expired(found) else found

    def object(self, container: Record, name: str) -> Record:
        """The object; 404 when there is none."""
        found = self.find_object(container, name)
        if found is None:
            raise refused(404)
        return found

    def data(self, stored: Record) -> bytes:
        """The bytes uploaded under this name (of a large object: none; see `large_objects`)."""
        return self.cloud.store.get_blob(stored["_blob"]) or b""

    def put_object(self, container: Record, name: str, data: bytes, fields: Mapping[str, Any]) -> Record:
        """Store an object; one that it replaces becomes an old version where the container asks for that.

        fields: `content_type` and optionally `headers`, `delete_at`, `segments`, `bytes` and `hash` (these two
        follow from the data unless given), and `expected_hash`, which is not kept.
        Raises: ApiError 422 when the hash is not the expected one, 413 beyond a quota, 412 when the container for
        old versions is missing.
        """
        if len(name.encode()) > LONGEST_OBJECT_NAME:
            raise constrained(f"Object name length of {len(name.encode())} longer than {LONGEST_OBJECT_NAME}")
        described = {
            "bytes": len(data),
            "hash": hashlib.md5(data, usedforsecurity=False).hexdigest(),
            "headers": {},
            "delete_at": None,
            "segments": None,
            "symlink": None,
            **fields,
        }
        if described.pop("expected_hash", described["hash"]) != described["hash"]:
            raise refused(422, {"Last-Modified": http_date(self.cloud.clock.now())})
        self._check_quotas(container, name, described["bytes"])
        self._keep_version(container, name)
        stored = self._store(container, name, data, described)
        self.changed(container, name)
        return stored

    def delete_object(self, container: Record, name: str) -> None:
        """Delete an object: an older version comes back, or a history notes the deletion; 404 when there is none."""
        if "x-history-location" in container["headers"]:
            self.object(container, name)
            target = self._versions_container(container)
            self._keep_version(container, name)
            self._store(target, self._version_name(name, self.tick()), b"", _plain(DELETED))
            return
        stored = self.object(container, name)
        versions = self._versions(container, name) if "x-versions-location" in container["headers"] else []
        self.drop(stored)
        if versions:
            self._move(versions[-1], container, name)
        self.changed(container, name)

    def changed(self, container: Record, name: str) -> None:
        """Called when an object has been stored or deleted."""

    def drop(self, stored: Record) -> None:
        """Remove an object with its data, whatever the container says about versions."""
        self.cloud.store.remove_blob(stored["_blob"])
        self.objects.remove(stored)

    def usage(self, container: Record) -> tuple[int, int]:
        """Number of objects and their bytes."""
        rows = self.objects_in(container)
        return len(rows), sum(row["bytes"] for row in rows)

    def _expired(self, stored: Record) -> bool:
        if stored["delete_at"] is None or stored["delete_at"] > self.cloud.clock.now():
            return False
        self.drop(stored)
        return True

    def _store(self, container: Record, name: str, data: bytes, described: Mapping[str, Any]) -> Record:
        key = f"{container['id']}/{name}"
        old = self.objects.get(key)
        if old is not None:
            self.drop(old)
        blob = f"swift/objects/{new_hex_id()}"
        self.cloud.store.put_blob(blob, data)
        return self.objects.add(
            {
                "id": key,
                "project_id": container["project_id"],
                "container_id": container["id"],
                "name": name,
                "modified": self.tick(),
                **described,
                "_blob": blob,
            }
        )

    def _move(self, stored: Record, container: Record, name: str) -> None:
        """Give an object another place; its data and times stay."""
        self.objects.remove(stored)
        moved = {**stored, "id": f"{container['id']}/{name}", "container_id": container["id"], "name": name}
        self.objects.add(moved)

    def _keep_version(self, container: Record, name: str) -> None:
        """Move the object that is about to be replaced into the container for old versions, if there is one."""
        target = self._versions_container(container)
        current = self.find_object(container, name)
        if target is not None and current is not None:
            self._move(current, target, self._version_name(name, current["modified"]))

    def _versions(self, container: Record, name: str) -> list[Record]:
        """Old versions of an object, oldest first."""
        target = self._versions_container(container)
        prefix = self._version_name(name, None)
        return [row for row in self.objects_in(target) if row["name"].startswith(prefix)]

    def _versions_container(self, container: Record) -> Any:
        headers = container["headers"]
        location = headers.get("x-versions-location") or headers.get("x-history-location")
        if location is None:
            return None
        target = self.containers.get(f"{container['account']}/{unquote(location).strip('/')}")
        if target is None:
            raise refused(412)
        return target

    @staticmethod
    def _version_name(name: str, modified: float | None) -> str:
        return f"{len(name):03x}{name}/" + ("" if modified is None else timestamp(modified))

    def _check_quotas(self, container: Record, name: str, size: int) -> None:
        replaced = self.objects.get(f"{container['id']}/{name}")
        count, used = self.usage(container)
        if replaced is not None:
            count, used = count - 1, used - replaced["bytes"]
        _refuse_beyond(container["headers"].get("x-container-meta-quota-count"), count + 1)
        _refuse_beyond(container["headers"].get("x-container-meta-quota-bytes"), used + size)
        quotas = self.account(container["account"])["headers"].keys() & ACCOUNT_QUOTAS.keys()
        if quotas:
            self._check_account_quotas(container, count + 1, used + size)

    def _check_account_quotas(self, container: Record, count: int, used: int) -> None:
        """Refuse an object that the account may not have, after which the container would hold so much."""
        others = [self.usage(c) for c in self.containers_of(container["account"]) if c["id"] != container["id"]]
        totals = {"count": count + sum(one for one, _ in others), "bytes": used + sum(one for _, one in others)}
        headers = self.account(container["account"])["headers"]
        for name, what in ACCOUNT_QUOTAS.items():
            _refuse_beyond(headers.get(name), totals[what])


def timestamp(seconds: float) -> str:
    """A time as Swift writes it into headers and names."""
    return f"{seconds:016.5f}"


def _plain(content_type: str) -> dict[str, Any]:
    empty = hashlib.md5(b"", usedforsecurity=False).hexdigest()
    nothing = {"delete_at": None, "segments": None, "symlink": None}
    return {"content_type": content_type, "bytes": 0, "hash": empty, "headers": {}, **nothing}


def _refuse_beyond(quota: str | None, wanted: int) -> None:
    if quota is not None and is_number(quota) and wanted > int(quota):
        raise explained(413, "Upload exceeds quota.")
