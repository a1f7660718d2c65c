"""Texts and data that are stored once however many stacks use them, sealed, under a keyed digest of their content.

Templates, files and environments may all hold secrets: a group's template is written from resolved property values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Insert, Table, bindparam, delete, insert, select, union
from sqlalchemy.dialects import postgresql

from stoker.store.sealing import Sealer
from stoker.store.tables import document_parts, documents, inputs

_PAGE = 400

_HELD = (
    select(documents.c.digest)
    .where(documents.c.digest.in_(bindparam("values", expanding=True)))
    .order_by(documents.c.digest)
    .with_for_update(read=True, key_share=True)
)


def save(
    connection: Connection,
    bodies: Mapping[str, Any],
    sealer: Sealer,
    parts: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> None:
    """Store JSON data by digest; what is there already stays as it is, and is not even sealed.

    `parts` are the digests that the data of a digest holds; they are kept as long as it is. No document goes before the
    transaction has ended, in which whatever refers to it is to be recorded.
    """
    missing = set(bodies) - _held(connection, bodies)
    if missing:
        rows = [{"digest": digest, "body": sealer.seal(bodies[digest])} for digest in sorted(missing)]
        connection.execute(_insert_new(documents, connection.dialect.name), rows)
    links = [
        {"whole": whole, "part": part} for whole in sorted(missing & set(parts)) for part in sorted(set(parts[whole]))
    ]
    if links:
        connection.execute(_insert_new(document_parts, connection.dialect.name), links)


def load(connection: Connection, digests: Iterable[str], sealer: Sealer) -> dict[str, Any]:
    """Data by digest; a missing one is left out."""
    found: dict[str, Any] = {}
    wanted = list(dict.fromkeys(digests))
    for start in range(0, len(wanted), _PAGE):
        query = select(documents).where(documents.c.digest.in_(wanted[start : start + _PAGE]))
        found.update((row.digest, sealer.open(row.body)) for row in connection.execute(query))
    return found


def forget_unused(connection: Connection, digests: Iterable[str]) -> None:
    """Remove those that neither inputs nor another document refer to, and then what they alone referred to.

    Each is locked before it is asked who refers to it: one who is about to holds it already, and is waited for.
    """
    wanted = sorted(set(digests))
    for start in range(0, len(wanted), _PAGE):
        page = wanted[start : start + _PAGE]
        query = select(documents.c.digest).where(documents.c.digest.in_(page)).order_by(documents.c.digest)
        found = set(connection.execute(query.with_for_update()).scalars())
        unused = sorted(found - _referred_to(connection, found))
        if unused:
            inside = document_parts.c.whole.in_(unused)
            parts = list(connection.execute(select(document_parts.c.part).where(inside)).scalars())
            connection.execute(delete(document_parts).where(inside))
            connection.execute(delete(documents).where(documents.c.digest.in_(unused)))
            forget_unused(connection, parts)


def _referred_to(connection: Connection, digests: Iterable[str]) -> set[str]:
    wanted = list(digests)
    columns = (inputs.c.template, inputs.c.environment, inputs.c.files, document_parts.c.part)
    return set(connection.execute(union(*(select(column).where(column.in_(wanted)) for column in columns))).scalars())


def _insert_new(table: Table, dialect: str) -> Insert:
    """An insert that lets a row stand which another process has just put there."""
    if dialect == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return insert(table).prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")


def _held(connection: Connection, digests: Iterable[str]) -> set[str]:
    """Those that are there, and that nobody removes before the transaction has ended."""
    present: set[str] = set()
    wanted = list(digests)
    for start in range(0, len(wanted), _PAGE):
        present.update(connection.execute(_HELD, {"values": wanted[start : start + _PAGE]}).scalars())
    return present
