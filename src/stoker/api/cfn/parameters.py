"""Parameters of the Query API: their declarations, and the conversion of flat names to lists and structures.

`Tags.member.2.Key=env` is the key of the second member of the list Tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stoker.api.cfn.faults import QueryError

Node: TypeAlias = "str | dict[str, Node]"
Reader: TypeAlias = Callable[[str, Node], Any]
"""Takes a parameter's full name and its raw value, and returns the parsed value. Raises QueryError."""

COMMON = frozenset(
    {
        "Action", "AWSAccessKeyId", "ContentType", "SecurityToken", "Signature", "SignatureMethod",
        "SignatureVersion", "Timestamp", "Version",
    }
)  # fmt: skip
"""Parameters of all requests in addition to those of the action; also all names with the prefix `X-Amz-`."""

VERSION = "2010-05-15"

_MOST_DIGITS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Parameter:
    """A parameter of an action.

    `aliases` are other spellings; `refused` is the reason why a parameter is not supported.
    """

    read: Reader
    required: bool = False
    default: Any = None
    aliases: tuple[str, ...] = ()
    refused: str = ""


Parameters: TypeAlias = Mapping[str, Parameter]


def text(name: str, node: Node) -> str:
    """Parse a string."""
    if not isinstance(node, str):
        raise _unexpected(name, "a string")
    return node


def boolean(name: str, node: Node) -> bool:
    """Parse true or false, in any case."""
    lowered = text(name, node).lower()
    if lowered not in ("true", "false"):
        raise _unexpected(name, "true or false")
    return lowered == "true"


def whole_number(name: str, node: Node) -> int:
    """Parse an integer of at least 0."""
    if not _MOST_DIGITS.fullmatch(text(name, node)):
        raise _unexpected(name, "an integer of at least 0")
    return int(text(name, node))


def whole_number_within(least: int, most: int) -> Reader:
    """Return a reader for an integer from `least` to `most`."""

    def read(name: str, node: Node) -> int:
        number = whole_number(name, node)
        if not least <= number <= most:
            raise QueryError("ValidationError", f"{name} must be between {least} and {most}.")
        return number

    return read


def one_of(*choices: str) -> Reader:
    """Return a reader for one of the given strings."""

    def read(name: str, node: Node) -> str:
        if text(name, node) not in choices:
            raise _unexpected(name, f"one of {', '.join(choices)}")
        return text(name, node)

    return read


def matching(pattern: str, what: str) -> Reader:
    """Return a reader for a string that matches the whole regular expression `pattern`; `what` describes it."""
    compiled = re.compile(pattern)

    def read(name: str, node: Node) -> str:
        if not compiled.fullmatch(text(name, node)):
            raise _unexpected(name, what)
        return text(name, node)

    return read


def list_of(item: Reader) -> Reader:
    """Return a reader for `member.1`, `member.2` …, sorted by number; an empty string is an empty list."""

    def read(name: str, node: Node) -> list[Any]:
        if node == "":
            return []
        members = node.get("member") if isinstance(node, dict) and len(node) == 1 else None
        if not isinstance(members, dict) or not all(_MOST_DIGITS.fullmatch(number) for number in members):
            raise _unexpected(name, "a list: member.1, member.2 …")
        return [item(f"{name}.member.{number}", members[number]) for number in sorted(members, key=int)]

    return read


def structure(**fields: Parameter) -> Reader:
    """Return a reader for a map with the given fields."""

    def read(name: str, node: Node) -> dict[str, Any]:
        if not isinstance(node, dict):
            raise _unexpected(name, f"a structure of {', '.join(fields)}")
        return read_all(fields, node, prefix=f"{name}.")

    return read


def refused(why: str) -> Parameter:
    """Return an unsupported parameter of AWS; `why` is the reason in the error message."""
    return Parameter(_anything, refused=why)


def _anything(name: str, node: Node) -> Node:
    return node


def read_all(parameters: Parameters, given: Mapping[str, Node], prefix: str = "") -> dict[str, Any]:
    """Return the values of all parameters; missing ones have their default or None. Raises QueryError."""
    known = {spelling: name for name, each in parameters.items() for spelling in (name, *each.aliases)}
    named: dict[str, Node] = {}
    for spelling, node in given.items():
        if spelling not in known:
            raise QueryError("InvalidQueryParameter", f"Unknown parameter {prefix}{spelling}.")
        if known[spelling] in named:
            raise QueryError("InvalidParameterCombination", f"{prefix}{known[spelling]} is given in two spellings.")
        named[known[spelling]] = node
    return {name: _read(each, f"{prefix}{name}", named.get(name)) for name, each in parameters.items()}


def _read(parameter: Parameter, name: str, node: Node | None) -> Any:
    if node is None:
        if parameter.required:
            raise QueryError("MissingParameter", f"The request must have the parameter {name}.")
        return parameter.default
    if parameter.refused:
        raise QueryError("ValidationError", f"{name} is not supported: {parameter.refused}")
    return parameter.read(name, node)


@dataclass
class Form:
    """The parameters of a request as received, with unique names."""

    values: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: list[tuple[str, str]]) -> Form:
        """Return a form from names and values. Raises QueryError for a repeated name, and for invalid characters."""
        form = cls(dict(pairs))
        if len(form.values) < len(pairs):
            raise QueryError("InvalidQueryParameter", "A parameter is given more than once.")
        for name, value in pairs:
            if not (_is_text(name) and _is_text(value)):
                raise QueryError("InvalidQueryParameter", "A parameter is not UTF-8, or contains a NUL character.")
        return form

    def own(self) -> dict[str, Node]:
        """Return the action's own parameters, as a tree."""
        tree: dict[str, Node] = {}
        for name, value in self.values.items():
            if name not in COMMON and not name.startswith("X-Amz-"):
                _put(tree, name.split("."), value, name)
        return tree


def _put(tree: dict[str, Node], path: list[str], value: str, name: str) -> None:
    for part in path[:-1]:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            raise QueryError("InvalidQueryParameter", f"{name} cannot be combined with {part}.")
        tree = below
    if path[-1] in tree:
        raise QueryError("InvalidQueryParameter", f"{name} is given both as a value and as a structure.")
    tree[path[-1]] = value


def _is_text(value: str) -> bool:
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


def _unexpected(name: str, expected: str) -> QueryError:
    return QueryError("InvalidParameterValue", f"{name} must be {expected}.")
