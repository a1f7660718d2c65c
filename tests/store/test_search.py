"""The search over all stacks reads what it shows, and not all resources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, text, update

from stoker.store.database import Database
from stoker.store.search import MOST_COUNTED, Search, page_of, page_queries, paths_to, unsearchable
from stoker.store.tables import resources, stacks
from stoker.testing.sandbox import empty_database
from testing.backends import BACKENDS
from testing.inventory import KINDS, PROJECTS, address_of, fill
from testing.tables import with_tables

COUNT = 6000
NUMBER = 4321
OWNER = f"p{NUMBER // len(KINDS) % PROJECTS}"
ADDRESS = address_of(NUMBER)
SEARCHES = {
    "id": Search(id=f"id-{NUMBER}"),
    "name": Search(name=f"object-{NUMBER}"),
    "address": Search(address=ADDRESS),
    "anything": Search(id=ADDRESS, name=ADDRESS, address=ADDRESS),
    "anything of a type": Search(id=ADDRESS, name=ADDRESS, address=ADDRESS, type=KINDS[NUMBER % len(KINDS)]),
}
FULL_SCANS = {"sqlite": "SCAN ", "postgresql": "Seq Scan on "}
EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN", "postgresql": "EXPLAIN"}


@pytest.fixture(scope="module", params=BACKENDS)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("search") / "store.db"
        path.write_bytes(empty_database())
        database = Database(f"sqlite:///{path}")
    else:
        database = Database(with_tables(request.getfixturevalue(request.param), "search"))
    with database.writing() as writing:
        fill(writing, COUNT)
    yield database
    database.close()


@pytest.fixture
def connection(filled: Database) -> Iterator[Connection]:
    """What a test changes is rolled back."""
    with filled.engine.connect() as connection:
        yield connection


def names(connection: Connection, search: Search) -> list[str | None]:
    return [row.physical_id for row, _ in page_of(connection, search).found]


@pytest.mark.parametrize("project", [None, OWNER])
@pytest.mark.parametrize("name", SEARCHES)
def test_the_owner_is_found_from_an_index(connection: Connection, name: str, project: str | None) -> None:
    wanted = Search(**{**{key: getattr(SEARCHES[name], key) for key in Search.__slots__}, "project_id": project})
    assert names(connection, wanted) == [f"id-{NUMBER}"]
    dialect = connection.dialect
    if dialect.name not in EXPLAIN:
        return
    for query in page_queries(wanted):
        statement = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
        plan = "\n".join(str(row[-1]) for row in connection.execute(text(f"{EXPLAIN[dialect.name]} {statement}")))
        assert FULL_SCANS[dialect.name] not in plan, plan


def test_other_projects_are_not_found(connection: Connection) -> None:
    for wanted in SEARCHES.values():
        stranger = Search(id=wanted.id, name=wanted.name, address=wanted.address, project_id="p-other")
        assert names(connection, stranger) == []


def test_pages_have_every_resource_once(connection: Connection) -> None:
    found: list[str | None] = []
    after: str | None = ""
    while after is not None:
        page = page_of(connection, Search(type=KINDS[0], project_id="p3", after=after, limit=7))
        found += [row.physical_id for row, _ in page.found]
        after = page.next
    expected = [f"id-{number}" for number in range(0, COUNT, len(KINDS)) if number // len(KINDS) % PROJECTS == 3]
    assert sorted(map(str, found)) == sorted(expected)


def test_paths_lead_from_the_root(connection: Connection) -> None:
    [(row, stack)] = page_of(connection, SEARCHES["id"]).found
    root, names = paths_to(connection, [stack])[stack.id]
    assert (root.name, names, row.name) == (f"stack{NUMBER - 1}", ("member",), "port")

    connection.execute(update(stacks).where(stacks.c.id == stack.id).values(parent_resource_name=None))
    [(_, stack)] = page_of(connection, SEARCHES["id"]).found
    assert paths_to(connection, [stack])[stack.id][1] == ("member",)  # as the first release has recorded it

    connection.execute(stacks.delete().where(stacks.c.id == root.id))
    root, names = paths_to(connection, [stack])[stack.id]
    assert (root.id, names) == (stack.id, ())


def test_resources_without_terms_are_counted_up_to_a_limit(connection: Connection) -> None:
    assert unsearchable(connection, None) == 0
    connection.execute(update(resources).values(searchable=None))
    assert unsearchable(connection, None) == MOST_COUNTED
    assert unsearchable(connection, "p1") == (COUNT + COUNT // len(KINDS)) // PROJECTS
    connection.execute(update(stacks).values(deleted_at=1.0))
    assert unsearchable(connection, None) == 0
    assert names(connection, SEARCHES["id"]) == []
