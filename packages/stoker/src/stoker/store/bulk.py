"""Writing many rows with one statement.

SQLAlchemy compiles each statement, once in a process. Its parameters go to the database's driver as they are: what the
journal writes are strings, numbers, truth values and None, which every driver converts by itself. Converting them row
by row would take longer than SQLite takes to write them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Connection, Delete, Dialect, Insert, Table, Update

from stoker.store import statements

Cells: TypeAlias = tuple[Any, ...]
"""The values of one row, in the order of the columns that are given with it."""

_Arrangement: TypeAlias = Callable[[Cells], Any]
"""Makes the parameters of a statement from the values of a row."""

_Columns: TypeAlias = tuple[str, ...]


def insert_rows(connection: Connection, table: Table, columns: _Columns, rows: Iterable[Cells]) -> None:
    """Insert rows. Raises the database's IntegrityError when one of them already exists."""
    _execute(connection, _insertion, table, columns, rows)


def update_rows(connection: Connection, table: Table, columns: _Columns, rows: Iterable[Cells]) -> None:
    """Set the columns of existing rows, the first of which identifies the row."""
    _execute(connection, _change, table, columns, rows)


def delete_rows(connection: Connection, table: Table, column: str, values: Iterable[object]) -> None:
    """Delete the rows with these values of a column."""
    _execute(connection, _removal, table, (column,), ((value,) for value in values))


def _insertion(table: Table, columns: _Columns) -> tuple[Insert, _Columns]:
    """Return the statement, and the names of its parameters in the order of the columns."""
    return statements.into(table), columns


def _change(table: Table, columns: _Columns) -> tuple[Update, _Columns]:
    key, *others = columns
    return statements.change(table, (key,), tuple(others)), (f"is_{key}", *(f"new_{name}" for name in others))


def _removal(table: Table, columns: _Columns) -> tuple[Delete, _Columns]:
    return statements.without(table, *columns), columns


_Kind: TypeAlias = Callable[[Table, _Columns], tuple[Insert | Update | Delete, _Columns]]

_compiled: dict[tuple[object, ...], tuple[str, _Arrangement]] = {}
"""The SQL of statements, and what arranges rows for it. All databases of one kind share it."""


def _execute(connection: Connection, kind: _Kind, table: Table, columns: _Columns, rows: Iterable[Cells]) -> None:
    dialect = connection.dialect
    key = (type(dialect), type(dialect.identifier_preparer), kind, table, columns)
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = _compile(dialect, kind, table, columns)
    sql, arrangement = found
    connection.exec_driver_sql(sql, [arrangement(cells) for cells in rows])


def _compile(dialect: Dialect, kind: _Kind, table: Table, columns: _Columns) -> tuple[str, _Arrangement]:
    """Compile a statement. Some drivers take parameters by their places in the statement, others by their names."""
    statement, names = kind(table, columns)
    compiled: Any = statement.compile(dialect=dialect, column_keys=columns if isinstance(statement, Insert) else None)
    if compiled.positiontup is None:
        return str(compiled), lambda cells: dict(zip(names, cells, strict=True))
    places = [names.index(name) for name in compiled.positiontup]
    return str(compiled), tuple if places == list(range(len(names))) else itemgetter(*places)
