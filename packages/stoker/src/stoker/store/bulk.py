"""Writing many rows with one statement.

Each statement is compiled once in a process. Its parameters go to the database's driver as they are: what the journal
writes are strings, numbers, truth values and None, which every driver converts by itself. Converting them row by row
would take longer than SQLite takes to write them.

A driver takes many rows in one of two ways, whichever costs less of the processor and of waiting for the server: row
by row, which PyMySQL does with one request for each row unless it inserts them; or all of them as one parameter in
JSON, from which the server makes a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import orjson
from sqlalchemy import Connection, Delete, Dialect, Insert, String, Table, Update

from stoker.store import statements
from stoker.store.records import Record

Cells: TypeAlias = tuple[Any, ...]
"""The values of one row, in the order of the columns that are given with it."""

_Arrangement: TypeAlias = Callable[[Cells], Any]
"""Makes the parameters of a statement from the values of a row."""

_Columns: TypeAlias = tuple[str, ...]

_Execution: TypeAlias = Callable[[Connection, Iterable[Cells]], int]
"""Executes a statement for rows, and returns how many rows of its table it has changed."""

_JSON_SIZE = 1_000_000
"""Bytes of rows in one parameter, unless one row is larger: servers limit the size of a request."""


def insert_rows(connection: Connection, table: Table, columns: _Columns, rows: Iterable[Cells]) -> None:
    """Insert rows. Raises the database's IntegrityError when one of them already exists."""
    _execution(connection, _insertion, table, (), columns)(connection, rows)


def insert_records(connection: Connection, table: Table, records: Sequence[Record]) -> None:
    """Insert records of one kind, if there are any. Raises like `insert_rows`."""
    if records:
        insert_rows(connection, table, type(records[0]).columns, [record.cells() for record in records])


def update_rows(connection: Connection, table: Table, keys: _Columns, columns: _Columns, rows: Iterable[Cells]) -> int:
    """Set the columns of the rows with these keys, whose values come first in each row; return how many there are."""
    return _execution(connection, _change, table, keys, columns)(connection, rows)


def delete_rows(connection: Connection, table: Table, column: str, values: Iterable[object]) -> None:
    """Delete the rows with these values of a column."""
    _execution(connection, _removal, table, (column,), ())(connection, ((value,) for value in values))


def _insertion(table: Table, _keys: _Columns, columns: _Columns) -> tuple[Insert, _Columns]:
    """Return the statement, and the names of its parameters in the order of the keys and columns."""
    return statements.into(table), columns


def _change(table: Table, keys: _Columns, columns: _Columns) -> tuple[Update, _Columns]:
    names = (*(f"is_{name}" for name in keys), *(f"new_{name}" for name in columns))
    return statements.change(table, keys, columns), names


def _removal(table: Table, keys: _Columns, _columns: _Columns) -> tuple[Delete, _Columns]:
    return statements.without(table, *keys), keys


_Kind: TypeAlias = Callable[[Table, _Columns, _Columns], tuple[Insert | Update | Delete, _Columns]]

_executions: dict[tuple[object, ...], _Execution] = {}
"""What executes statements. All databases of one kind share it."""


def _execution(connection: Connection, kind: _Kind, table: Table, keys: _Columns, columns: _Columns) -> _Execution:
    dialect = connection.dialect
    key = (type(dialect), type(dialect.identifier_preparer), kind, table, keys, columns)
    found = _executions.get(key)
    if found is None:
        joined = _JOINED.get((dialect.name, kind))
        found = _executions[key] = (
            _row_by_row(dialect, kind, table, keys, columns)
            if joined is None
            else joined(dialect, table, keys, columns)
        )
    return found


def _row_by_row(dialect: Dialect, kind: _Kind, table: Table, keys: _Columns, columns: _Columns) -> _Execution:
    """Compile a statement. Some drivers take parameters by their places in the statement, others by their names."""
    statement, names = kind(table, keys, columns)
    compiled: Any = statement.compile(dialect=dialect, column_keys=columns if isinstance(statement, Insert) else None)
    sql = str(compiled)
    arrangement: _Arrangement
    if compiled.positiontup is None:

        def arrangement(cells: Cells) -> dict[str, Any]:
            return dict(zip(names, cells, strict=True))

    else:
        places = [names.index(name) for name in compiled.positiontup]
        arrangement = tuple if places == list(range(len(names))) else itemgetter(*places)

    def execute(connection: Connection, rows: Iterable[Cells]) -> int:
        return connection.exec_driver_sql(sql, [arrangement(cells) for cells in rows]).rowcount

    return execute


