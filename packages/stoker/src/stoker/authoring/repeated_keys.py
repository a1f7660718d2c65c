"""Find duplicate keys of mappings. YAML and JSON readers use the last one silently, as Heat does."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator

import yaml

from stoker.base.diagnostics import Diagnostic, Position

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_MERGE = "<<"


def repeated_keys(source: str, text: str) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each duplicate key of a mapping, in the order of the document."""
    for key, first, second in _in_json(text) if text.lstrip()[:1] == "{" else _in_yaml(text):
        yield Diagnostic(
            "duplicate-key",
            f"the mapping has the key {key!r} twice, so its value at {source}:{first.line}:{first.column} is ignored",
            source=source,
            position=second,
            hint="remove one of them",
        )


def _in_yaml(text: str) -> Iterator[tuple[str, Position, Position]]:
    """Yield each duplicate key with both positions, up to the first syntax error."""
    frames: list[_Frame] = []
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                frames.pop()
            if not isinstance(event, yaml.NodeEvent):
                continue
            if frames and isinstance(event, yaml.ScalarEvent):
                position = _position(event)
                first = frames[-1].earlier_position(event.value, position)
                is_merge = event.value == _MERGE and event.implicit[0]
                if first is not None and not is_merge:
                    yield event.value, first, position
            if frames:
                frames[-1].advance()
            if isinstance(event, yaml.CollectionStartEvent):
                frames.append(_Frame(isinstance(event, yaml.MappingStartEvent)))
    except yaml.YAMLError:
        return


def _position(event: yaml.ScalarEvent) -> Position:
    mark = event.start_mark
    assert mark is not None
    return Position(mark.line + 1, mark.column + 1)


def _in_json(text: str) -> Iterator[tuple[str, Position, Position]]:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        yield from _in_yaml(text)
        return
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    frames: list[_Frame] = []
    for token in _JSON_TOKEN.finditer(text):
        source = token[0]
        if source in ("{", "["):
            frames.append(_Frame(source == "{"))
        elif source in ("}", "]"):
            frames.pop()
        elif source in (":", ","):
            frames[-1].advance()
        elif source[0] == '"':
            line = bisect_right(line_starts, token.start())
            position = Position(line, token.start() - line_starts[line - 1] + 1)
            key = json.loads(source)
            if (first := frames[-1].earlier_position(key, position)) is not None:
                yield key, first, position


class _Frame:
    """A collection that is being read, with the keys of a mapping so far."""

    def __init__(self, is_mapping: bool) -> None:
        self._keys: dict[str, Position] = {}
        self._is_mapping = is_mapping
        self._expects_key = True

    def earlier_position(self, key: str, position: Position) -> Position | None:
        """Record the position of a key. Return its position before; None for a new key, and for values."""
        if not self._is_mapping or not self._expects_key:
            return None
        first = self._keys.setdefault(key, position)
        return None if first is position else first

    def advance(self) -> None:
        """Advance from a key to its value, or to the next key."""
        self._expects_key = not self._expects_key
