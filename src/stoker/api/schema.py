"""Declarations of queries and bodies, and their conversion to arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from stoker.api.bodies import absent_body
from stoker.api.faults import BadRequest
from stoker.api.fields import Check, text

MAX_QUERY_FIELDS = 1000


@dataclass(frozen=True)
class Field:
    """One named value: its check, its default, and whether it can be repeated.

    A repeatable field is a list of its values.
    """

    check: Check = text
    default: Any = None
    required: bool = False
    repeatable: bool = False


@dataclass(frozen=True)
class Query:
    """The accepted query string.

    `filters` are repeatable strings, which are collected in the argument `filters` as a map of lists, if any are
    declared. With `strict`, unknown keys are refused; otherwise they are ignored, as in Heat.
    """

    fields: Mapping[str, Field] = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    strict: bool = False

    def read(self, query_string: str) -> dict[str, Any]:
        """Return the checked values by name. Raises BadRequest."""
        given = _parse(query_string)
        if self.strict:
            _refuse_unknown("query parameter", given, {*self.fields, *self.filters})
        values = {name: _query_value(name, spec, given.get(name, [])) for name, spec in self.fields.items()}
        if self.filters:
            values["filters"] = {name: given[name] for name in self.filters if name in given}
        return values


@dataclass(frozen=True)
class Body:
    """The accepted JSON object in the body. Without `required`, the body can be omitted.

    With `strict`, unknown keys are refused; otherwise they are ignored, as in Heat.
    """

    fields: Mapping[str, Field]
    required: bool = True
    strict: bool = False

    def read(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the checked values by name; null counts as missing. Raises BadRequest."""
        if given is None and self.required:
            raise absent_body()
        given = given or {}
        if self.strict:
            _refuse_unknown("key of the body", given, self.fields)
        return {name: _body_value(name, spec, given.get(name)) for name, spec in self.fields.items()}


def _parse(query_string: str) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(query_string, keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except UnicodeDecodeError:
        raise BadRequest("The query string is not UTF-8 after its %-escapes are decoded.") from None
    except ValueError:
        raise BadRequest(f"The query string has more than {MAX_QUERY_FIELDS} parameters.") from None
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            raise BadRequest("The query string contains a NUL character.")
        given.setdefault(name, []).append(value)
    return given


def _query_value(name: str, spec: Field, values: list[str]) -> Any:
    if spec.repeatable:
        return [spec.check(name, value) for value in values]
    if len(values) > 1:
        raise BadRequest(f"The query parameter {name} is given {len(values)} times; it takes one value.")
    if not values:
        return spec.default
    return spec.check(name, values[0])


def _body_value(name: str, spec: Field, value: Any) -> Any:
    if value is not None:
        return spec.check(name, value)
    if spec.required:
        raise BadRequest(f"The body must have the key {name}.")
    return spec.default


def _refuse_unknown(kind: str, given: Mapping[str, Any], known: Any) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise BadRequest(f"Unknown {kind}: {', '.join(unknown)}; the known ones are {', '.join(sorted(known))}.")