def _all_at_once(sql: str, arrangement: _Arrangement) -> _Execution:
    """Execute a statement whose parameter is a JSON array of rows."""

    def execute(connection: Connection, rows: Iterable[Cells]) -> int:
        pages = _pages(orjson.dumps(arrangement(cells)) for cells in rows)
        return sum(connection.exec_driver_sql(sql, (page,)).rowcount for page in pages)

    return execute


def _pages(rows: Iterable[bytes]) -> Iterator[str]:
    """Yield JSON arrays of the rows."""
    page, size = list[bytes](), 0
    for row in rows:
        if page and size + len(row) > _JSON_SIZE:
            yield f"[{b','.join(page).decode()}]"
            page, size = [], 0
        page.append(row)
        size += len(row)
    if page:
        yield f"[{b','.join(page).decode()}]"


def _quoted(dialect: Dialect, table: Table, names: Sequence[str]) -> list[str]:
    return [dialect.identifier_preparer.quote(table.c[name].name) for name in names]


def _insertion_on_postgresql(dialect: Dialect, table: Table, _keys: _Columns, columns: _Columns) -> _Execution:
    """INSERT rows from JSON: psycopg sends a message for each row otherwise.

    Rows to change are better sent one by one: the server does not know how many there are in JSON, and may read the
    whole table to find them.
    """
    places = [f"c{place}" for place in range(len(columns))]
    types = (table.c[name].type.compile(dialect) for name in columns)
    record = ", ".join(f"{place} {kind}" for place, kind in zip(places, types, strict=True))
    names = ", ".join(_quoted(dialect, table, columns))
    source = f"FROM json_to_recordset(%s) AS given({record})"
    sql = f"INSERT INTO {table.name} ({names}) SELECT {', '.join(places)} {source}"
    return _all_at_once(sql, lambda cells: dict(zip(places, cells, strict=True)))


def _given_on_mysql(dialect: Dialect, table: Table, names: Sequence[str]) -> str:
    """Return rows from JSON, with the columns c0, c1 … of the types of these columns."""
    cells = ", ".join(
        f"c{place} {_type_on_mysql(dialect, table, name)} PATH '$[{place}]' ERROR ON ERROR"
        for place, name in enumerate(names)
    )
    return f"JSON_TABLE(%s, '$[*]' COLUMNS ({cells})) AS given"


def _type_on_mysql(dialect: Dialect, table: Table, name: str) -> str:
    """Return a column's type; strings are compared as those of the tables are (`columns.MYSQL_OPTIONS`).

    JSON_TABLE shortens a string that is too long, so one more character is read: the table's own column refuses it.
    """
    column_type = table.c[name].type
    if not isinstance(column_type, String):
        return column_type.compile(dialect)
    kind = column_type.compile(dialect) if column_type.length is None else f"VARCHAR({column_type.length + 1})"
    return f"{kind} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"


def _found_on_mysql(dialect: Dialect, table: Table, keys: _Columns, columns: _Columns) -> str:
    """Return the rows of a table that have the keys of rows from JSON, each of which is looked up in an index."""
    alike = (f"{table.name}.{name} = given.c{place}" for place, name in enumerate(_quoted(dialect, table, keys)))
    source = _given_on_mysql(dialect, table, (*keys, *columns))
    return f"{source} STRAIGHT_JOIN {table.name} ON {' AND '.join(alike)}"


def _change_on_mysql(dialect: Dialect, table: Table, keys: _Columns, columns: _Columns) -> _Execution:
    """UPDATE rows from JSON: PyMySQL sends a request for each row otherwise, and waits for its answer."""
    places = enumerate(_quoted(dialect, table, columns), len(keys))
    values = ", ".join(f"{table.name}.{name} = given.c{place}" for place, name in places)
    found = _found_on_mysql(dialect, table, keys, columns)
    return _all_at_once(f"UPDATE {found} SET {values}", tuple)  # noqa: S608  our own names


def _removal_on_mysql(dialect: Dialect, table: Table, keys: _Columns, columns: _Columns) -> _Execution:
    """DELETE rows from JSON, for the same reason."""
    return _all_at_once(f"DELETE {table.name} FROM {_found_on_mysql(dialect, table, keys, columns)}", tuple)


_JOINED: Mapping[tuple[str, _Kind], Callable[[Dialect, Table, _Columns, _Columns], _Execution]] = {
    ("postgresql", _insertion): _insertion_on_postgresql,
    ("mysql", _change): _change_on_mysql,
    ("mysql", _removal): _removal_on_mysql,
    ("mariadb", _change): _change_on_mysql,
    ("mariadb", _removal): _removal_on_mysql,
}
"""The statements, by the database's dialect, whose rows are one parameter."""
