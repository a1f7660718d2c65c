"""Records in memory, kept in a file when there is one.

A record is a JSON object with an `id`; keys that begin with `_` are the emulator's own and are never shown
to clients. Every change goes through a collection (`add`, `update`, `save`, `remove`); `Store.flush` then writes
all that changed as one transaction. SQLite in WAL mode without a sync per commit: what was flushed survives
`kill -9` of the emulator, but a power failure may lose the last moments; the file stays consistent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.upgrades import StateUnusable, upgrade

Record = dict[str, Any]
Key = tuple[str, str, str]
ABSENT = object()

SCHEMA = """
CREATE TABLE IF NOT EXISTS record (
    service TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL,
    UNIQUE (service, collection, id));
CREATE TABLE IF NOT EXISTS blob (id TEXT PRIMARY KEY, data BLOB NOT NULL);
"""
SAVE = (
    "INSERT INTO record (service, collection, id, data) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (service, collection, id) DO UPDATE SET data = excluded.data"
)
FORGET = "DELETE FROM record WHERE service = ? AND collection = ? AND id = ?"


class Collection:
    """Records of one kind, in order of creation.

    `indexes` names the fields that `select` finds quickly; `missing` makes the error of `require`.
    An `internal` collection (tokens, pending state changes) is left out of the object count.
    """

    def __init__(
        self,
        store: Store,
        service: str,
        name: str,
        indexes: Iterable[str] = (),
        missing: Callable[[str], ApiError] | None = None,
        internal: bool = False,
    ) -> None:
        self.service = service
        self.name = name
        self.internal = internal
        self._store = store
        self.missing = missing or (lambda key: not_found(f"No {name} record {key} was found."))
        self._records: dict[str, Record] = {}
        self._indexes: dict[str, dict[Any, dict[str, Record]]] = {field: {} for field in indexes}
        self._indexed: dict[str, list[tuple[dict[Any, dict[str, Record]], Any]]] = {}

    def add(self, record: Record) -> Record:
        """Add a new record; ValueError when its id is taken."""
        key = record["id"]
        if key in self._records:
            raise ValueError(f"{self.service}/{self.name} has a record {key} already")
        self._records[key] = record
        self.save(record)
        return record

    def update(self, record: Record, **changes: Any) -> Record:
        """Set fields of a record."""
        record.update(changes)
        self.save(record)
        return record

    def save(self, record: Record) -> None:
        """Note that a record was changed in place. One that has been removed stays removed."""
        if self._records.get(record["id"]) is not record:
            return
        self._store.changed(self, record)
        self._index(record)

    def remove(self, record: Record) -> None:
        """Remove a record; does nothing when it is not there."""
        if self._records.pop(record["id"], None) is not None:
            self._unindex(record["id"])
            self._store.removed(self, record["id"])

    def get(self, key: str) -> Record | None:
        return self._records.get(key)

    def require(self, key: str) -> Record:
        """The record, or the service's own 404."""
        record = self._records.get(key)
        if record is None:
            raise self.missing(key)
        return record

    def select(self, **equals: Any) -> list[Record]:
        """The records whose fields have these values."""
        candidates: Iterable[Record] = self._records.values()
        for field, index in self._indexes.items():
            if field in equals:
                candidates = index.get(equals[field], {}).values()
                break
        wanted = equals.items()
        return [r for r in candidates if all(r.get(field, ABSENT) == value for field, value in wanted)]

    def first(self, **equals: Any) -> Record | None:
        """The oldest record with these values, if any."""
        return next(iter(self.select(**equals)), None)

    def load(self, records: Iterable[Record]) -> None:
        """Add records that are in the file already."""
        for record in records:
            self._records[record["id"]] = record
            self._index(record)

    def _index(self, record: Record) -> None:
        if not self._indexes:
            return
        key = record["id"]
        self._unindex(key)
        places = self._indexed[key] = []
        for field, index in self._indexes.items():
            value = record.get(field)
            index.setdefault(value, {})[key] = record
            places.append((index, value))

    def _unindex(self, key: str) -> None:
        for index, value in self._indexed.pop(key, ()):
            bucket = index[value]
            del bucket[key]
            if not bucket:
                del index[value]

    def __iter__(self) -> Iterator[Record]:
        return iter(list(self._records.values()))

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: object) -> bool:
        return key in self._records


