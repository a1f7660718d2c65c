"""Corrections of misspelt names: what `stoker lint --fix` writes, and the quick fixes of editors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stoker.base.diagnostics import Diagnostic

_BEFORE = re.compile(r"[\w.-]")
_AFTER = re.compile(r"[\w-]|\.\w|::")
"""What makes a name a part of a longer one, before and behind it."""


@dataclass(frozen=True, slots=True, order=True)
class Fix:
    """A part of a document, from `start` to `end` (offsets of characters), and what replaces it."""

    start: int
    end: int
    new: str


def fix_of(text: str, diagnostic: Diagnostic) -> Fix | None:
    """Return the correction of a problem; None if its hint suggests no name, or the place of the name is not certain.

    The name must stand on the line of the problem, once behind its column or right there.
    """
    if diagnostic.replacement is None or diagnostic.position is None:
        return None
    wrong, meant = diagnostic.replacement
    lines = text.splitlines(keepends=True)
    if diagnostic.position.line > len(lines):
        return None
    line = lines[diagnostic.position.line - 1]
    columns = [*_whole(line, wrong)]
    behind = [start for start in columns if start >= diagnostic.position.column - 1]
    if not behind or (len(behind) > 1 and behind[0] > diagnostic.position.column):
        return None
    start = sum(map(len, lines[: diagnostic.position.line - 1])) + behind[0]
    return Fix(start, start + len(wrong), meant)


def _whole(line: str, name: str) -> Iterable[int]:
    """Yield the columns at which a name stands that is not a part of a longer one."""
    start = line.find(name)
    while start >= 0:
        before, after = line[:start][-1:], line[start + len(name) :]
        if not _BEFORE.match(before) and not _AFTER.match(after):
            yield start
        start = line.find(name, start + 1)


def fixed(text: str, diagnostics: Iterable[Diagnostic]) -> tuple[str, int]:
    """Return a document with the problems corrected that can be, and the number of corrections."""
    fixes = sorted({fix for diagnostic in diagnostics if (fix := fix_of(text, diagnostic)) is not None}, reverse=True)
    done, edge = 0, len(text) + 1
    for fix in fixes:
        if fix.end > edge:  # two corrections of one place: the other is left for a second look
            continue
        text, edge, done = text[: fix.start] + fix.new + text[fix.end :], fix.start, done + 1
    return text, done
