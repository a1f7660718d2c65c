"""Documents that stacks share: stored once, sealed, under a keyed digest of their content.

Templates, files and environments may all contain secrets: a group's template is made from resolved property values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Insert, Table, bindparam, delete, insert, or_, select

from stoker.store import statements
from stoker.store.sealing import Sealer
from stoker.store.tables import document_parts, documents, inputs

_HELD = (
    select(documents.c.digest)
    .where(documents.c.digest.in_(bindparam("values", expanding=True)))
    .order_by(documents.c.digest)
    .with_for_update(read=True, key_share=True)
)


def save(
    connection: Connection,
    bodies: Mapping[str, object],
    sealer: Sealer,
    parts: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> None:
    """Store JSON data by digest; existing documents are not written, nor sealed, again.

    `parts` are the digests that a document refers to; these documents are kept as long as it is. No document is removed
    before the transaction ends, in which the caller must record a reference to it.
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
    """Return data by digest, without missing ones."""
    found: dict[str, object] = {}
    for page in statements.pages(dict.fromkeys(digests)):
        query = select(documents).where(documents.c.digest.in_(page))
        found.update((row.digest, sealer.open(row.body)) for row in connection.execute(query))
    return found


def forget_unused(connection: Connection, digests: Iterable[str]) -> None:
    """Delete those that neither inputs nor another document refer to, and then those that only they referred to.

    Each is locked before its references are checked: a transaction that is about to add one holds the lock already.
    """
    for page in statements.pages(sorted(set(digests))):
        query = select(documents.c.digest).where(documents.c.digest.in_(page)).order_by(documents.c.digest)
        found = set(connection.execute(query.with_for_update()).scalars())
        unused = sorted(found - _referred_to(connection, found))
        if unused:
            inside = document_parts.c.whole.in_(unused)
            parts = list(connection.execute(select(document_parts.c.part).where(inside)).scalars())
            connection.execute(delete(document_parts).where(inside))
            connection.execute(delete(documents).where(documents.c.digest.in_(unused)))
            forget_unused(connection, parts)


def _referred_to(connection: Connection, digests: Collection[str]) -> set[str]:
    """Return those of these documents that inputs or other documents refer to.

    One reference is looked up for each document and column: for a condition with EXISTS, databases may read all inputs.
    """
    columns = (inputs.c.template, inputs.c.environment, inputs.c.files, document_parts.c.part)
    references = (select(column).where(column == documents.c.digest).limit(1).scalar_subquery() for column in columns)
    referred = or_(*(found.is_not(None) for found in references))
    return set(
        connection.execute(select(documents.c.digest).where(documents.c.digest.in_(digests), referred)).scalars()
    )


def _insert_new(table: Table, dialect: str) -> Insert:
    """Return an insert that ignores rows that another process has just inserted."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # not imported for other databases

        return postgresql.insert(table).on_conflict_do_nothing()
    return insert(table).prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")


def _held(connection: Connection, digests: Iterable[str]) -> set[str]:
    """Return those that exist, locked so that they are not removed before the transaction ends."""
    present: set[str] = set()
    for page in statements.pages(digests):
        present.update(connection.execute(_HELD, {"values": page}).scalars())
    return present
