"""Records in memory, kept in a file when there is one.

A record is a `TypedRecord`, in a `Table`, or a JSON object with an `id`, in a `Collection`; names that begin with `_`
are the emulator's own and are never shown to clients. Every change goes through its rows (`add`, `update`, `save`,
`remove`); `Store.flush` then writes all that changed as one transaction. SQLite in WAL mode without a sync per commit:
what was flushed survives `kill -9` of the emulator, but a power failure may lose the last moments; the file stays
consistent.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from openstack_emulator.core.errors import ApiError, not_found
from openstack_emulator.core.typed import FAULT, Readable, TypedRecord, to_bytes
from openstack_emulator.core.upgrades import StateUnusable, upgrade

Record = dict[str, Any]
Key = tuple[str, str, str]
R = TypeVar("R", bound=Readable)
T = TypeVar("T", bound=TypedRecord)
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


class Rows(ABC, Generic[R]):
    """Records of one kind, in order of creation.

    `indexes` names the fields that `select` finds quickly; `missing` makes the error of `require`.
    `internal` rows (tokens, pending state changes) are left out of the object count.
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
        self._records: dict[str, R] = {}
        self._indexes: dict[str, dict[Any, dict[str, R]]] = {field: {} for field in indexes}
        self._indexed: dict[str, list[Any]] = {}
        self._places: dict[str, int] = {}
        self._last_place = 0

    @abstractmethod
    def key(self, record: R) -> str:
        """The id of a record."""

    @abstractmethod
    def to_json(self, record: R) -> Record:
        """A record as it is stored."""

    @abstractmethod
    def from_json(self, data: Record) -> R:
        """The record that was stored. Raises StateUnusable."""

    @abstractmethod
    def set_fault(self, record: R, fault: str) -> None:
        """Let the next change of a record's state fail."""

    @abstractmethod
    def take_fault(self, record: R) -> str | None:
        """Why the change of a record's state that is made now is to fail, if it is; later ones do not."""

    @abstractmethod
    def _set(self, record: R, changes: Mapping[str, Any]) -> None:
        """Set fields of a record."""

    @abstractmethod
    def _matching(self, records: Iterable[R], equals: Mapping[str, Any]) -> list[R]:
        """Those of the records whose fields have these values."""

    @abstractmethod
    def _value(self, record: R, field: str) -> Any:
        """The value of a field, for its index."""

    def add(self, record: R) -> R:
        """Add a new record; ValueError when its id is taken."""
        key = self.key(record)
        if key in self._records:
            raise ValueError(f"{self.service}/{self.name} has a record {key} already")
        self._records[key] = record
        self.save(record)
        return record

    def update(self, record: R, **changes: Any) -> R:
        """Set fields of a record."""
        self._set(record, changes)
        self.save(record)
        return record

    def save(self, record: R) -> None:
        """Note that a record was changed in place. One that has been removed stays removed."""
        if self._records.get(self.key(record)) is not record:
            return
        self._store.changed(self, record)
        self._index(record)

    def remove(self, record: R) -> None:
        """Remove a record; does nothing when it is not there."""
        key = self.key(record)
        if self._records.pop(key, None) is not None:
            self._unindex(key)
            self._store.removed(self, key)

    def get(self, key: str) -> R | None:
        return self._records.get(key)

    def require(self, key: str) -> R:
        """The record, or the service's own 404."""
        record = self._records.get(key)
        if record is None:
            raise self.missing(key)
        return record

    def select(self, **equals: Any) -> list[R]:
        """The records whose fields have these values, in order of creation."""
        for field, index in self._indexes.items():
            if field in equals:
                found = index.get(equals.pop(field), {}).values()
                return self._matching(found, equals) if equals else list(found)
        return self._matching(self._records.values(), equals)

    def first(self, **equals: Any) -> R | None:
        """The oldest record with these values, if any."""
        return next(iter(self.select(**equals)), None)

    def ids(self) -> list[str]:
        """The ids of all records."""
        return list(self._records)

    def load(self, stored: Iterable[Record]) -> None:
        """Add records that are in the file already. Raises StateUnusable."""
        for data in stored:
            record = self.from_json(data)
            self._records[self.key(record)] = record
            self._index(record)

    def _index(self, record: R) -> None:
        """Put a record where its indexed fields say, if they were changed; the order remains that of creation."""
        if not self._indexes:
            return
        key = self.key(record)
        values = [self._value(record, field) for field in self._indexes]
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

    def __iter__(self) -> Iterator[R]:
        return iter(list(self._records.values()))

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, key: object) -> bool:
        return key in self._records


