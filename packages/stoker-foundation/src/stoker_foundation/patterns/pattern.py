"""One pattern, and the choice of the engine that matches it."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from functools import lru_cache
from re import _parser as parser  # type: ignore[attr-defined, unused-ignore]
from typing import Any

import re2

from stoker_foundation.patterns import helper
from stoker_foundation.patterns.automaton import automaton

MOST_CHARACTERS = 10_000
"""Maximum length of a pattern."""

_MOST_FOR_AUTOMATON = 65_536
"""Longer strings are not matched by RE2, which cannot be interrupted."""

_FROM_START, _ANYWHERE = re2._re2.RE2.Anchor.ANCHOR_START, re2._re2.RE2.Anchor.UNANCHORED
_WHOLE = re2._re2.RE2.Anchor.ANCHOR_BOTH
_NO_MATCH = (-1, -1)
_warning_filters = threading.Lock()


class PatternError(ValueError):
    """A string is not a valid regular expression."""


class Pattern:
    """A regular expression; see `compiled`."""

    __slots__ = ("_automaton", "_flags", "groups", "names", "text")

    def __init__(self, text: str, flags: int) -> None:
        tree = _parsed(text, flags)
        self.text = text
        self.groups: int = tree.state.groups - 1
        self.names: dict[str, int] = dict(tree.state.groupdict)
        self._flags = flags
        self._automaton: Any = automaton(tree)

    def fits(self, text: str) -> bool:
        """Return whether the match that Python finds at the beginning of `text` reaches its end.

        Raises PatternTooCostly, like all methods.
        """
        if self._for_automaton(text):
            return self._span(_FROM_START, text) == (0, len(text))
        return bool(self._ask("fits", text))

    def is_whole(self, text: str) -> bool:
        """Return whether any match is the whole of `text`; unlike that of `fits`, it may be a later alternative."""
        if self._for_automaton(text):
            return self._span(_WHOLE, text) != _NO_MATCH
        return bool(self._ask("is_whole", text))

    def begins(self, text: str) -> bool:
        """Return whether the pattern matches at the beginning of `text`."""
        if self._for_automaton(text):
            return self._span(_FROM_START, text) != _NO_MATCH
        return bool(self._ask("begins", text))

    def found_in(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in `text`."""
        if self._for_automaton(text):
            return self._span(_ANYWHERE, text) != _NO_MATCH
        return bool(self._ask("found", text))

    def first(self, text: str) -> helper.Match | None:
        """Return the first match in `text`; None when there is none."""
        return next(self._read(text, self._ask("first", text)), None)

    def matches(self, text: str) -> list[helper.Match]:
        """Return all non-overlapping matches in `text`."""
        return list(self._read(text, self._ask("matches", text)))

    def replaced(self, text: str, replacement: str, count: int = 0) -> str:
        """Return `text` with its first `count` matches replaced, 0 for all.

        As in `re.sub`, `replacement` may refer to groups. Raises ValueError for an invalid replacement.
        """
        return str(self._ask("replaced", text, replacement, count))

    def _read(self, text: str, found: Any) -> Iterator[helper.Match]:
        return (helper.Match(text, tuple((start, end) for start, end in spans), self.names) for spans in found)

    def _span(self, anchor: object, text: str) -> tuple[int, int]:
        span: tuple[int, int] = self._automaton.Match(anchor, text.encode(), 0, len(text))[0]
        return span

    def _for_automaton(self, text: str) -> bool:
        return (
            self._automaton is not None
            and text.isascii()
            and len(text) <= _MOST_FOR_AUTOMATON
            and not text.endswith("\n")
        )

    def _ask(self, question: str, *arguments: object) -> Any:
        return helper.ask(question, self.text, self._flags, *arguments)


def _parsed(text: str, flags: int) -> Any:
    if len(text) > MOST_CHARACTERS:
        raise PatternError(f"it has {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    try:
        with _warning_filters, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(text, flags)
    except RecursionError as error:
        raise PatternError("it is nested too deep") from error
    except (re.error, OverflowError) as error:
        raise PatternError(str(error)) from error


@lru_cache(maxsize=128)
def compiled(text: str, *, ignore_case: bool = False, multi_line: bool = False, dot_all: bool = False) -> Pattern:
    """Compile a pattern in Python's syntax. Raises PatternError."""
    flags = re.IGNORECASE * ignore_case | re.MULTILINE * multi_line | re.DOTALL * dot_all
    return Pattern(text, int(flags))
