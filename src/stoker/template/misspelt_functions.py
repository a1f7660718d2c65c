"""Hints for maps that look like calls of functions, but whose key is not the name of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.base.diagnostics import Path
from stoker.base.similar import Suggestion, closest
from stoker.template.versions import VERSIONS, Version

_SIMILARITY = 0.8
_LONGEST_NAME = 60
_MARKS = ("_", "::")
"""A name with one of these is hardly anything but a function's."""


def function_hint(value: Any, version: Version) -> str:
    """Return a hint if `value` seems to be a call: of a misspelt function, or of one of another version."""
    name = _sole_key(value)
    if not name or name in version.functions:
        return ""
    later = [other for other in VERSIONS if other.key == version.key and name in other.functions]
    if later:
        return f"{name} is a function from {later[0].name.replace('.', ': ', 1)} on"
    close = closest(name, version.functions, _SIMILARITY)
    return Suggestion(name, close, "the function ") if close else ""


def misspelt_calls(value: Any, path: Path, version: Version) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, the name and a hint of each map inside `value` that seems to be a call of a misspelt function."""
    pending = [(value, path)]
    while pending:
        inner, place = pending.pop()
        name = _sole_key(inner)
        if any(mark in name for mark in _MARKS) and (hint := function_hint(inner, version)):
            yield place, name, hint
        if isinstance(inner, Mapping):
            pending += [(item, (*place, key)) for key, item in inner.items()]
        elif isinstance(inner, list):
            pending += [(item, (*place, index)) for index, item in enumerate(inner)]


def _sole_key(value: Any) -> str:
    """Return the key of a map that has one; otherwise an empty string."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return ""
    (name,) = value
    return name if isinstance(name, str) and len(name) <= _LONGEST_NAME else ""
