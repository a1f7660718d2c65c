"""Positions of the protocol: lines, and characters in the units that the editor counts in, from offsets and back."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from lsprotocol import types
from pygls.workspace import PositionCodec

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")


class Positions:
    """Converts between offsets in a document and positions. Lines end with `\\n`, `\\r\\n` or `\\r` only."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._text = text
        self._codec = codec
        lengths = [len(found[0]) for found in _LINE.finditer(text) if found[0]]
        self._starts = [0, *accumulate(lengths)]
        if len(self._starts) > 1 and text[-1:] not in ("\n", "\r"):
            self._starts.pop()

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; one beyond the end of its line counts as that end."""
        if position.line >= len(self._starts):
            return len(self._text)
        line, _ = self._line(position.line)
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return self._starts[position.line] + index
            units += self._codec.client_num_units(character)
        return self._starts[position.line] + len(line)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        number = bisect_right(self._starts, offset) - 1
        line, start = self._line(number)
        return types.Position(number, self._codec.client_num_units(line[: offset - start]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def start_of(self, line: int, column: int) -> int:
        """Return the offset of a line and a column, both counted from 1 and in characters, as diagnostics have them."""
        number = min(line - 1, len(self._starts) - 1)
        text, start = self._line(number)
        return start + min(column - 1, len(text))

    def _line(self, number: int) -> tuple[str, int]:
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
        return self._text[start:end].rstrip("\r\n"), start