class Collection(Rows[Record]):
    """JSON objects, of services that do not have typed records yet."""

    def key(self, record: Record) -> str:
        key: str = record["id"]
        return key

    def to_json(self, record: Record) -> Record:
        return record

    def from_json(self, data: Record) -> Record:
        return data

    def set_fault(self, record: Record, fault: str) -> None:
        record[FAULT] = fault

    def take_fault(self, record: Record) -> str | None:
        fault: str | None = record.pop(FAULT, None)
        return fault

    def _set(self, record: Record, changes: Mapping[str, Any]) -> None:
        record.update(changes)

    def _matching(self, records: Iterable[Record], equals: Mapping[str, Any]) -> list[Record]:
        wanted = equals.items()
        return [r for r in records if all(r.get(field, ABSENT) == value for field, value in wanted)]

    def _value(self, record: Record, field: str) -> Any:
        return record.get(field)


class Table(Rows[T]):
    """Records of one class.

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
        super().__init__(store, service, name, indexes, missing, internal)
        self._kind = kind

    def key(self, record: T) -> str:
        return record.id

    def to_json(self, record: T) -> Record:
        data = record.to_json()
        return data if record.fault is None else {**data, FAULT: record.fault}

    def from_json(self, data: Record) -> T:
        try:
            record = self._kind.from_json(data)
        except KeyError as error:
            raise StateUnusable(
                f"The state file has {data.get('id')} of {self.service}/{self.name} without the field {error}. "
                "Use the release that wrote it, or another file."
            ) from None
        record.fault = data.get(FAULT)
        return record

    def set_fault(self, record: T, fault: str) -> None:
        record.fault = fault

    def take_fault(self, record: T) -> str | None:
        return record.take_fault()

    def _set(self, record: T, changes: Mapping[str, Any]) -> None:
        for field, value in changes.items():
            setattr(record, field, value)

    def _matching(self, records: Iterable[T], equals: Mapping[str, Any]) -> list[T]:
        wanted = equals.items()
        return [r for r in records if all(getattr(r, field) == value for field, value in wanted)]

    def _value(self, record: T, field: str) -> Any:
        return getattr(record, field)


class Store:
    """All collections of one cloud, and the bytes of images and objects (`blobs`).

    `stamp` is a `(service, reason)` pair while a request runs whose objects are to fail: every record of that service
    that the request adds or changes gets the reason.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.collections: dict[tuple[str, str], Rows[Any]] = {}
        self.stamp: tuple[str, str] | None = None
        self._database = None if path is None else _open(path)
        self._dirty: dict[Key, tuple[Rows[Any], Any] | None] = {}
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
        """Make a collection, filled with what the file holds for it. See `Rows` for the arguments."""
        made = Collection(self, service, name, indexes, missing, internal)
        self._fill(made)
        return made

    def table(
        self,
        kind: type[T],
        service: str,
        name: str,
        indexes: Iterable[str] = (),
        missing: Callable[[str], ApiError] | None = None,
        internal: bool = False,
    ) -> Table[T]:
        """Make a table of typed records, filled with what the file holds for it. See `Rows` for the arguments.

        Raises: StateUnusable for a stored record that lacks a field.
        """
        made = Table(kind, self, service, name, indexes, missing, internal)
        self._fill(made)
        return made

    def _fill(self, rows: Rows[Any]) -> None:
        place = (rows.service, rows.name)
        rows.load(self._stored.pop(place, ()))
        self.collections[place] = rows

    def changed(self, rows: Rows[R], record: R) -> None:
        if self.stamp is not None and self.stamp[0] == rows.service:
            rows.set_fault(record, self.stamp[1])
        if self._database is not None:
            self._dirty[rows.service, rows.name, rows.key(record)] = (rows, record)

    def removed(self, rows: Rows[R], key: str) -> None:
        if self._database is not None:
            self._dirty[rows.service, rows.name, key] = None

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


def public(record: Mapping[str, Any]) -> Record:
    """A record as clients see it."""
    return {key: value for key, value in record.items() if not key.startswith("_")}
