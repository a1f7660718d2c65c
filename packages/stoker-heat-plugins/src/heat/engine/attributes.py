"""Attributes of a resource type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from heat.engine import support

SHOW_ATTR = "show"
BASE_ATTRIBUTES = (SHOW_ATTR,)
ALL_ATTRIBUTES = "*"


class Schema:
    """The declaration of an attribute.

    Plug-ins pass the type in the place of the support status, too, which Heat does not notice: it is accepted there.
    """

    KEYS = (DESCRIPTION, TYPE) = ("description", "type")
    CACHE_MODES = (CACHE_LOCAL, CACHE_NONE) = ("cache_local", "cache_none")
    TYPES = (STRING, MAP, LIST, INTEGER, BOOLEAN, NUMBER, ANY) = (
        "String",
        "Map",
        "List",
        "Integer",
        "Boolean",
        "Number",
        "Any",
    )

    def __init__(
        self,
        description: str | None = None,
        support_status: support.SupportStatus | str | None = None,
        cache_mode: str = CACHE_LOCAL,
        type: str | None = None,
    ) -> None:
        if isinstance(support_status, str):
            type, support_status = type or support_status, None
        self.description, self.type, self.cache_mode = description, type, cache_mode
        self.support_status = support_status or support.SupportStatus()


class Attributes(Mapping[str, Any]):
    """The attributes of one resource; values are read when they are asked for."""

    def __init__(self, schema: Mapping[str, Schema], read: Callable[[str], object]) -> None:
        self._schema, self._read = schema, read

    def __getitem__(self, name: str) -> object:
        if name not in self._schema:
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)
