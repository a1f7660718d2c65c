"""Comments that suppress diagnostics: `# stoker: ignore[rule, rule]`.

At the end of a line, it applies to that line; on a separate line, to the next line that is not a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from stoker.authoring.rules import WARNING
from stoker.base.diagnostics import Diagnostic, Position

_COMMENT = re.compile(r"(?:^|\s)#\s*stoker:\s*ignore\[([a-z\-,\s]*)\]")


@dataclass(slots=True)
class _Ignore:
    """One rule that a comment ignores on one line."""

    rule: str
    line: int
    position: Position
    used: bool = field(default=False)


def _ignores(text: str) -> Iterator[_Ignore]:
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = _COMMENT.search(line)
        if match is None:
            continue
        position = Position(index + 1, line.index("#", match.start()) + 1)
        target = index
        while target < len(lines) - 1 and lines[target].lstrip()[:1] in ("#", ""):
            target += 1
        for rule in match[1].split(","):
            yield _Ignore(rule.strip(), target + 1, position)


def suppress(diagnostics: Iterable[Diagnostic], source: str, text: str) -> list[Diagnostic]:
    """Return the diagnostics of a source that no comment suppresses, with one for each unused comment."""
    ignores = list(_ignores(text))
    reported = []
    for diagnostic in diagnostics:
        line = diagnostic.position.line if diagnostic.position else None
        matching = [item for item in ignores if item.rule == diagnostic.rule and item.line == line]
        for item in matching:
            item.used = True
        if not matching:
            reported.append(diagnostic)
    reported += (_idle(item, source) for item in ignores if not item.used)
    return reported


def _idle(item: _Ignore, source: str) -> Diagnostic:
    return Diagnostic(
        "unused-ignore",
        f"there is no diagnostic of the rule {item.rule!r} to ignore on line {item.line}",
        source=source,
        position=item.position,
        hint="remove the comment",
        severity=WARNING,
    )
