"""Patterns of callers in simpler languages than Python's: matched by RE2, in time linear in the length of the string.

    fits_shell("web*", "web-1"), fits_like("web%", "web-1"), covers_path("/v1/*/stacks/**", path)
    expression("^web[0-9]+$").found_in("web12")

RE2 does not backtrack, and releases the interpreter's lock while it matches. So a pattern that is made to be expensive
delays only the request that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import re2

from stoker_foundation.patterns.helper import PatternTooCostly
from stoker_foundation.patterns.pattern import MOST_CHARACTERS, PatternError

MOST_IN_EXPRESSION = 1_000
"""Maximum length of an expression."""

_MEMORY_OF_EXPRESSION = 1 << 17
_MEMORY_OF_WILDCARDS = 1 << 23
_LONGEST_KEPT = 1_000
"""Longer patterns are not kept in the cache."""

_ANY, _ONE, _SEGMENT = "(?s:.*)", "(?s:.)", "[^/]+"
_REST = (False, _ANY)
_Anchor: Any = re2._re2.RE2.Anchor

Piece = tuple[bool, str]
"""A part of a pattern: a literal character (True), or RE2's expression for a wildcard (False)."""
Syntax = Callable[[str], Iterator[Piece]]


class Expression:
    """A regular expression in RE2's syntax; see `expression`."""

    __slots__ = ("_program",)

    def __init__(self, text: str, memory: int) -> None:
        options = re2.Options()
        options.max_mem = memory
        options.log_errors = False
        options.never_capture = True
        self._program: Any = re2._re2.RE2(_encoded(text), options)
        if not self._program.ok():
            raise PatternError(self._program.error().decode(errors="replace"))

    def fits(self, text: str) -> bool:
        """Return whether the expression matches all of `text`."""
        return self._matches(_Anchor.ANCHOR_BOTH, text)

    def begins(self, text: str) -> bool:
        """Return whether the expression matches at the beginning of `text`."""
        return self._matches(_Anchor.ANCHOR_START, text)

    def found_in(self, text: str) -> bool:
        """Return whether the expression matches anywhere in `text`."""
        return self._matches(_Anchor.UNANCHORED, text)

    def _matches(self, anchor: object, text: str) -> bool:
        encoded = _encoded(text)
        return bool(self._program.Match(anchor, encoded, 0, len(encoded))[0] != (-1, -1))


def expression(text: str) -> Expression:
    """Compile a regular expression of at most `MOST_IN_EXPRESSION` characters. Raises PatternError."""
    if len(text) > MOST_IN_EXPRESSION:
        raise PatternError(f"it has {len(text)} characters; at most {MOST_IN_EXPRESSION} are allowed")
    return _kept_expression(text)


def fits_shell(pattern: str, text: str) -> bool:
    """Return whether a shell's pattern matches all of `text`: `*`, `?`, `[a-z]` and `[!a-z]`, as in `fnmatch`.

    Raises PatternTooCostly, as all functions of this module for wildcards, if both are very long.
    """
    return _fits(pattern, text, _shell)


def fits_wildcards(pattern: str, text: str) -> bool:
    """Return whether a pattern in which `*` is any string and `?` any character matches all of `text`."""
    return _fits(pattern, text, _wildcards)


def fits_like(pattern: str, text: str) -> bool:
    """Return whether a pattern in which `%` is any string matches all of `text`."""
    return _fits(pattern, text, _like)


def covers_path(rule: str, path: str) -> bool:
    """Return whether the path of an application credential's access rule covers that of a request.

    `**` is any string, `*` and `{name}` are strings without a slash that are not empty. Other characters stand for
    themselves; a brace without its other half is ignored, as by keystonemiddleware, so that a rule means the same for
    all services. No rule covers a path with a line break, and a rule longer than `MOST_CHARACTERS` covers nothing.
    """
    return len(rule) <= MOST_CHARACTERS and "\n" not in path and _fits(rule, path, _path)


def _fits(pattern: str, text: str, syntax: Syntax) -> bool:
    prepared = _kept if len(pattern) <= _LONGEST_KEPT else _Prepared
    return prepared(pattern, syntax).fits(text)


class _Prepared:
    """A pattern with wildcards, which is compiled when there is a string long enough to match it."""

    __slots__ = ("_expression", "_pieces", "_shortest")

    def __init__(self, pattern: str, syntax: Syntax) -> None:
        self._pieces: list[Piece] = []
        for piece in syntax(_encoded(pattern).decode()):
            if piece != _REST or self._pieces[-1:] != [_REST]:
                self._pieces.append(piece)
        self._shortest = sum(piece != _REST for piece in self._pieces)
        self._expression: Expression | None = None

    def fits(self, text: str) -> bool:
        if len(text) < self._shortest:
            return False
        if self._expression is None:
            source = "".join(re2.escape(part) if literal else part for literal, part in self._pieces)
            try:
                self._expression = Expression(source, _MEMORY_OF_WILDCARDS)
            except PatternError as error:
                raise PatternTooCostly from error
        return self._expression.fits(text)


_kept_expression = lru_cache(maxsize=256)(lambda text: Expression(text, _MEMORY_OF_EXPRESSION))
_kept = lru_cache(maxsize=256)(_Prepared)


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")  # surrogates, which RE2 does not have, become question marks


# -- the languages -------------------------------------------------------------------------------------------------


def _wildcards(pattern: str) -> Iterator[Piece]:
    return (_REST if one == "*" else (False, _ONE) if one == "?" else (True, one) for one in pattern)


def _like(pattern: str) -> Iterator[Piece]:
    return (_REST if one == "%" else (True, one) for one in pattern)


def _shell(pattern: str) -> Iterator[Piece]:
    at, last = 0, pattern.rfind("]")
    while at < len(pattern):
        one = pattern[at]
        if one == "[" and (end := _end_of_set(pattern, at, last)):
            yield False, _set(pattern[at + 1 : end])
            at = end + 1
            continue
        yield from _wildcards(one)
        at += 1


def _end_of_set(pattern: str, at: int, last: int) -> int:
    """Return where the set that begins at `at` ends, 0 if it has no end. `last` is the last bracket of the pattern."""
    first = at + 2 if pattern.startswith("!", at + 1) else at + 1
    return pattern.find("]", first + 1) if first + 1 <= last else 0


def _set(inside: str) -> str:
    """Return RE2's set for one of the shell's; one that can contain nothing matches nothing."""
    negated = inside.startswith("!")
    members, ranges, at = inside[negated:], [], 0
    while at < len(members):
        low = high = members[at]
        if at + 2 < len(members) and members[at + 1] == "-":
            high = members[at + 2]
            at += 2
        at += 1
        if low <= high:
            ranges.append(rf"\x{{{ord(low):x}}}-\x{{{ord(high):x}}}")
    if not ranges:
        return _ONE if negated else r"[^\x00-\x{10FFFF}]"
    return f"[{'^' * negated}{''.join(ranges)}]"


def _path(rule: str) -> Iterator[Piece]:
    at = 0
    while at < len(rule):
        one = rule[at]
        end = rule.find("}", at) if one == "{" else -1
        if rule.startswith("**", at):
            yield _REST
            at += 1
        elif one == "*" or end > 0:
            yield False, _SEGMENT
            at = max(at, end)
        elif one not in "{}":
            yield True, one
        at += 1
