"""Which resource owns an object: when two resources claim the same object, the one that records it later is refused.

A resource claims its object in the transaction that records the ID. The column `ownership` of its row has what it owns,
and is unique in the database: a digest of the kind of the object, of what its ID is unique in, and of the ID. All
engines of a database work in one region of one cloud, so that these are not part of it.

Rows of earlier releases have no value until an engine of this release has examined them (see
`stoker.engine.records.object_owners`). Two of them may have the same object, as those releases permitted that: the
second is then a *double*, which has the object but does not own it.

Most IDs come from the response to a creation. If that response is lost, the object is searched by its properties, and
may then be an identical object of another resource, whose response has not been recorded yet (`Found`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection, bindparam, select, update

from stoker.base.errors import StokerError
from stoker.store import statements
from stoker.store.bulk import insert_rows, update_rows
from stoker.store.queries import stacks_by_id
from stoker.store.records import Stack
from stoker.store.tables import resources, stacks, writers

_OTHERS = select(resources.c.physical_id, resources.c.uuid, resources.c.type, resources.c.name).where(
    resources.c.physical_id.in_(bindparam("values", expanding=True))
)
_HOLDERS = (
    select(
        resources.c.uuid,
        resources.c.name,
        resources.c.type,
        resources.c.physical_id,
        resources.c.ownership,
        resources.c.stack_id,
        stacks.c.name.label("stack"),
        stacks.c.project_id,
    )
    .join(stacks, stacks.c.id == resources.c.stack_id)
    .where(stacks.c.deleted_at.is_(None))
    .order_by(resources.c.created_at, resources.c.uuid)
)
_HOLDERS_OF = _HOLDERS.where(resources.c.physical_id.in_(bindparam("physical_ids", expanding=True)))
_DOUBLES = "double"
_DOUBLE_HOLDERS = _HOLDERS.where(statements.begins(resources.c.ownership, _DOUBLES))
_DOUBLE = f"{_DOUBLES} "
_NOTHING = "none "


def key_of(kind: str, scope: str, physical_id: str) -> str:
    """Return the value of `ownership` for the owner of an object; `scope` is what the ID is unique in."""
    return hashlib.sha256(orjson.dumps([kind, scope, physical_id])).hexdigest()


def nothing(uuid: str) -> str:
    """Return the value for a resource that has an ID but owns no object, such as one with an `external_id`."""
    return f"{_NOTHING}{uuid}"


def double(key: str, uuid: str) -> str:
    """Return the value for a resource whose object belongs to another one."""
    return f"{_DOUBLE}{key} {uuid}"


def is_double(ownership: str | None) -> bool:
    """Return whether the value is that of a resource whose object belongs to another one."""
    return ownership is not None and ownership.startswith(_DOUBLE)


def owns(ownership: str | None) -> bool | None:
    """Return whether the value is that of an owner; None if it has not been examined, or there is no object."""
    return None if ownership is None else not ownership.startswith((_NOTHING, _DOUBLE))


def _key(ownership: str | None) -> str | None:
    """Return the key of the object of an owner or a double."""
    if ownership is None or ownership.startswith(_NOTHING):
        return None
    return ownership.split(" ")[1] if is_double(ownership) else ownership


@dataclass(frozen=True, slots=True)
class Holder:
    """A live resource that has an object; `stack` and `project_id` are those of the stack that it is in."""

    uuid: str
    name: str
    type: str
    physical_id: str
    ownership: str | None
    stack_id: str
    stack: str
    project_id: str

    @property
    def key(self) -> str | None:
        """The key of its object; None if it owns none, or has not been examined."""
        return _key(self.ownership)

    def named_for(self, project_id: str) -> str:
        """Return who owns the object, for users of a project, who do not learn the names of other projects' stacks."""
        if self.project_id != project_id:
            return "a resource of another project"
        return f"the resource {self.name} of the stack {self.stack}"


class ObjectAlreadyOwned(StokerError):
    """The object belongs to another resource: to `holder`, where that is known."""

    def __init__(self, physical_id: str, holder: Holder | None = None) -> None:
        super().__init__(f"{physical_id} belongs to another resource")
        self.physical_id = physical_id
        self.holder = holder

    def named_for(self, project_id: str) -> str:
        """Return the reason for a refusal, for users of a project."""
        owner = self.holder.named_for(project_id) if self.holder is not None else "another resource"
        known = self.holder if self.holder is not None and self.holder.project_id == project_id else None
        name = "RESOURCE" if known is None else known.name
        return (
            f"the object {self.physical_id} belongs to {owner}, and an object has one owner: refer to it with "
            "`external_id`, or take it out of the other template first, with an entry `removed` in the environment, "
            f"{{from: {name}, destroy: false}}"
        )


@dataclass(frozen=True, slots=True)
class Owned:
    """The resource `uuid` of a type claims an object by its key.

    `instead` are earlier resources of the same name in its stack, which give the object up to it: where the new object
    has the name of the former one.
    """

    key: str
    physical_id: str
    uuid: str
    type: str
    instead: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """The resource `uuid` has found an object; resources of the type `whole` may share it (`ResourceType.part_of`)."""

    physical_id: str
    uuid: str
    whole: str | None


