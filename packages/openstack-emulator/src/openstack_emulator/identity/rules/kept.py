"""What holds for records that clients create, change and delete one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import T, Table
from openstack_emulator.core.typed import stored_names
from openstack_emulator.identity.records import Extensible


class RecordCollection(Rules, Generic[T]):
    """The records of one kind. A subclass says what is refused, and what goes along with what."""

    def __init__(self, records: Records, rows: Table[T]) -> None:
        super().__init__(records)
        self.rows = rows

    def create(self, new: T) -> T:
        """Add a record. Raises ApiError."""
        return self.rows.add(new)

    def change(self, record: T, after: T) -> None:
        """Make a record what it is to be. Raises ApiError."""
        names, before = stored_names(type(record)), record.to_json()
        changes = {names[name]: value for name, value in after.to_json().items() if value is not before[name]}
        self.rows.update(record, **changes)

    def remove(self, record: T) -> None:
        """Remove a record, with what depends on it. Raises ApiError."""
        self.rows.remove(record)


def draft(kind: type[T], key: str, values: Mapping[str, Any]) -> T:
    """A new record with what a request gives; what no field is for is `extra`."""
    known, extra = _sorted(kind, values)
    return kind(**{**known, **({"extra": extra} if extra else {}), "id": key})


def changed(record: T, values: Mapping[str, object]) -> T:
    """A copy of a record with what a request gives."""
    kind = type(record)
    known, extra = _sorted(kind, values)
    after = {name: getattr(record, name) for name in stored_names(kind).values()} | known
    if extra and isinstance(record, Extensible):
        after |= {"extra": record.extra | extra}
    return kind(**after)


def _sorted(kind: type[T], values: Mapping[str, object]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the class has fields for, by their names, and the rest."""
    names = stored_names(kind)
    known = {names[name]: value for name, value in values.items() if name in names}
    return known, {name: value for name, value in values.items() if name not in names}


def remove_all(rows: Table[T], records: Iterable[T]) -> None:
    """Remove records that nothing depends on."""
    for record in records:
        rows.remove(record)
