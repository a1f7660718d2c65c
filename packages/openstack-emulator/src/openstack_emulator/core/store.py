"""Records in memory, kept in a file when there is one.

A record is a `TypedRecord`, in a `Table`; names that begin with `_` are the emulator's own and are never shown to
clients. Every change goes through its table (`add`, `update`, `save`, `remove`); `Store.flush` then writes all that
changed as one transaction. SQLite in WAL mode without a sync per commit: what was flushed survives `kill -9` of the
emulator, but a power failure may lose the last moments; the file stays consistent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.typed import FAULT, Readable, TypedRecord, to_bytes
from openstack_emulator.core.upgrades import StateUnusable, upgrade

Data = dict[str, Any]
"""A record as it is stored."""
Key = tuple[str, str, str]
R = TypeVar("R", bound=Readable)
T = TypeVar("T", bound=TypedRecord)

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


class Table(Generic[T]):
    """Records of one class, in order of creation.

    `indexes` names the fields that `select` finds quickly; `missing` makes the error of `require`.
    `internal` records (tokens, pending state changes) are left out of the object count. `changes` counts what was
    added, changed and removed: what follows from all records is the same while it is.

    Fields that the code knows are set as attributes, and the record is saved; `update` is for those that a request
    names. Both, and `select`, raise AttributeError for a field that the class does not have.
    """

    def __init__(
        self,
        kind: type[T],
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
        self.changes = 0
        self._kind = kind
        self._store = store
        self.missing = missing or (lambda key: not_found(f"No {name} record {key} was found."))
        self._records: dict[str, T] = {}
        self._indexes: dict[str, dict[object, dict[str, T]]] = {field: {} for field in indexes}
        self._indexed: dict[str, list[object]] = {}
        self._places: dict[str, int] = {}
        self._last_place = 0

    def add(self, record: T) -> T:
        """Add a new record; ValueError when its id is taken."""
        key = record.id
        if key in self._records:
            raise ValueError(f"{self.service}/{self.name} has a record {key} already")
        self._records[key] = record
        self.save(record)
        return record

    def update(self, record: T, **changes: Any) -> T:
        """Set fields of a record."""
        for field, value in changes.items():
            setattr(record, field, value)
        self.save(record)
        return record

    def save(self, record: T) -> None:
        """Note that a record was changed in place. One that has been removed stays removed."""
        if self._records.get(record.id) is not record:
            return
        self.changes += 1
        self._store.changed(self, record)
        self._index(record)

    def remove(self, record: T) -> None:
        """Remove a record; does nothing when it is not there."""
        key = record.id
        if self._records.pop(key, None) is not None:
            self.changes += 1
            self._unindex(key)
            self._store.removed(self, key)

    def get(self, key: str) -> T | None:
        return self._records.get(key)

    def require(self, key: str) -> T:
        """The record, or the service's own 404."""
        record = self._records.get(key)
        if record is None:
            raise self.missing(key)
        return record

    def select(self, **equals: object) -> list[T]:
        """The records whose fields have these values, in order of creation."""
        for field, index in self._indexes.items():
            if field in equals:
                found = index.get(equals.pop(field), {}).values()
                return _matching(found, equals) if equals else list(found)
        return _matching(self._records.values(), equals)

    def first(self, **equals: object) -> T | None:
        """The oldest record with these values, if any."""
        return next(iter(self.select(**equals)), None)

    def ids(self) -> list[str]:
        """The ids of all records."""
        return list(self._records)

    def load(self, stored: Iterable[Data]) -> None:
        """Add records that are in the file already. Raises StateUnusable."""
        for data in stored:
            record = self._from_json(data)
            self._records[record.id] = record
            self._index(record)

    def _index(self, record: T) -> None:
        """Put a record where its indexed fields say, if they were changed; the order remains that of creation."""
        if not self._indexes:
            return
        key = record.id
        values = [getattr(record, field) for field in self._indexes]
        if self._indexed.get(key) == values:
            return
        if key not in self._places:
            self._last_place += 1
            self._places[key] = self._last_place
        self._clear_indexes(key)
        self._indexed[key] = values
        for index, value in zip(self._indexes.values(), values, strict=True):
            found = index.setdefault(value, {})
            is_late = bool(found) and self._places[next(reversed(found))] > self._places[key]
            found[key] = record
            if is_late:
                index[value] = dict(sorted(found.items(), key=lambda item: self._places[item[0]]))

    def _unindex(self, key: str) -> None:
        self._clear_indexes(key)
        self._places.pop(key, None)

    def _clear_indexes(self, key: str) -> None:
        if key not in self._indexed:
            return
        for index, value in zip(self._indexes.values(), self._indexed.pop(key), strict=True):
            del index[value][key]
            if not index[value]:
                del index[value]

    def __iter__(self) -> Iterator[T]:
        return iter(list(self._records.values()))

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def to_json(self, record: T) -> Data:
        """A record as it is stored."""
        data = record.to_json()
        return data if record.fault is None else {**data, FAULT: record.fault}

    def _from_json(self, data: Data) -> T:
        """The record that was stored. Raises StateUnusable."""
        try:
            record = self._kind.from_json(data)
        except KeyError as error:
            raise StateUnusable(
                f"The state file has {data.get('id')} of {self.service}/{self.name} without the field {error}. "
                "Use the release that wrote it, or another file."
            ) from None
        record.fault = data.get(FAULT)
        return record


def _matching(records: Iterable[T], equals: Mapping[str, object]) -> list[T]:
    """Those of the records whose fields have these values."""
    conditions = equals.items()
    return [r for r in records if all(getattr(r, field) == value for field, value in conditions)]


class Store:
    """All tables of one cloud, and the bytes of images and objects (`blobs`).

    `stamp` is a `(service, reason)` pair while a request runs whose objects are to fail: every record of that service
    that the request adds or changes gets the reason.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.tables: dict[tuple[str, str], Table[Any]] = {}
        self.stamp: tuple[str, str] | None = None
        self._database = None if path is None else _open(path)
        self._dirty: dict[Key, tuple[Table[Any], Any] | None] = {}
        self._blobs: dict[str, bytes] = {}
        self._dirty_blobs: dict[str, bytes | None] = {}
        self._stored: dict[tuple[str, str], list[Data]] = {}
        if self._database is not None:
            self._load(self._database)

    def table(
        self,
        kind: type[T],
        service: str,
        name: str,
        indexes: Iterable[str] = (),
        missing: Callable[[str], ApiError] | None = None,
        internal: bool = False,
    ) -> Table[T]:
        """Make a table, filled with what the file holds for it. See `Table` for the arguments.

        Raises: StateUnusable for a stored record that lacks a field.
        """
        new = Table(kind, self, service, name, indexes, missing, internal)
        place = (service, name)
        new.load(self._stored.pop(place, ()))
        self.tables[place] = new
        return new

    def changed(self, table: Table[T], record: T) -> None:
        if self.stamp is not None and self.stamp[0] == table.service:
            record.fault = self.stamp[1]
        if self._database is not None:
            self._dirty[table.service, table.name, record.id] = (table, record)

    def removed(self, table: Table[T], key: str) -> None:
        if self._database is not None:
            self._dirty[table.service, table.name, key] = None

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
        saves = [
            (*key, to_bytes(change[0].to_json(change[1]))) for key, change in self._dirty.items() if change is not None
        ]
        gone = [key for key, change in self._dirty.items() if change is None]
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
