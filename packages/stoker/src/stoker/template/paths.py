"""Following a path into a value: maps by key, lists by position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.schema.unknown import Unknown


def follow_attribute(value: object, path: Iterable[Any]) -> object:
    """Return the value at `path`, as `get_attr` does; None for a missing key, a bad index or a scalar.

    A list index must be an integer; a string is never indexed. An unknown on the path is returned.
    """
    for part in path:
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, Sequence) and not isinstance(value, str) and _is_position(part, value):
            value = value[part]
        else:
            return None
    return value


def follow_parameter(value: object, path: Iterable[object]) -> object:
    """Return the value at `path`, as `get_param` does: like `follow_attribute`, with an empty string instead of None.

    Numeric strings are indexes too, and indexing a string gives a character.
    """
    for part in path:
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Mapping):
            if part not in value:
                return ""
            value = value[part]
        elif isinstance(value, Sequence):
            index = to_index(part)
            if index is None or not -len(value) <= index < len(value):
                return ""
            value = value[index]
        else:
            return ""
    return value


def to_index(value: object) -> int | None:
    """Return a list index from an integer or its decimal string; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return None


def _is_position(part: object, items: Sequence[object]) -> bool:
    return isinstance(part, int) and not isinstance(part, bool) and -len(items) <= part < len(items)
