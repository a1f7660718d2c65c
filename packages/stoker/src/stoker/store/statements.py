"""Statements that most requests need, built once.

For SQLAlchemy, building a statement and finding its compiled form takes several times as long as its execution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Connection,
    Delete,
    Dialect,
    Insert,
    Row,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql.compiler import SQLCompiler

T = TypeVar("T")
Given = TypeVar("Given")

JointStatement: TypeAlias = Callable[..., object]
"""What is executed once in a transaction, with a connection and a list of what each batch has given for it."""

_PAGE = 400


@cache
def where(table: Table, *names: str) -> Select[object]:
    """Select rows by these columns; the parameters have the columns' names."""
    return select(table).where(and_(*(table.c[name] == bindparam(name) for name in names)))


@cache
def where_among(table: Table, name: str) -> Select[object]:
    """Select rows whose column has one of the `values`, a list parameter."""
    return select(table).where(table.c[name].in_(bindparam("values", expanding=True)))


def pages(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield values in lists short enough for the parameters of a statement, which SQLite limits."""
    listed = list(values)
    return (listed[start : start + _PAGE] for start in range(0, len(listed), _PAGE))


def begins(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    """Return the condition for values of a column that begin with a prefix, whose last character is a letter before z.

    The range of values is what databases look up in an index, also where strings are in the order of a language.
    """
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return and_(column >= prefix, column < end, column.startswith(prefix, autoescape=True))


def count_of(rows: Select[object]) -> Select[int]:
    """Count rows up to the parameter `most`: where that is a limit, no more need to be read."""
    return select(func.count()).select_from(rows.limit(bindparam("most")).subquery())


@cache
def into(table: Table) -> Insert:
    """Insert rows; the parameters are their columns."""
    return insert(table)


@cache
def change(table: Table, keys: tuple[str, ...], names: tuple[str, ...]) -> Update:
    """Update the columns `names` of the rows with these `keys`; `assigned` returns the parameters."""
    values: dict[str, object] = {name: bindparam(f"new_{name}") for name in names}
    return update(table).where(and_(*(table.c[key] == bindparam(f"is_{key}") for key in keys))).values(values)


def assigned(keys: Mapping[str, object], values: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters for `change`."""
    return {f"is_{key}": value for key, value in keys.items()} | {
        f"new_{name}": value for name, value in values.items()
    }


@cache
def without(table: Table, *names: str) -> Delete:
    """Delete rows by these columns; the parameters have the columns' names."""
    return delete(table).where(and_(*(table.c[name] == bindparam(name) for name in names)))


def after_marker(keys: Sequence[ColumnElement[Any]], values: Sequence[Any], descending: bool) -> ColumnElement[bool]:
    """Return the condition for rows after the marker's in the order of several keys, none of which is null.

    SQLite and PostgreSQL begin to read an index at the marker, however many rows have the marker's first key, if the
    comparison of all keys is the first condition. MariaDB finds the beginning by the first key only.
    """
    first = keys[0] <= values[0] if descending else keys[0] >= values[0]
    place, marker = tuple_(*keys), tuple_(*values)
    return and_(place < marker if descending else place > marker, first)


def run_joint(connection: Connection, arguments: Iterable[tuple[JointStatement, object]]) -> None:
    """Run each statement once, with everything that is given for it."""
    values: dict[JointStatement, list[object]] = {}
    for statement, value in arguments:
        values.setdefault(statement, []).append(value)
    for statement, of_statement in values.items():
        statement(connection, of_statement)


_Compiled: TypeAlias = tuple[str, Callable[[Sequence[object]], tuple[object, ...] | dict[str, object]]]
"""The SQL of a statement, and what makes its parameters from as many keys."""

_compiled: dict[tuple[object, ...], _Compiled] = {}
"""The statements by dialect and number of keys. All databases of one kind share them."""


def rows_among(
    connection: Connection,
    statement: ClauseElement,
    values: Iterable[object],
    execution_options: Mapping[str, object] | None = None,
) -> Iterator[Row[Any]]:
    """Yield what a statement selects for keys: the `values` of `where_among`, its only parameter.

    The columns come as the driver has them: strings, numbers and None. The statement is compiled once for each number
    of keys: SQLAlchemy would write a parameter for each key into the SQL each time, which takes several times as long
    as the database needs for a few rows. The last key is repeated up to the next power of two, so that there are few
    numbers.
    """
    for page in pages(values):
        size = 1 << (len(page) - 1).bit_length()
        sql, arranged = _of_size(connection.dialect, statement, size)
        page += page[-1:] * (size - len(page))
        yield from connection.exec_driver_sql(sql, arranged(page), execution_options=execution_options)


def _of_size(dialect: Dialect, statement: ClauseElement, size: int) -> _Compiled:
    key = (type(dialect), type(dialect.identifier_preparer), statement, size)
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = _compile(dialect, statement, size)
    return found


def _compile(dialect: Dialect, statement: ClauseElement, size: int) -> _Compiled:
    compiled = cast(SQLCompiler, statement.compile(dialect=dialect))
    expanded = compiled.construct_expanded_state({"values": list(range(size))})
    if compiled.positional:
        return expanded.statement, tuple
    names = sorted(expanded.parameters, key=expanded.parameters.__getitem__)
    return expanded.statement, lambda page: dict(zip(names, page, strict=True))
