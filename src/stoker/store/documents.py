"""Texts that are stored once however many stacks use them, under a digest of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from sqlalchemy import Connection, Insert, insert, select
from sqlalchemy.dialects import postgresql

from stoker.store.sealing import Sealer
from stoker.store.tables import documents

_PAGE = 400


def digest_of(text: str) -> str:
    """The name of a plain document."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def plain(data: Any) -> tuple[str, str]:
    """`(digest, body)` of JSON data, or of a text, that holds no secret."""
    body = data if isinstance(data, str) else orjson.dumps(data).decode("utf-8")
    return digest_of(body), body


def sealed(data: Any, sealer: Sealer) -> tuple[str, str]:
    """`(digest, body)` of JSON data that may hold secrets: equal data gets one digest, which tells nothing."""
    return sealer.digest(data), sealer.seal(data)


def save(connection: Connection, bodies: Mapping[str, str]) -> None:
    """Store documents by digest; those that are there already stay as they are."""
    missing = set(bodies) - _present(connection, bodies)
    if missing:
        rows = [{"digest": digest, "body": bodies[digest]} for digest in sorted(missing)]
        connection.execute(_insert_new(connection.dialect.name), rows)


def load(connection: Connection, digests: Iterable[str]) -> dict[str, str]:
    """Bodies by digest; a missing one is left out."""
    found: dict[str, str] = {}
    wanted = list(dict.fromkeys(digests))
    for start in range(0, len(wanted), _PAGE):
        query = select(documents).where(documents.c.digest.in_(wanted[start : start + _PAGE]))
        found.update((row.digest, row.body) for row in connection.execute(query))
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
