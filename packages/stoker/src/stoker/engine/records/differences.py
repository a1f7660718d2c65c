"""The differences between two values, down to the leaves: keys of maps and items of lists, each with its path."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import orjson

from stoker.base.json_text import dumps
from stoker.base.redaction import REDACTED
from stoker.schema.unknown import has_unknown, is_scalar, is_unknown

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a value; the index of a removed item is that in the former list."""

NOT_KNOWN = "(known after apply)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two values. None stands for an absent value; `hidden` values must not be shown."""

    path: Path
    before: object
    after: object
    hidden: bool = False

    @property
    def known(self) -> bool:
        """Return whether the new value is known in advance."""
        return not has_unknown(self.after)

    def to_data(self) -> dict[str, object]:
        """Return plain JSON data."""
        return {
            "path": list(self.path),
            "before": self._shown(self.before),
            "after": self._shown(self.after) if self.known else NOT_KNOWN,
            "known": self.known,
            "hidden": self.hidden,
        }

    def _shown(self, value: object) -> object:
        return REDACTED if self.hidden and value is not None else value


def differences(before: object, after: object, hidden: Collection[Path] = ()) -> list[Difference]:
    """Return the leaves that differ, in the order of the new value; unknown values may differ.

    Everything below a path in `hidden` is one leaf, whose values must not be shown.
    """
    if is_scalar(before) and is_scalar(after):  # most values are: they have no parts
        return [Difference((), before, after, hidden=() in hidden)] if before != after else []
    found: dict[Path, Difference] = {}
    for difference in _walk((), before, after):
        length = next((end for end in range(len(difference.path) + 1) if difference.path[:end] in hidden), None)
        if length is None:
            found[difference.path] = difference
        else:
            path = difference.path[:length]
            found[path] = Difference(path, _at(before, path), _at(after, path), hidden=True)
    return list(found.values())


def shown(value: object, hidden: Collection[Path], path: Path = ()) -> object:
    """Return a value with hidden parts as asterisks, and unknown parts as null."""
    if is_unknown(value):
        return None
    if path in hidden:
        return REDACTED
    if isinstance(value, Mapping):
        return {key: shown(item, hidden, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [shown(item, hidden, (*path, index)) for index, item in enumerate(value)]
    return value


def _at(value: object, path: Path) -> object:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return value if is_unknown(value) else None
    return value


def _walk(path: Path, before: Any, after: Any) -> Iterator[Difference]:
    if _compound(before) and _compound(after) and isinstance(before, Mapping) == isinstance(after, Mapping):
        yield from (_maps if isinstance(before, Mapping) else _lists)(path, before, after)
    elif _compound(after) and before is None:
        yield from _leaves(path, after, added=True)
    elif _compound(before) and after is None:
        yield from _leaves(path, before, added=False)
    elif before != after or has_unknown(after):
        yield Difference(path, before, after)


def _compound(value: object) -> bool:
    """Return whether the value has children."""
    return not is_scalar(value) and isinstance(value, Mapping | list) and bool(value)


def _leaves(path: Path, value: Any, *, added: bool) -> Iterator[Difference]:
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, item in items:
        if item is not None:
            yield from _walk((*path, key), None, item) if added else _walk((*path, key), item, None)


def _maps(path: Path, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Difference]:
    for key in (*after, *(key for key in before if key not in after)):
        yield from _walk((*path, key), before.get(key), after.get(key))


def _lists(path: Path, before: list[object], after: list[object]) -> Iterator[Difference]:
    """Yield differences of lists: moved items are ignored, replaced ones are compared item by item."""
    matcher = SequenceMatcher(None, [_key(item) for item in before], [_key(item) for item in after], autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            for index in range(new_end - new_start):
                yield from _walk((*path, new_start + index), before[start + index], after[new_start + index])
            continue
        paired = min(end - start, new_end - new_start)
        for offset in range(paired):
            yield from _walk((*path, new_start + offset), before[start + offset], after[new_start + offset])
        for index in range(new_start + paired, new_end):
            yield from _walk((*path, index), None, after[index])
        for index in range(start + paired, end):
            yield from _walk((*path, index), before[index], None)


def _key(value: object) -> bytes:
    return dumps(value, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, repr)


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property's change from `before` to `after`; `effect` is its consequence.

    `hidden` are the paths of hidden values in the value; `()` means all of it.
    """

    name: str
    before: object = field(repr=False)
    after: object = field(repr=False)
    effect: str
    hidden: frozenset[Path] = frozenset()

    @property
    def known(self) -> bool:
        """Return whether the new value is known in advance."""
        return not has_unknown(self.after)

    def shown(self) -> object:
        """Return the redacted new value; unknown parts are null."""
        return shown(self.after, self.hidden)

    def to_data(self) -> list[dict[str, object]]:
        """Return plain JSON data: each difference in the value. Hidden values are asterisks."""
        found = differences(self.before, self.after, self.hidden)
        return [{"property": self.name, "effect": self.effect, **difference.to_data()} for difference in found]
