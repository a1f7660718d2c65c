"""Which resource has an object: of two that take the same one for theirs, the one that records it later is refused.

Most ids are the answer to a creation. Where that answer is lost, the object is looked for by what it was asked to be,
and of two that are alike it may be the other one's, whose answer is still on its way.
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
    """An object belongs to another resource."""


@dataclass(frozen=True, slots=True)
class Possession:
    """The resource `uuid` gets an object; resources of the type `whole` may have it too (`ResourceType.part_of`)."""

    physical_id: str
    uuid: str
    whole: str | None


def keep_writers_out(connection: Connection) -> None:
    """Let no other engine record anything before this transaction has ended.

    Every group of the journal writes its writer's row first, so that of two engines that record the same object the
    later one sees the other.
    """
    connection.execute(select(writers.c.id).order_by(writers.c.id).with_for_update()).all()


def refuse_taken(connection: Connection, possessions: Iterable[Possession]) -> None:
    """Raise Taken when one of the objects, whose resources have been written, is also another resource's."""
    wanted = {possession.physical_id: possession for possession in possessions}
    identifiers = list(wanted)
    for start in range(0, len(identifiers), _PAGE):
        for row in connection.execute(_HOLDERS, {"values": identifiers[start : start + _PAGE]}):
            possession = wanted[row.physical_id]
            if row.uuid != possession.uuid and row.type != possession.whole:
                raise Taken(f"{row.physical_id} belongs to another resource, {row.name}")
