"""The journal: every mutating request, so that tests can count calls."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

LONGEST = 100_000


@dataclass(frozen=True)
class Entry:
    """One request: `path` is percent-encoded, without query; `fault` is the id of the rule that applied to it."""

    time: float
    method: str
    path: str
    service: str
    status: int | None
    request_id: str
    user_id: str | None
    project_id: str | None
    fault: str | None


class Journal:
    """The latest mutating requests, oldest first. `status` None: the connection was closed without an answer."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=LONGEST)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)

    def clear(self) -> None:
        self._entries.clear()

    def select(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        """Entries whose fields, converted to strings, equal the filters; a filter on `path` may end in `*`."""
        return [dict(fields) for fields in map(vars, self._entries) if _fits(fields, filters)]


def _fits(fields: dict[str, object], filters: dict[str, str]) -> bool:
    return all(_equal(str(fields.get(name)), value) for name, value in filters.items())


def _equal(have: str, expected: str) -> bool:
    return have.startswith(expected[:-1]) if expected.endswith("*") else have == expected
