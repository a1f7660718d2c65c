"""What completion offers, without how it is found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Category(Enum):
    """What an item is, for the icons of editors."""

    SECTION = "section"
    TYPE = "type"
    PROPERTY = "property"
    VALUE = "value"
    FUNCTION = "function"
    PARAMETER = "parameter"
    RESOURCE = "resource"
    ATTRIBUTE = "attribute"
    NAME = "name"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Item:
    """One completion: `insert` takes the place of what has been typed so far. `documentation` is in Markdown; that of
    a TYPE is made when it is asked for (`describe.of_type`).
    """

    label: str
    category: Category
    insert: str
    detail: str = ""
    documentation: str = ""
    deprecated: bool = False
    first: bool = False


@dataclass(frozen=True)
class Completion:
    """The items for a place; each replaces what is between the offsets `start` and `end`."""

    start: int
    end: int
    items: list[Item]
