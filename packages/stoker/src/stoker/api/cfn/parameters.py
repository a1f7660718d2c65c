"""Parameters of the Query API: how flat names represent lists and structures.

`Tags.member.2.Key=env` is the key of the second member of the list Tags. What an action takes is declared with the
kinds of `stoker.api.values`, as for the REST API.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stoker.api.cfn.faults import QueryError
from stoker.api.values import (
    STRING,
    Anything,
    Field,
    Fields,
    Notation,
    Structure,
    UnexpectedValue,
    ValueKind,
    read_fields,
)

Node: TypeAlias = "str | dict[str, Node]"

COMMON = frozenset(
    {
        "Action", "AWSAccessKeyId", "ContentType", "SecurityToken", "Signature", "SignatureMethod",
        "SignatureVersion", "Timestamp", "Version",
    }
)  # fmt: skip
"""What every request can have besides its action's own parameters; and everything that begins with `X-Amz-`."""

VERSION = "2010-05-15"

_NUMBER = re.compile(r"[0-9]{1,9}")


class FlatNotation(Notation):
    """The parameters of the Query API: `member.1`, `member.2` and so on are the items of a list, in the order of their
    numbers; an empty string is an empty list.
    """

    list_form = "a list: member.1, member.2 …"
    missing = "The request must have the parameter {name}."
    unknown = "Unknown parameter: {names}; it must be one of {known}."

    def items(self, name: str, value: Any) -> Iterable[tuple[str, Any]] | None:
        if value == "":
            return []
        members = value.get("member") if isinstance(value, dict) and len(value) == 1 else None
        if not isinstance(members, dict) or not all(_NUMBER.fullmatch(number) for number in members):
            return None
        return [(f"{name}.member.{number}", members[number]) for number in sorted(members, key=int)]


FLAT = FlatNotation()


class Entries(ValueKind):
    """A map of strings: `entry.1.key` and `entry.1.value` are one of its entries."""

    expected = "a map: entry.1.key, entry.1.value, entry.2.key …"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": STRING.schema}

    def read(self, name: str, value: object, notation: Notation = FLAT) -> dict[str, str]:
        entries = value.get("entry") if isinstance(value, dict) and len(value) == 1 else None
        if not isinstance(entries, dict) or not all(_NUMBER.fullmatch(number) for number in entries):
            raise UnexpectedValue(name, value, self.expected)
        pairs = [
            _ENTRY.read(f"{name}.entry.{number}", entries[number], notation) for number in sorted(entries, key=int)
        ]
        return {pair["key"]: pair["value"] for pair in pairs}


_ENTRY = Structure({"key": Field(STRING, required=True), "value": Field(STRING, required=True)})


def refused(why: str) -> Field:
    """Declare a parameter of AWS's that is not supported; `why` completes the sentence that refuses it."""
    return Field(Anything(), refused=why)


def read_parameters(fields: Fields, parameters: Mapping[str, Node]) -> dict[str, Any]:
    """Return the value of each parameter, or its default. Raises BadRequest."""
    return read_fields(fields, parameters, FLAT)


@dataclass
class Form:
    """The parameters of a request as received, each name once."""

    values: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: list[tuple[str, str]]) -> Form:
        """Create a form from names and values. Raises QueryError for a repeated name and for strings with NUL."""
        form = cls(dict(pairs))
        if len(form.values) < len(pairs):
            raise QueryError("InvalidQueryParameter", "A parameter is given more than once.")
        for name, value in pairs:
            if not (_is_text(name) and _is_text(value)):
                raise QueryError("InvalidQueryParameter", "A parameter is not a UTF-8 string, or contains NUL.")
        return form

    def own(self) -> dict[str, Node]:
        """Return the action's own parameters as a tree."""
        tree: dict[str, Node] = {}
        for name, value in self.values.items():
            if name not in COMMON and not name.startswith("X-Amz-"):
                _put(tree, name.split("."), value, name)
        return tree


def _put(tree: dict[str, Node], path: list[str], value: str, name: str) -> None:
    for part in path[:-1]:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            raise QueryError("InvalidQueryParameter", f"{name} and {part} are both given.")
        tree = below
    if path[-1] in tree:
        raise QueryError("InvalidQueryParameter", f"{name} is given both as a value and as a structure.")
    tree[path[-1]] = value


def _is_text(value: str) -> bool:
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
