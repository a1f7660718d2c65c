"""Reading rows by many keys with one statement, which is compiled once for each number of keys.

SQLAlchemy would put the list of keys into the text of the statement each time, which takes several times as long as
the database needs for a few rows. The last key is repeated up to the next power of two, so that there are few numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Connection, Dialect, Row, Select

from stoker.store import statements

_Compiled: TypeAlias = tuple[str, Callable[[Sequence[object]], Any]]
"""The text of a statement, and what makes its parameters from as many keys."""

_compiled: dict[tuple[object, ...], _Compiled] = {}
"""The statements by dialect and number of keys. All databases of one kind share them."""


def rows_among(
    connection: Connection,
    statement: Select[Any],
    values: Iterable[object],
    execution_options: Mapping[str, Any] | None = None,
) -> Iterator[Row[Any]]:
    """Yield what a statement selects for keys: the `values` of `statements.where_among`, its only parameter.

    The columns come as the driver has them: strings, numbers and None.
    """
    for page in statements.pages(values):
        size = 1 << (len(page) - 1).bit_length()
        text, arranged = _of_size(connection.dialect, statement, size)
        page += page[-1:] * (size - len(page))
        yield from connection.exec_driver_sql(text, arranged(page), execution_options=execution_options)


def _of_size(dialect: Dialect, statement: Select[Any], size: int) -> _Compiled:
    key = (type(dialect), type(dialect.identifier_preparer), statement, size)
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = _compile(dialect, statement, size)
    return found


def _compile(dialect: Dialect, statement: Select[Any], size: int) -> _Compiled:
    compiled: Any = statement.compile(dialect=dialect)
    expanded = compiled.construct_expanded_state({"values": list(range(size))})
    if compiled.positional:
        return expanded.statement, tuple
    names = sorted(expanded.parameters, key=expanded.parameters.__getitem__)
    return expanded.statement, lambda page: dict(zip(names, page, strict=True))