def count_group(connection: Connection, writer: str, number: int) -> None:
    """Record how many groups a journal has written, with this one, in its writer's row."""
    columns, row = ("id", "groups", "time"), (writer, number, time.time())
    if not update_rows(connection, writers, columns[:1], columns[1:], [row]):
        insert_rows(connection, writers, columns, [row])


def keep_writers_out(connection: Connection) -> None:
    """Prevent other engines from recording anything before this transaction ends.

    Every group of the journal writes its writer's row first, so that when two engines record the same object, the later
    one sees the other's record.
    """
    connection.execute(select(writers.c.id).order_by(writers.c.id).with_for_update()).all()


def holders(connection: Connection, physical_ids: Iterable[str]) -> Iterator[Holder]:
    """Yield the live resources with these IDs, whatever they own, the oldest first."""
    for page in statements.pages(sorted(set(physical_ids))):
        for row in connection.execute(_HOLDERS_OF, {"physical_ids": page}):
            yield Holder(*row)


def holder_of(claim: Owned, known: Iterable[Holder]) -> Holder | None:
    """Return the resource that has a claimed object already: its owner, or else a double.

    One that was not examined counts if it is of the claiming type.
    """
    others = [
        each
        for each in known
        if each.physical_id == claim.physical_id and each.uuid != claim.uuid and each.uuid not in claim.instead
    ]
    having = [each for each in others if each.key == claim.key or (each.ownership is None and each.type == claim.type)]
    return min(having, key=lambda each: each.ownership != claim.key, default=None)


def claim(connection: Connection, claims: Iterable[Owned]) -> None:
    """Check claims before the rows with them are written.

    Raises ObjectAlreadyOwned for an object that another resource has. The unique column finds the claims that are made
    at the same time: the database then refuses the later rows.
    """
    requested = list(claims)
    known = list(holders(connection, (each.physical_id for each in requested)))
    for each in requested:
        if (holder := holder_of(each, known)) is not None:
            raise ObjectAlreadyOwned(each.physical_id, holder)
        for former in known:
            if former.uuid in each.instead and former.ownership == each.key:
                change = update(resources).where(resources.c.uuid == former.uuid)
                connection.execute(change.values(ownership=double(each.key, former.uuid)))


def refuse_taken(connection: Connection, found: Iterable[Found]) -> None:
    """Raise ObjectAlreadyOwned if an object, whose resource was just written, also belongs to another resource."""
    by_physical_id = {each.physical_id: each for each in found}
    for page in statements.pages(by_physical_id):
        for row in connection.execute(_OTHERS, {"values": page}):
            each = by_physical_id[row.physical_id]
            if row.uuid != each.uuid and row.type != each.whole:
                raise ObjectAlreadyOwned(row.physical_id)


def unexamined_stacks(connection: Connection) -> list[Stack]:
    """Return the live stacks with resources of which earlier releases have recorded an ID, the oldest first."""
    c = resources.c
    query = select(c.stack_id).where(c.ownership.is_(None), c.physical_id.is_not(None)).distinct()
    found = stacks_by_id(connection, connection.execute(query).scalars())
    live = (stack for stack in found.values() if stack.deleted_at is None)
    return sorted(live, key=lambda stack: (stack.created_at, stack.id))


def record_earlier(connection: Connection, found: Mapping[str, Owned | None]) -> None:
    """Record the claims of resources, by UUID, that earlier releases have recorded: doubles, where others own it."""
    keep_writers_out(connection)
    known = list(holders(connection, (each.physical_id for each in found.values() if each is not None)))
    owners = {each.ownership for each in known}
    for uuid, claimed in found.items():
        value = nothing(uuid)
        if claimed is not None:
            value = double(claimed.key, uuid) if claimed.key in owners else claimed.key
            owners.add(claimed.key)
        c = resources.c
        unchanged = (c.uuid == uuid, c.ownership.is_(None), c.physical_id.is_not(None))
        connection.execute(update(resources).where(*unchanged).values(ownership=value))


def promote(connection: Connection) -> None:
    """Let doubles own their objects if the owners are gone: the oldest one of each object."""
    keep_writers_out(connection)
    seconds = _duplicates(connection)
    owners = {each.ownership for each in holders(connection, (each.physical_id for each in seconds))}
    for each in seconds:
        if each.key not in owners:
            owners.add(each.key)
            connection.execute(update(resources).where(resources.c.uuid == each.uuid).values(ownership=each.key))


def _duplicates(connection: Connection) -> list[Holder]:
    return [Holder(*row) for row in connection.execute(_DOUBLE_HOLDERS)]


def duplicates(connection: Connection) -> list[tuple[Holder, Holder]]:
    """Return the resources whose object belongs to another one, each with that one, ordered by stack and name."""
    seconds = _duplicates(connection)
    known = list(holders(connection, (each.physical_id for each in seconds)))
    owners = {each.ownership: each for each in known}
    found = [(each, owners[each.key]) for each in seconds if each.key in owners]
    return sorted(found, key=lambda pair: (pair[0].stack, pair[0].name, pair[0].uuid))
