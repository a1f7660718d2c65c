"""Two consecutive releases share a database: a revision of the tables removes nothing that the previous program uses,
and adds no columns that it would have to set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from stoker.store.records import Origin, StoredState
from stoker.store.schema import head, migrations

Shape = Mapping[str, Mapping[str, bool]]
"""Tables with their columns, and whether a column is optional when a row is inserted."""

RETIRED: Mapping[str, set[str]] = {}
"""The columns (`table.column`) that each revision removes because the previous program no longer used them."""


def problems(before: Shape, after: Shape, retired: set[str]) -> Iterator[str]:
    """Return what prevents a program for the tables before from working with those after."""
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
    """Return the tables after each revision, the oldest first."""
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


def test_each_revision_is_compatible_with_the_previous_program() -> None:
    found = list(shapes())
    assert [revision for revision, _ in found] == [f"{number:04}" for number in range(1, len(found) + 1)]
    assert found[-1][0] == head()
    for (_, before), (revision, after) in pairwise(found):
        assert list(problems(before, after, RETIRED.get(revision, set()))) == []


@pytest.mark.parametrize(
    ("after", "retired", "expected"),
    [
        ({"t": {"a": False, "b": True}}, set(), []),
        ({"t": {"a": False, "b": True, "c": True}, "new": {"x": False}}, set(), []),
        ({"t": {"a": False}}, set(), ["t.b is gone"]),
        ({"t": {"a": False}}, {"t.b"}, []),
        ({"t": {"a": False, "b": True, "c": False}}, set(), ["t.c needs a value"]),
        ({}, set(), ["t.a is gone", "t.b is gone"]),
    ],
)
def test_changes_that_break_the_previous_program_are_found(
    after: Shape, retired: set[str], expected: list[str]
) -> None:
    assert list(problems({"t": {"a": False, "b": True}}, after, retired)) == expected


def test_resource_state_of_a_later_program_is_kept_by_the_previous_one() -> None:
    later = {"metadata": {"a": 1}, "attempts": 2, "something_new": ["x"]}
    state = StoredState.of(later)
    state.creation = replace(state.creation, attempts=3)
    assert state.to_data() == {**later, "attempts": 3}


@pytest.mark.parametrize("name", ["first_place", "first_location"])
def test_the_location_of_a_moved_resource_is_read_by_both_names(name: str) -> None:
    state = StoredState.of({name: ["web", "1", "server"], "physical_name": "web-server"})
    assert state.origin == Origin(physical_name="web-server", first_location=["web", "1", "server"])
    assert state.to_data() == {"first_place": ["web", "1", "server"], "physical_name": "web-server"}


@pytest.mark.parametrize("name", ["stillborn", "never_usable"])
def test_a_renamed_part_is_read_by_both_names_and_written_by_the_former_one(name: str) -> None:
    """Engines of the release before, which may run beside this one, know the former name only."""
    state = StoredState.of({name: True, "attempts": 2})
    assert state.creation.never_usable
    assert state.others == {}
    assert state.to_data() == {"attempts": 2, "stillborn": True}
