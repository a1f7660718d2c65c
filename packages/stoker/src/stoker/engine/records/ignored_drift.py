"""Differences from the cloud that templates ignore (`ignore_drift`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.plugins.live_values import has_drifted, live_values
from stoker.plugins.resource import ResourceType, finalized
from stoker.schema.live import LISTED, same
from stoker.schema.property import Property, Type
from stoker.template.ignored_drift import PropertyPath, current_names, property_path

IGNORED_IN_TEMPLATE = "IGNORED_IN_TEMPLATE"
"""The reason for an ignored path."""
_PLAIN = Property(type=Type.MAP)


@dataclass(frozen=True, slots=True)
class IgnoredPath:
    """A path that a template ignores, as it is written there, and whether the cloud differs there."""

    path: str
    differs: bool
    reason: str = IGNORED_IN_TEMPLATE

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"path": self.path, "differs": self.differs, "reason": self.reason}


def paths_of(kind: ResourceType, written: Iterable[str]) -> dict[str, PropertyPath]:
    """Return the paths that a template ignores, by how it writes them."""
    return {text: current_names(kind.properties, property_path(text)) for text in written}


def is_ignored(path: Sequence[object], ignored: Iterable[PropertyPath]) -> bool:
    """Return whether everything at a path is ignored."""
    return any(tuple(path[: len(each)]) == each for each in ignored)


def without_ignored(
    kind: ResourceType, recorded: Mapping[str, object], found: Mapping[str, object], ignored: Iterable[PropertyPath]
) -> dict[str, object]:
    """Return what was found to differ without the properties that differ in ignored parts only.

    A property that also differs elsewhere stays whole, as it is written as a whole when it is corrected. `recorded` are
    the values that a template gives, or those that types receive.
    """
    paths = list(ignored)
    if not paths or not found:
        return dict(found)
    expected, known = finalized(kind, recorded), live_values(kind)

    def counts(name: str, live: object) -> bool:
        below = [path[1:] for path in paths if path[0] == name]
        if () in below:
            return False
        if not below or live is None:
            return True
        rest = (_without(value, below) for value in (expected.get(name), live))
        return has_drifted(kind.properties.get(name, _PLAIN), known.get(name, LISTED), *rest)

    return {name: live for name, live in found.items() if counts(name, live)}


def ignored_paths(
    recorded: Mapping[str, object], found: Mapping[str, object], ignored: Mapping[str, PropertyPath]
) -> tuple[IgnoredPath, ...]:
    """Return the ignored paths, and whether the cloud differs there."""

    def differs(path: PropertyPath) -> bool:
        if path[0] not in found:
            return False
        return not same(_inside(recorded, path), _inside(found, path))

    return tuple(IgnoredPath(text, differs(path)) for text, path in ignored.items())


def _inside(value: object, path: Sequence[str]) -> object:
    """Return the value in nested maps; None if there is none."""
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _without(value: object, paths: Sequence[PropertyPath]) -> object:
    if not isinstance(value, Mapping):
        return value
    return {
        key: _without(item, [path[1:] for path in paths if path[0] == key])
        for key, item in value.items()
        if (key,) not in paths
    }
