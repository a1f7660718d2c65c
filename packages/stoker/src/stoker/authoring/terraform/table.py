"""The table of Terraform's types for OpenStack and what they are in a template (`types.yaml`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import yaml

PREFIX = "openstack_"
PLACE = re.compile(r"\{(\w+)(?:/(-?\d+))?\}")
"""An attribute in the pattern of an ID, or one of its parts between slashes."""
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Names = Mapping[str, str]
"""Names of properties by the attributes that they are called in Terraform; with dots for keys of maps."""


@dataclass(frozen=True, slots=True)
class Block:
    """Maps in an attribute: the property `to` is a list of these, or the first one; "" for properties of the object."""

    to: str
    attributes: Names


@dataclass(frozen=True, slots=True)
class Containment:
    """What an object is part of: the one with the ID in the first of the attributes `owners` that has one.

    `value` is the attribute whose value is the property, `each` the one whose items are; without both, `attributes`
    and fixed `values` make an item; a single attribute without a name in the item is the item itself. `found_by` is the
    attribute of the other object that is compared.
    """

    owners: tuple[str, ...]
    property: str
    attributes: Names = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    value: str = ""
    each: str = ""
    found_by: str = "id"


@dataclass(frozen=True, slots=True)
class Row:
    """A type of Terraform. `none` says why there is no equivalent; see `types.yaml` for the rest."""

    name: str
    types: Mapping[str, str] = field(default_factory=dict)
    chosen_by: tuple[str, ...] = ()
    attributes: Names = field(default_factory=dict)
    blocks: Mapping[str, Block] = field(default_factory=dict)
    usual: Mapping[str, object] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    identifier: str = "{id}"
    imported_by: str = "{id}"
    each: str = ""
    into: Containment | None = None
    unless: Mapping[str, str] = field(default_factory=dict)
    adjust: str = ""
    shows: Names = field(default_factory=dict)
    required: tuple[str, ...] = ()
    former: bool = False
    writes: str = ""
    none: str = ""

    def type_of(self, attributes: Mapping[str, object]) -> str:
        """Return our type for an object with these attributes; "" if there is none."""
        if not self.chosen_by:
            return self.types.get("", "")
        values = [attributes.get(name) for name in self.chosen_by]
        if "set" in self.types:
            return self.types["set" if any(values) else "unset"]
        return self.types.get(str(values[0]), "")


@functools.cache
def rows() -> Mapping[str, Row]:
    """Return the rows by the types of Terraform, with their prefix."""
    text = files("stoker.authoring.terraform").joinpath("types.yaml").read_text("utf-8")
    data = yaml.load(text, _LOADER)  # noqa: S506  a safe loader
    return {PREFIX + name: _row(PREFIX + name, entry) for name, entry in data.items()}


@functools.cache
def rows_of_types() -> Mapping[str, Row]:
    """Return the first row of each of our types, in which Terraform has its objects one by one."""
    first_rows: dict[str, Row] = {}
    for row in rows().values():
        for name in (*row.types.values(), *filter(None, [row.writes])) if not (row.each or row.former) else ():
            first_rows.setdefault(name, row)
    return first_rows


def _row(name: str, entry: Mapping[str, Any]) -> Row:
    kind = entry.get("type", {})
    types = {"": kind} if isinstance(kind, str) else {key: type_name for key, type_name in kind.items() if key != "by"}
    return Row(
        name=name,
        types=types,
        chosen_by=tuple(kind.get("by", "").split()) if isinstance(kind, dict) else (),
        attributes=_names(entry.get("attributes", "")),
        blocks={key: Block(block["to"], _names(block["attributes"])) for key, block in entry.get("blocks", {}).items()},
        usual=entry.get("usual", {}),
        lost=tuple(entry.get("lost", "").split()),
        identifier=entry.get("id", "{id}"),
        imported_by=entry.get("import", "{id}"),
        each=entry.get("each", ""),
        into=_into(entry["into"]) if "into" in entry else None,
        unless=entry.get("unless", {}),
        adjust=entry.get("adjust", ""),
        shows=_names(entry.get("shows", "")),
        required=tuple(entry.get("required", "").split()),
        former=entry.get("former", False),
        writes=entry.get("writes", ""),
        none=entry.get("none", ""),
    )


def _into(entry: Mapping[str, Any]) -> Containment:
    rest = {name: value for name, value in entry.items() if name in ("values", "value", "each", "found_by")}
    owners = tuple(entry["object"].split())
    return Containment(owners, entry["property"], _names(entry.get("attributes", "")), **rest)


def _names(text: str) -> Names:
    return dict(_pairs(text))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        attribute, _, name = word.partition("=")
        yield attribute, name or attribute


def is_distinct(identifier: str) -> bool:
    """Return whether an ID is that of one object only, wherever it is: it has a UUID in it."""
    return _UUID.search(identifier) is not None


def composed(pattern: str, value_of: Callable[[str], str]) -> str:
    """Return an ID: a pattern with the values of attributes; "" if one of them has none."""
    missing = False

    def part(match: re.Match[str]) -> str:
        nonlocal missing
        name, number = match.groups()
        parts = value_of(name).split("/") if number else [value_of(name)]
        index = int(number or 0)
        value = parts[index] if -len(parts) <= index < len(parts) else ""
        missing = missing or not value
        return value

    text = PLACE.sub(part, pattern)
    return "" if missing else text
