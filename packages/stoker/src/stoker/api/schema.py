"""Declarations of queries and bodies: what a request can contain, and how it becomes arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from stoker.api.bodies import absent_body
from stoker.api.faults import BadRequest
from stoker.api.values import JSON, Field, Fields, Structure, read_fields, refuse_unknown

MAX_QUERY_FIELDS = 1000


@dataclass(frozen=True)
class Query:
    """The parameters of a query string.

    `filters` are repeatable strings, collected in the argument `filters`, a map of lists, if any are declared. With
    `strict`, other parameters are refused; otherwise they are ignored, as in Heat.
    """

    fields: Fields = field(default_factory=dict)
    filters: tuple[str, ...] = ()
    strict: bool = False

    def read(self, query_string: str) -> dict[str, Any]:
        """Return the checked values by name. Raises BadRequest."""
        given = _parse(query_string)
        if self.strict:
            known = {*self.fields, *self.filters}
            choices = "it must be one of {known}." if known else "there is none here."
            refuse_unknown(f"Unknown query parameter: {{names}}; {choices}", given.keys() - known, known)
        values = {name: _query_value(name, spec, given.get(name, [])) for name, spec in self.fields.items()}
        if self.filters:
            values["filters"] = {name: given[name] for name in self.filters if name in given}
        return values


@dataclass(frozen=True)
class Body:
    """The keys of the JSON object in the body. Without `required`, the body can be omitted.

    With `strict`, other keys are refused; otherwise they are ignored, as in Heat.
    """

    fields: Fields
    required: bool = True
    strict: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the body."""
        return Structure(self.fields, self.strict).schema

    def read(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the checked values by name; null counts as not given. Raises BadRequest."""
        if given is None and self.required:
            raise absent_body()
        return read_fields(self.fields, given or {}, JSON, strict=self.strict)


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


def _query_value(name: str, spec: Field, values: list[str]) -> object:
    if spec.repeatable:
        return [spec.kind.read(name, value) for value in values]
    if len(values) > 1:
        raise BadRequest(f"The query parameter {name} is given {len(values)} times; it takes one value.")
    return spec.kind.read(name, values[0]) if values else spec.default
