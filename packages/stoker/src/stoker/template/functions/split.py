"""str_split and Fn::Split: the pieces of a string between delimiters."""

from __future__ import annotations

from typing import Any

from stoker.base.budget import size_of
from stoker.template.expressions import Evaluation, entries_of, items_of
from stoker.template.functions.base import Function, is_list, to_index, variant

_PIECE_BYTES = 64
"""The memory that a piece takes in addition to its characters, in bytes."""


@variant("str_split/1")
class StrSplit(Function):
    """The pieces of a string between delimiters, or with an index, one of them.

    Takes the delimiter, the string and optionally the index.
    """

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        return self._shape if entries_of(arguments) is not None else None

    _shape = "takes a list: a delimiter, a string and, optionally, the index of one piece"

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        if not is_list(arguments) or len(arguments) < 2:
            raise self.wrong(self._shape)
        delimiter, text, *index = arguments
        if text is None:
            return None
        if not isinstance(delimiter, str) or not isinstance(text, str):
            raise self.wrong_type("the delimiter and the string must be strings")
        if not delimiter:
            raise self.wrong("the delimiter must not be empty")
        evaluation.budget.charge(made=size_of(text) + _PIECE_BYTES * (text.count(delimiter) + 1))
        pieces = text.split(delimiter)
        return self._piece(pieces, index[0]) if index else pieces

    def _piece(self, pieces: list[str], index: object) -> str:
        position = to_index(index)
        if position is None:
            raise self.wrong(f"the index must be an integer, not {index!r}")
        if not -len(pieces) <= position < len(pieces):
            raise self.wrong(f"the index {position} is out of range; the string has {len(pieces)} pieces")
        return pieces[position]


@variant("Fn::Split/1")
class FnSplit(StrSplit):
    """The pieces of a string between delimiters; takes the delimiter and the string."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        return "takes a list of two: a delimiter and a string" if items is None or len(items) != 2 else None
