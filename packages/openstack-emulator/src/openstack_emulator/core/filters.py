"""Filters of lists, as Cinder and Manila have them: whose records a caller lists, and those with certain values."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import T, Table
from openstack_emulator.core.typed import Readable

Filter = Callable[[Readable, str], bool]


def equal(field: str) -> Filter:
    """The field is what the query says."""
    return lambda row, value: str(row.get(field)).lower() == value.lower()


def holds(field: str) -> Filter:
    """The field is an object with all that the query's object says (`{'a': 'b'}` or JSON)."""

    def test(row: Readable, requested: str) -> bool:
        try:
            properties = orjson.loads(requested.replace("'", '"'))
        except orjson.JSONDecodeError:
            raise bad_request(f"Invalid filter {field}: it must be an object, not {requested}.") from None
        return isinstance(properties, dict) and bool(properties.items() <= row.get(field).items())

    return test


def contains(field: str) -> Filter:
    """The field has the query's text in it."""
    return lambda row, value: value in str(row.get(field) or "")


def project_rows(collection: Table[T], request: Request) -> list[T]:
    """The rows the caller asks for, newest first: those of the project, or all of them for an admin who says so."""
    context, query = request.context, request.query
    everyone = context.is_admin and bool(query.boolean("all_tenants"))
    if not everyone:
        rows = collection.select(project_id=context.project)
    elif (project := query.get("project_id")) is not None:
        rows = collection.select(project_id=project)
    else:
        rows = list(collection)
    return rows[::-1]