class Store:
    """All collections of one cloud, and the bytes of images and objects (`blobs`).

    `stamp` is a `(service, fields)` pair while a request runs whose objects are to fail: its fields go into every
    record of that service the request adds or changes.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.collections: dict[tuple[str, str], Collection] = {}
        self.stamp: tuple[str, Mapping[str, Any]] | None = None
        self._database = None if path is None else _open(path)
        self._dirty: dict[Key, Record | None] = {}
        self._blobs: dict[str, bytes] = {}
        self._dirty_blobs: dict[str, bytes | None] = {}
        self._stored: dict[tuple[str, str], list[Record]] = {}
        if self._database is not None:
            self._load(self._database)

    def collection(
        self,
        service: str,
        name: str,
        indexes: Iterable[str] = (),
        missing: Callable[[str], ApiError] | None = None,
        internal: bool = False,
    ) -> Collection:
        """Make a collection, filled with what the file holds for it. See `Collection` for the arguments."""
        made = Collection(self, service, name, indexes, missing, internal)
        made.load(self._stored.pop((service, name), ()))
        self.collections[service, name] = made
        return made

    def changed(self, collection: Collection, record: Record) -> None:
        if self.stamp is not None and self.stamp[0] == collection.service:
            record.update(self.stamp[1])
        if self._database is not None:
            self._dirty[collection.service, collection.name, record["id"]] = record

    def removed(self, collection: Collection, key: str) -> None:
        if self._database is not None:
            self._dirty[collection.service, collection.name, key] = None

    def put_blob(self, key: str, data: bytes) -> None:
        """Store bytes under a key of the service's choice (`image/images/<id>`)."""
        if self._database is None:
            self._blobs[key] = data
        else:
            self._dirty_blobs[key] = data

    def get_blob(self, key: str) -> bytes | None:
        if self._database is None:
            return self._blobs.get(key)
        if key in self._dirty_blobs:
            return self._dirty_blobs[key]
        row = self._database.execute("SELECT data FROM blob WHERE id = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def remove_blob(self, key: str) -> None:
        if self._database is None:
            self._blobs.pop(key, None)
        else:
            self._dirty_blobs[key] = None

    def flush(self) -> None:
        """Write everything that changed, as one transaction. Called before a request is answered."""
        if self._database is None or not (self._dirty or self._dirty_blobs):
            return
        saves = [(*key, orjson.dumps(record)) for key, record in self._dirty.items() if record is not None]
        gone = [key for key, record in self._dirty.items() if record is None]
        blobs = [(key, data) for key, data in self._dirty_blobs.items() if data is not None]
        lost = [(key,) for key, data in self._dirty_blobs.items() if data is None]
        with self._database as database:
            database.executemany(SAVE, saves)
            database.executemany(FORGET, gone)
            database.executemany("INSERT OR REPLACE INTO blob (id, data) VALUES (?, ?)", blobs)
            database.executemany("DELETE FROM blob WHERE id = ?", lost)
        self._dirty.clear()
        self._dirty_blobs.clear()

    def close(self) -> None:
        """Flush and close the file."""
        self.flush()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _load(self, database: sqlite3.Connection) -> None:
        rows = database.execute("SELECT service, collection, data FROM record ORDER BY rowid")
        for service, collection, data in rows:
            self._stored.setdefault((service, collection), []).append(orjson.loads(data))


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(SCHEMA)
    except sqlite3.DatabaseError as error:
        raise StateUnusable(f"The state file {path} cannot be opened: {error}.") from error
    upgrade(database, path)
    return database


def public(record: Mapping[str, Any]) -> Record:
    """A record as clients see it."""
    return {key: value for key, value in record.items() if not key.startswith("_")}
