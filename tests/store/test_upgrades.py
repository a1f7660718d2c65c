"""Two consecutive releases share a database: a revision of the tables takes nothing away that the program before uses,
and adds nothing that it would have to fill in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from stoker.store.records import StoredState
from stoker.store.schema import migrations

Shape = Mapping[str, Mapping[str, bool]]
"""Tables with their columns, and whether a row may be written without a column's value."""

RETIRED: Mapping[str, set[str]] = {}
"""By revision, what it takes away because the program of the revision before had stopped using it: `table.column`."""


def problems(before: Shape, after: Shape, retired: set[str]) -> Iterator[str]:
    """What keeps a program that knows the tables as they were before from working with those after."""
    for table, columns in before.items():
        kept = after.get(table, {})
        yield from (
            f"{table}.{name} is gone" for name in columns if name not in kept and f"{table}.{name}" not in retired
        )
    for table, columns in after.items():
        known = before.get(table)
        if known is not None:
            yield from (
                f"{table}.{name} needs a value" for name, free in columns.items() if name not in known and not free
            )


def shapes() -> Iterator[tuple[str, Shape]]:
    """The tables after each revision, the oldest first."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        config = migrations(connection)
        revisions = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
        for revision in reversed(revisions):
            command.upgrade(config, revision)
            found = inspect(connection)
            yield (
                revision,
                {
                    table: {
                        column["name"]: column["nullable"] or column["default"] is not None
                        for column in found.get_columns(table)
                    }
                    for table in found.get_table_names()
                },
            )


def test_each_revision_leaves_the_program_before_it_working() -> None:
    found = list(shapes())
    assert [revision for revision, _ in found] == [f"{number:04}" for number in range(1, len(found) + 1)]
    for (_, before), (revision, after) in pairwise(found):
        assert list(problems(before, after, RETIRED.get(revision, set()))) == []


@pytest.mark.parametrize(
    ("after", "retired", "told"),
    [
        ({"t": {"a": False, "b": True}}, set(), []),
        ({"t": {"a": False, "b": True, "c": True}, "new": {"x": False}}, set(), []),
        ({"t": {"a": False}}, set(), ["t.b is gone"]),
        ({"t": {"a": False}}, {"t.b"}, []),
        ({"t": {"a": False, "b": True, "c": False}}, set(), ["t.c needs a value"]),
        ({}, set(), ["t.a is gone", "t.b is gone"]),
    ],
)
def test_what_would_break_the_program_before_is_found(after: Shape, retired: set[str], told: list[str]) -> None:
    assert list(problems({"t": {"a": False, "b": True}}, after, retired)) == told


def test_what_a_later_program_has_stored_of_a_resource_is_kept_by_the_one_before() -> None:
    later = {"metadata": {"a": 1}, "attempts": 2, "something_new": ["x"]}
    state = StoredState.of(later)
    state.attempts = 3
    assert state.to_data() == {**later, "attempts": 3}
