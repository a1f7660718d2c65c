"""Texts and data that are stored once however many stacks use them, sealed, under a keyed digest of their content.

Templates, files and environments may all hold secrets: a group's template is written from resolved property values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Insert, insert, select
from sqlalchemy.dialects import postgresql

from stoker.store.sealing import Sealer
from stoker.store.tables import documents

_PAGE = 400


def save(connection: Connection, bodies: Mapping[str, Any], sealer: Sealer) -> None:
    """Store JSON data by digest; what is there already stays as it is, and is not even sealed."""
    missing = set(bodies) - _present(connection, bodies)
    if missing:
        rows = [{"digest": digest, "body": sealer.seal(bodies[digest])} for digest in sorted(missing)]
        connection.execute(_insert_new(connection.dialect.name), rows)


def load(connection: Connection, digests: Iterable[str], sealer: Sealer) -> dict[str, Any]:
    """Data by digest; a missing one is left out."""
    found: dict[str, Any] = {}
    wanted = list(dict.fromkeys(digests))
    for start in range(0, len(wanted), _PAGE):
        query = select(documents).where(documents.c.digest.in_(wanted[start : start + _PAGE]))
        found.update((row.digest, sealer.open(row.body)) for row in connection.execute(query))
    return found


def _insert_new(dialect: str) -> Insert:
    """An insert that lets a row stand which another process has just put there."""
    if dialect == "postgresql":
        return postgresql.insert(documents).on_conflict_do_nothing()
    return insert(documents).prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")


def _present(connection: Connection, digests: Iterable[str]) -> set[str]:
    present: set[str] = set()
    wanted = list(digests)
    for start in range(0, len(wanted), _PAGE):
        query = select(documents.c.digest).where(documents.c.digest.in_(wanted[start : start + _PAGE]))
        present.update(connection.execute(query).scalars())
    return present
