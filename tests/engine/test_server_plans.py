"""No statement of requests and engines reads a large table as a whole: the plans of PostgreSQL and MariaDB show it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, func, insert, select

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.processes.status import EngineMetrics
from stoker.store.database import Database
from stoker.store.tables import metadata
from stoker_foundation.clock import SystemClock
from testing.estate import multiply
from testing.harness import World
from testing.tables import with_tables
from tests.engine.test_cost_by_change import WHO, change, distinguish, heartbeat, lookups, seed

pytestmark = pytest.mark.slow

TREES = 1500
"""Trees of ten resources, each a stack with a nested one."""

MANY = 2000
"""A table with so many rows is large."""

PART = 100
"""A statement that names more than this part of a table's rows, a hundredth, may read the others, too."""

CHEAP = 100.0
"""PostgreSQL's estimate of the cost of a statement that reads some pages."""

PLANNED = re.compile(r"\s*\(*\s*(SELECT|UPDATE|DELETE|WITH)\b")
LIST = re.compile(r"(%\(\w+\)s(::\w+)?)(, %\(\w+\)s(::\w+)?)+")
"""The values of a list in a statement, of which there are sometimes more."""


@dataclass
class Asked:
    """One example of each statement that was sent to a kind of server, with its parameters."""

    backend: str
    examples: dict[str, tuple[str, Any]] = field(default_factory=dict)

    @contextmanager
    def attached(self) -> Iterator[Asked]:
        """Listen to all connections until the end of the context."""
        event.listen(Engine, "before_cursor_execute", self._note)
        try:
            yield self
        finally:
            event.remove(Engine, "before_cursor_execute", self._note)

    def _note(self, connection: Any, _cursor: Any, text: str, parameters: Any, _context: Any, many: bool) -> None:
        if connection.dialect.name == self.backend and PLANNED.match(text):
            self.examples.setdefault(LIST.sub("…", text), (text, parameters[0] if many else parameters))


def large_tables(connection: Connection) -> dict[str, int]:
    """The tables with many rows, and how many they have."""
    counted = {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }
    return {name: rows for name, rows in counted.items() if rows >= MANY}


def larger_than(tables: Mapping[str, int], rows: int) -> dict[str, int]:
    """Those of the tables that have more rows."""
    return {name: count for name, count in tables.items() if count > rows}


def scans_of_postgresql(connection: Connection, text: str, parameters: Any, large: Mapping[str, int]) -> list[str]:
    """The large tables that a statement reads as a whole, and the large indexes; not if it soon has enough rows."""
    [plan] = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {text}", parameters).scalar_one()
    counted = connection.exec_driver_sql("SELECT relname, reltuples FROM pg_class")
    sizes = {row.relname: row.reltuples for row in counted}
    return [
        f"{node['Node Type']} of {node['Relation Name']}"
        for node in _scanning(plan["Plan"])
        if node["Relation Name"] in large and sizes[node.get("Index Name", node["Relation Name"])] >= MANY
    ]


def _scanning(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of a plan that read a table or an index from the beginning to the end."""
    kind = node["Node Type"]
    if kind == "Limit" and node["Total Cost"] < CHEAP:
        return
    if kind == "Seq Scan" or (kind in ("Index Scan", "Index Only Scan") and "Index Cond" not in node):
        yield node
    for below in node.get("Plans", ()):
        yield from _scanning(below)


def scans_of_mariadb(connection: Connection, text: str, parameters: Any, large: Mapping[str, int]) -> list[str]:
    """The same; `rows` is the number of rows that MariaDB expects to read, whatever the limit is."""
    if "LIMIT" in text and "WHERE" not in text:
        return []
    plan = connection.exec_driver_sql(f"EXPLAIN {text}", parameters).mappings()
    aliases = {alias: name for name, alias in re.findall(r"\b(\w+) AS (\w+)\b", text)}
    return [
        f"{row['type']} of {row['table']}"
        for row in plan
        if row["type"] in ("ALL", "index")
        and aliases.get(row["table"], row["table"]) in large
        and int(row["rows"]) >= MANY
    ]


SCANS = {"postgresql": scans_of_postgresql, "mariadb": scans_of_mariadb}
ANALYZE = {"postgresql": "ANALYZE {}", "mariadb": "ANALYZE TABLE {}"}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, ServedCloud, dict[str, Any]]]:
    """The tree of an estate on SQLite, its cloud, and what requests about one of its stacks refer to."""
    path = tmp_path_factory.mktemp("original") / "seed.db"

    async def begun(served: ServedCloud) -> dict[str, Any]:
        world = await World(path, served).start()
        known = await seed(world)
        await world.stop()
        return known

    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        known = asyncio.run(begun(served))
        database = Database(f"sqlite:///{path}")
        yield database, served, known
        database.close()


def fill(source: Database, target: Database, known: Mapping[str, Any], backend: str) -> None:
    """Make the estate on a server, which then learns how its rows are distributed."""
    with source.engine.connect() as reading, target.writing() as writing:
        for table in metadata.sorted_tables:
            numbered = "sequence" in table.c  # the server numbers these rows itself, so that it knows the next number
            found = reading.execute(select(table).order_by(*([table.c.sequence] if numbered else []))).mappings()
            values = [{name: value for name, value in row.items() if name != "sequence"} for row in found]
            if values:
                writing.execute(insert(table), values)
        if backend == "mariadb":
            writing.exec_driver_sql("SET sql_mode = CONCAT(@@sql_mode, ',ANSI')")
        multiply(writing, TREES)
        distinguish(writing, known)
    with target.engine.connect() as connection:
        for table in metadata.sorted_tables:
            connection.exec_driver_sql(ANALYZE[backend].format(table.name))
        connection.commit()


async def work(url: str, served: ServedCloud, known: Mapping[str, Any]) -> None:
    """Send each request once, change something, and let the engine do what it does by itself."""
    settings = EngineSettings(
        enable_stack_abandon=True, max_stacks_per_tenant=-1, deleted_stacks_kept=TREES // 4, operations_days=1
    )
    world = await World(url, served, clock=SystemClock(), settings=settings).start()
    for name, (method, arguments) in lookups(known).items():
        context = replace(world.context, **WHO.get(name, {}))
        await OPERATIONS[method](world.engine, context, arguments)
    await change(world)
    await EngineMetrics(world.engine).text()
    await heartbeat(world.engine)
    await world.stop()


@pytest.mark.xdist_group("server-plans")
@pytest.mark.parametrize("backend", SCANS)
def test_no_statement_reads_a_whole_table(
    request: pytest.FixtureRequest, backend: str, original: tuple[Database, ServedCloud, dict[str, Any]]
) -> None:
    source, served, known = original
    url = with_tables(request.getfixturevalue(backend), "plans")
    target = Database(url)
    fill(source, target, known, backend)
    with Asked(target.url.get_backend_name()).attached() as asked:
        asyncio.run(work(url, served, known))
    with target.engine.connect() as connection:
        large = large_tables(connection)
        found = {
            text: scans
            for text, parameters in asked.examples.values()
            if (scans := SCANS[backend](connection, text, parameters, larger_than(large, PART * len(parameters))))
        }
    target.close()
    assert len(asked.examples) > 100
    assert {"stacks", "resources", "operations", "events"} <= large.keys()
    assert not found, "\n\n".join(f"{scans}: {text}" for text, scans in found.items())
