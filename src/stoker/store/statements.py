"""Statements that every request needs, built once: to build one and find its compiled form again takes SQLAlchemy
several times as long as it takes the database to answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Delete, Insert, Select, Table, Update, and_, bindparam, delete, insert, select, update


@cache
def where(table: Table, *names: str) -> Select[Any]:
    """Rows with these columns' values, which are parameters by the columns' names."""
    return select(table).where(and_(*(table.c[name] == bindparam(name) for name in names)))


@cache
def where_among(table: Table, name: str) -> Select[Any]:
    """Rows whose column has one of the `values`, a parameter that is a list."""
    return select(table).where(table.c[name].in_(bindparam("values", expanding=True)))


@cache
def into(table: Table) -> Insert:
    """New rows; the parameters are their columns."""
    return insert(table)


@cache
def change(table: Table, keys: tuple[str, ...], names: tuple[str, ...]) -> Update:
    """The columns `names` of the rows with these `keys`; parameters as `assigned` gives them."""
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
    return update(table).where(and_(*(table.c[key] == bindparam(f"is_{key}") for key in keys))).values(values)


def assigned(keys: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for `change`."""
    return {f"is_{key}": value for key, value in keys.items()} | {
        f"new_{name}": value for name, value in values.items()
    }


@cache
def without(table: Table, *names: str) -> Delete:
    """No more rows with these columns' values, which are parameters by the columns' names."""
    return delete(table).where(and_(*(table.c[name] == bindparam(name) for name in names)))
