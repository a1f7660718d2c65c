"""Which resource owns an object: when two resources claim the same object, the one that records it later is refused.

Most IDs come from the response to a creation. If that response is lost, the object is searched by its properties, and
may then be an identical object of another resource, whose response has not been recorded yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from stoker.base.errors import StokerError
from stoker.store.tables import resources, writers

_PAGE = 500
_HOLDERS = select(resources.c.physical_id, resources.c.uuid, resources.c.type, resources.c.name).where(
    resources.c.physical_id.in_(bindparam("values", expanding=True))
)


class Taken(StokerError):
    """The object belongs to another resource."""


@dataclass(frozen=True, slots=True)
class Ownership:
    """The resource `uuid` acquires an object; resources of the type `whole` may share it (`ResourceType.part_of`)."""

    physical_id: str
    uuid: str
    whole: str | None


def keep_writers_out(connection: Connection) -> None:
    """Prevent other engines from recording anything before this transaction ends.

    Every group of the journal writes its writer's row first, so that when two engines record the same object, the later
    one sees the other's record.
    """
    connection.execute(select(writers.c.id).order_by(writers.c.id).with_for_update()).all()


def refuse_taken(connection: Connection, ownerships: Iterable[Ownership]) -> None:
    """Raise Taken when one of the objects, whose resources were just written, also belongs to another resource."""
    wanted = {ownership.physical_id: ownership for ownership in ownerships}
    identifiers = list(wanted)
    for start in range(0, len(identifiers), _PAGE):
        for row in connection.execute(_HOLDERS, {"values": identifiers[start : start + _PAGE]}):
            ownership = wanted[row.physical_id]
            if row.uuid != ownership.uuid and row.type != ownership.whole:
                raise Taken(f"{row.physical_id} belongs to another resource, {row.name}")
