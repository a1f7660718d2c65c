"""How long the removal of old events takes on PostgreSQL, and what others notice of it: `python -m tools.bench growth`.

Nine tenths of the events are older than the limit. They are removed as engines do it, while a second connection records
new ones: the time of its commits shows whether it waits for the removal.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from sqlalchemy import text

from stoker.store import history
from stoker.store.database import Database
from testing.servers import PostgreSQL, ServerMissing, running

COUNT = 10_000_000
STACKS = 10_000
"""How many stacks have the events."""
KEPT = 10
"""One of so many events is kept."""

_ONE = (
    "INSERT INTO events (id, stack_id, resource_name, resource_type, action, status, reason, time) "
    "SELECT gen_random_uuid()::text, 'stack-' || (n % {stacks}), 'server-' || (n % 100), 'OS::Nova::Server', 'UPDATE', "
    "'COMPLETE', 'state changed', n FROM generate_series({first}, {last}) AS n"
)
_PORTION = 500_000


def measure(count: int = COUNT) -> list[dict[str, Any]]:
    """The records of the removal, and of commits beside it and without it."""
    try:
        with running(PostgreSQL) as server, closing(Database(server.new_database("growth"))) as database:
            database.migrate()
            return _measured(database, count)
    except ServerMissing as error:
        print(f"growth: PostgreSQL is left out: {error}", file=sys.stderr)
        return []


def _measured(database: Database, count: int) -> list[dict[str, Any]]:
    for first in range(1, count + 1, _PORTION):
        _record(database, first, min(first + _PORTION - 1, count))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE events"))
    full = _size(database)
    alone = _commits_during(database, count, lambda: time.sleep(5.0))
    steps: list[float] = []
    began = time.perf_counter()
    beside = _commits_during(database, 2 * count, lambda: steps.extend(_removal(database, count - count // KEPT)))
    taken = time.perf_counter() - began
    _record(database, 3 * count, 3 * count + count // KEPT)
    sizes = f"events of {full} MB, {_size(database)} MB after a tenth was added again"
    note = f"{len(steps)} transactions, each {_spread(steps)}; {sizes}"
    removed = {
        "case": "remove old events",
        "phase": "(PostgreSQL)",
        "n": count,
        "wall_s": round(taken, 1),
        "note": note,
    }
    notes = f"{_spread(beside)}; without the removal {_spread(alone)}"
    commits = {
        "case": "commit beside it", "phase": "(PostgreSQL)", "n": len(beside),
        "wall_s": round(statistics.median(beside), 4), "note": notes,
    }  # fmt: skip
    return [removed, commits]


def _record(database: Database, first: int, last: int) -> None:
    with database.writing() as connection:
        connection.execute(text(_ONE.format(stacks=STACKS, first=first, last=last)))


def _removal(database: Database, before: int) -> list[float]:
    """Remove all events from before a time, and return the seconds of each step."""
    steps: list[float] = []
    while True:
        began = time.perf_counter()
        removal = database.read_now(history.old_events, False, float(before))
        if removal is None:
            return steps
        with database.writing() as connection:
            removal.carry_out(connection)
        steps.append(time.perf_counter() - began)


def _commits_during(database: Database, number: int, work: Callable[[], None]) -> list[float]:
    """Record one event after another while `work` runs, and return the seconds that each took."""
    ended, taken = threading.Event(), list[float]()

    def commit() -> None:
        while not ended.is_set():
            began = time.perf_counter()
            _record(database, number + len(taken), number + len(taken))
            taken.append(time.perf_counter() - began)
            ended.wait(0.01)

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        work()
    finally:
        ended.set()
        thread.join()
    return taken


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    return f"p50 {middle * 1000:.1f} ms, p99 {late * 1000:.1f} ms, most {ordered[-1] * 1000:.0f} ms"


def _size(database: Database) -> int:
    """The size of the table with its indexes, in MB."""
    with database.engine.connect() as connection:
        return int(connection.execute(text("SELECT pg_total_relation_size('events') / 1000000")).scalar_one())
