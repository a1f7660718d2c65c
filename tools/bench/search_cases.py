"""How long the search over all stacks takes among 100,000 resources of ten projects: `python -m tools.bench search`.

The queries are measured without the API, on a file of SQLite and, where it can be had, on PostgreSQL. Each search is
one of an administrator, over all projects, or one of a project.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from stoker.store.database import Database
from stoker.store.search import Search, page_of, paths_to, unsearchable
from testing.inventory import KINDS, PROJECTS, address_of, fill
from testing.servers import PostgreSQL, ServerMissing, running
from tools.bench.ratios import LEAST_SECONDS

COUNT = 100_000
RUNS = 50
MOST_RUNS = 2000
ENOUGH_SECONDS = 2 * LEAST_SECONDS
"""Processor time of a kind of search, so that it has a ratio."""
PAGE = 100


def _searches(number: int) -> dict[str, Search]:
    """Return what is looked for, around the resource of a number."""
    address, project = address_of(number), f"p{number // len(KINDS) % PROJECTS}"
    anything = Search(id=address, name=address, address=address, limit=PAGE)
    return {
        "an ID": Search(id=f"id-{number}", limit=PAGE),
        "a name": Search(name=f"object-{number}", limit=PAGE),
        "an address, as anything": anything,
        "an address, of a project": replace(anything, project_id=project),
        "a type, 100 of 10,000": Search(type=KINDS[0], limit=PAGE),
        "a type, 100 of 1,000 of a project": Search(type=KINDS[0], project_id=project, limit=PAGE),
        "a common name, of a project": Search(name="port", project_id=project, limit=PAGE),
        "nothing": Search(id="no", name="no", limit=PAGE),
    }


def measure(count: int = COUNT) -> list[dict[str, Any]]:
    """The records of all searches on each database."""
    records: list[dict[str, Any]] = []
    for title, opened in (("SQLite", _sqlite), ("PostgreSQL", _postgresql)):
        try:
            with opened() as database:
                with database.writing() as connection:
                    fill(connection, count)
                records += [_measured(database, title, name, count) for name in _searches(0)]
        except ServerMissing as error:
            print(f"search: {title} is left out: {error}", file=sys.stderr)
    return records


def _measured(database: Database, title: str, name: str, count: int) -> dict[str, Any]:
    """One search, again and again for other resources: the median."""
    taken: list[float] = []
    spent = time.process_time()
    while len(taken) < RUNS or (time.process_time() - spent < ENOUGH_SECONDS and len(taken) < MOST_RUNS):
        parameters = _searches(len(taken) * 7919 % count)[name]
        began = time.perf_counter()
        with database.engine.connect() as connection:
            page = page_of(connection, parameters)
            paths_to(connection, (stack for _, stack in page.found))
            unsearchable(connection, parameters.project_id)
        taken.append((time.perf_counter() - began) * 1000)
    return {
        "case": f"find {name}",
        "phase": f"({title})",
        "n": count,
        "wall_s": round(statistics.median(taken) / 1000, 4),
        "cpu_total_s": round(time.process_time() - spent, 3),
        "requests": len(taken),
        "note": f"fastest of {len(taken)}: {min(taken):.1f} ms, slowest: {max(taken):.1f} ms",
    }


@contextmanager
def _sqlite() -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        yield from _migrated(f"sqlite:///{Path(directory) / 'stoker.db'}")


@contextmanager
def _postgresql() -> Iterator[Database]:
    with running(PostgreSQL) as server:
        yield from _migrated(server.new_database("search"))


def _migrated(url: str) -> Iterator[Database]:
    database = Database(url)
    database.migrate()
    yield database
    database.close()
