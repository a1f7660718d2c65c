"""Which rows of a list a request asks for: conditions, order, pages, and searches with an expression."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from openstack_emulator.alarming.records import Alarm, HistoryEntry
from openstack_emulator.alarming.rules.validation import invalid
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.paging import page
from openstack_emulator.core.search import compare, predicate
from openstack_emulator.core.typed import TypedRecord
from openstack_emulator.core.validation.conversions import as_integer

T = TypeVar("T", bound=TypedRecord)
Read = Callable[[T, str], Any]
"""Returns the value of a field, by the name that requests give it."""


def field_of_alarm(alarm: Alarm, name: str) -> object:
    """The value of a field that alarms are filtered by."""
    if name == "meter_name":
        return alarm.rule.get("meter_name", alarm.rule.get("metric"))
    return alarm.get("id" if name == "alarm_id" else name)


def field_of_entry(entry: HistoryEntry, name: str) -> object:
    """The value of a field that the history is filtered by."""
    return entry.get("id" if name == "event_id" else name)


class Conditions:
    """The conditions of a list: parallel `q.field`, `q.op` and `q.value`."""

    def __init__(self, request: Request, known: Mapping[str, Collection[str]]) -> None:
        names, values = request.query.all("q.field"), request.query.all("q.value")
        operators = [operator or "eq" for operator in request.query.all("q.op")] or ["eq"] * len(names)
        if not len(names) == len(values) == len(operators):
            raise bad_request("Each condition needs q.field, q.op and q.value.")
        if unknown := set(names) - known.keys():
            raise invalid("field", _set(unknown), f"only fields {_set(known)} are allowed")
        for name, operator in zip(names, operators, strict=True):
            if operator not in known[name]:
                raise invalid("op", _set({operator}), f"only operations {_set(known[name])} are allowed")
        self._all = list(zip(names, operators, values, strict=True))

    def value(self, name: str) -> str | None:
        """The value that a field must have; its condition is dropped."""
        found = [value for field, _, value in self._all if field == name]
        self._all = [condition for condition in self._all if condition[0] != name]
        return found[-1] if found else None

    def matches(self, record: T, read: Read[T]) -> bool:
        """Whether a record has what all conditions say."""
        return all(compare(operator, read(record, name), value) for name, operator, value in self._all)


def _set(words: Collection[str]) -> str:
    """Strings as Aodh's messages list them."""
    return f"{{{', '.join(map(repr, sorted(words)))}}}"


def paged(rows: list[T], request: Request) -> list[T]:
    """The rows of the page that is asked for. Raises ApiError 400."""
    limit = request.query.get("limit")
    if limit is not None and as_integer(limit) is None:
        problem = f"invalid literal for int() with base 10: {limit!r}"
        raise invalid("limit", limit, f"unable to convert to int. Error: {problem}")
    return page(rows, request.query, missing=lambda marker: bad_request(f"Marker {marker} not found.")).rows


def found(rows: list[T], request: Request, read: Read[T]) -> list[T]:
    """The rows that the body's `filter` selects, in the order of `orderby`, at most `limit`."""
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    try:
        expression, order = (json.loads(body.get(name) or "null") for name in ("filter", "orderby"))
    except (TypeError, ValueError):
        raise bad_request("filter and orderby must be strings of JSON.") from None
    chosen = predicate(expression, read)
    rows = [row for row in rows if chosen(row)]
    if not isinstance(order or [], list) or not all(
        isinstance(entry, dict) and len(entry) == 1 for entry in order or []
    ):
        raise bad_request("orderby must be a list of objects with one field each.")
    for entry in reversed(order or []):
        ((name, direction),) = entry.items()
        rows.sort(key=lambda row: str(read(row, name)), reverse=str(direction).lower() == "desc")
    limit = body.get("limit")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise invalid("limit", limit, "Limit should be positive")
    return rows[:limit]
