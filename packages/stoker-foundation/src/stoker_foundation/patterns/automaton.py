r"""Python's regular expressions in RE2's syntax, where the two engines agree.

The translation starts from the tree that Python's own parser produces, and is valid for ASCII strings only: sets and
classes of characters are expanded here, character by character, so that RE2's case folding and its definition of word
characters do not matter. Not translated, and therefore left to Python's engine, are

- features that RE2 lacks: look-around, backreferences, conditionals, atomic groups, possessive quantifiers, and
  repetition of more than 1000 times or of a very large subpattern;
- repetition of a subpattern that can match the empty string, where the two engines end a match in different places;
- `\B`, which Python does not match in an empty string.

`$` also matches before a newline at the very end, which RE2 cannot express: it is translated to the end of the string,
and RE2 is not used for strings that end in a newline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from re import _constants as codes  # type: ignore[attr-defined, unused-ignore]
from typing import Any

import re2

_MOST_MEMORY = 1 << 19
"""Bytes that RE2 may use for one pattern: its program and its caches together."""

_NOTHING = r"[^\x00-\x{10FFFF}]"
_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
_ASCII = [chr(number) for number in range(128)]
_IN_CATEGORY = {
    code: frozenset(character for character in _ASCII if re.fullmatch(text, character))
    for code, text in _CATEGORIES.items()
}
_REPETITIONS = {codes.MAX_REPEAT: "", codes.MIN_REPEAT: "?"}
_PLACES = {
    codes.AT_BEGINNING_STRING: r"\A",
    codes.AT_END_STRING: r"\z",
    codes.AT_BOUNDARY: r"\b",
}


class NotTranslatable(Exception):
    """RE2 lacks a feature that the pattern uses, or gives it another meaning."""


def automaton(tree: Any) -> Any | None:
    """Return RE2's program for a tree of `re`'s parser; None when no program gives the same results.

    It is valid for every ASCII string that does not end in a newline. Its method `Match(anchor, bytes, 0, size)`
    returns spans.
    """
    options = re2.Options()
    options.max_mem = _MOST_MEMORY
    options.log_errors = False
    options.never_capture = True
    try:
        program = re2._re2.RE2(_sequence(tree, tree.state.flags).encode("ascii"), options)
    except (NotTranslatable, RecursionError, re2.error):
        return None
    return program if program.ok() else None


def _sequence(items: Iterable[tuple[object, object]], flags: int) -> str:
    return "".join(_item(code, argument, flags) for code, argument in items)


def _item(code: Any, argument: Any, flags: int) -> str:
    if code is codes.LITERAL or code is codes.NOT_LITERAL:
        members: list[Any] = [(codes.LITERAL, argument)]
        return _set([(codes.NEGATE, None), *members] if code is codes.NOT_LITERAL else members, flags)
    if code is codes.ANY:
        return r"(?s:.)" if flags & re.DOTALL else r"[^\n]"
    if code is codes.IN:
        return _set(argument, flags)
    if code is codes.BRANCH:
        return f"(?:{'|'.join(_sequence(branch, flags) for branch in argument[1])})"
    if code is codes.SUBPATTERN:
        _, added, removed, inside = argument
        return f"(?:{_sequence(inside, (flags | added) & ~removed)})"
    if code in _REPETITIONS:
        return _repetition(argument, flags) + _REPETITIONS[code]
    if code is codes.AT:
        return _place(argument, flags)
    raise NotTranslatable


def _repetition(argument: Any, flags: int) -> str:
    fewest, most, inside = argument
    if inside.getwidth()[0] == 0:
        raise NotTranslatable
    end = "" if most is codes.MAXREPEAT else int(most)
    return f"(?:{_sequence(inside, flags)}){{{int(fewest)},{end}}}"


def _place(code: object, flags: int) -> str:
    if code is codes.AT_BEGINNING:
        return r"(?m:^)" if flags & re.MULTILINE else r"\A"
    if code is codes.AT_END:
        return r"(?m:$)" if flags & re.MULTILINE else r"\z"
    if code in _PLACES:
        return _PLACES[code]
    raise NotTranslatable


def _set(members: Sequence[tuple[object, object]], flags: int) -> str:
    """Return a set for the ASCII characters that a set, negated or not, contains."""
    folds = bool(flags & re.IGNORECASE)
    negated = bool(members) and members[0][0] is codes.NEGATE
    contained: set[str] = set()
    for code, argument in members[1:] if negated else members:
        contained |= _members(code, argument, folds)
    if folds:
        contained = {character for character in _ASCII if character.lower() in contained}
    chosen = [character for character in _ASCII if (character in contained) != negated]
    return "[" + "".join(rf"\x{ord(character):02x}" for character in chosen) + "]" if chosen else _NOTHING


def _members(code: Any, argument: Any, folds: bool) -> set[str]:
    """Return the ASCII characters of one member of a set, in lower case when case is ignored."""
    if code is codes.CATEGORY:
        found: Iterable[str] = _IN_CATEGORY[argument]
    elif code in (codes.LITERAL, codes.RANGE):
        first, last = (argument, argument) if code is codes.LITERAL else argument
        if folds and last > 127:  # some non-ASCII characters equal an ASCII one when case is ignored
            raise NotTranslatable
        found = map(chr, range(first, min(last, 127) + 1))
    else:
        raise NotTranslatable
    return {character.lower() for character in found} if folds else set(found)
