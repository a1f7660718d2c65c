"""Values sealed with an older key are sealed again with the first one, in steps, on every database."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from stoker.base.errors import Bug
from stoker.store import key_rotation, tables
from stoker.store.database import Database
from stoker.store.sealing import Sealer

OLD, BOTH, NEW = (Sealer(keys) for keys in (["o" * 32], ["n" * 32, "o" * 32], ["n" * 32]))
NUMBER = 5


def fill(connection: Connection) -> None:
    """Rows with primary keys of one column and of two, sealed with either key, and one without a value."""
    sets = [{"id": f"set{n}", "stack_id": "s", "body": OLD.seal(n)} for n in range(NUMBER)]
    connection.execute(insert(tables.property_sets), [*sets, {"id": "new", "stack_id": "s", "body": NEW.seal("new")}])
    exports = [
        {"project_id": f"p{n % 2}", "name": f"n{n}", "stack_id": "s", "value": OLD.seal(n)} for n in range(NUMBER)
    ]
    connection.execute(insert(tables.exports), exports)
    connection.execute(
        insert(tables.request_tokens),
        {"project_id": "p", "token": "t", "digest": "d", "answer": None, "created_at": 1.0},
    )


def reseal(database: Database, sealer: Sealer) -> int:
    total = 0
    for column in key_rotation.sealed_columns():
        after: Any = None
        while True:
            with database.writing() as connection:
                changed, after = key_rotation.reseal(connection, sealer, column, after, most=2)
            total += changed
            if after is None:
                break
    return total


def test_every_value_is_sealed_with_the_first_key_afterwards(database: Database) -> None:
    with database.writing() as connection:
        fill(connection)
    assert reseal(database, BOTH) == 2 * NUMBER
    assert reseal(database, BOTH) == 0
    for column in (tables.property_sets.c.body, tables.exports.c.value):
        values = database.read_now(lambda connection, column=column: connection.execute(select(column)).scalars().all())
        assert {str(NEW.open(value)) for value in values} >= {str(number) for number in range(NUMBER)}


def test_undecryptable_value_is_reported_and_kept(database: Database) -> None:
    with database.writing() as connection:
        fill(connection)
    with pytest.raises(Bug, match="auth_encryption_key"):
        reseal(database, NEW)
