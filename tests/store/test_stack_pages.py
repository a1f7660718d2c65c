"""A page of a list of stacks looks at about as many rows as it shows, on MariaDB, too, which indexes all rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, insert

from stoker.store.database import Database
from stoker.store.stack_lists import StackQuery, list_stacks
from stoker.store.tables import stacks
from testing.backends import marks_of
from testing.servers import MariaDB
from testing.tables import with_tables
from tests.store.rows import stack

pytestmark = marks_of("mariadb")

LIMIT, ROOTS = 20, 600


@pytest.fixture(scope="module")
def connection(mariadb: MariaDB) -> Iterator[Connection]:
    """A project of many stacks, between which there are nested and deleted ones; a third have been updated."""
    database = Database(with_tables(mariadb, "pages"))
    rows = []
    for number in range(ROOTS):
        at = float(number)
        root = stack(f"root{number}", created_at=at, updated_at=None if number % 3 else at)
        inside = [stack(f"inside{number}-{each}", created_at=at, parent_id=root.id) for each in range(3)]
        gone = stack(f"gone{number}", created_at=at, deleted_at=at, live_name=None)
        rows += [each.values() for each in (root, *inside, gone)]
    with database.writing() as writing:
        writing.execute(insert(stacks), rows)
    with database.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE TABLE stacks")
        yield connection
    database.close()


def rows_read(connection: Connection) -> int:
    shown = connection.exec_driver_sql("SHOW SESSION STATUS LIKE 'Handler_read%%'")
    return sum(int(value) for _, value in shown)


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("keys", [["created_at"], ["updated_at"], ["name"], ["action", "status"]])
def test_each_page_looks_at_the_stacks_that_it_shows(connection: Connection, keys: list[str], descending: bool) -> None:
    counting = rows_read(connection)
    counting = rows_read(connection) - counting
    marker, looked_at = None, []
    for _ in range(3):
        before = rows_read(connection)
        query = StackQuery(project_id="p", limit=LIMIT, sort_keys=keys, descending=descending, marker=marker)
        found = list_stacks(connection, query)
        looked_at.append(rows_read(connection) - before - counting)
        assert len(found) == LIMIT
        marker = found[-1].id
    assert max(looked_at) < 5 * LIMIT
