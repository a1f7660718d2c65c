"""Render diagnostics: as excerpts with a caret, in styled pieces, as JSON, and as SARIF for code review.

Used by the linter, and by commands for the errors of a server.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from stoker.authoring.rules import ERROR, WARNING
from stoker.base.diagnostics import Diagnostic, Position, format_path
from stoker.base.manual import rule_page
from stoker.template.rules import Rule

TextOf = Callable[[str], str | None]
"""Returns the content of a source by its name; None if there is none to show."""
Piece = tuple[str, str]
"""Text and its style: "bold", "blue", "bold red", "bold yellow", or "" for none."""

_STYLES = {ERROR: "bold red", WARNING: "bold yellow"}
_LEVELS = {ERROR: "error", WARNING: "warning"}
_CONTEXT_LINES = 1
_LEAST_ROOM = 20
_DOTS = "..."
_TOKEN = re.compile(r"""["']?[\w./+\-]+(?:::?[\w./+\-]+)*["']?|.""")
_MOST_SKIPPED = 10
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


# -- text --------------------------------------------------------------------------------------------------------


def explanation(diagnostic: Diagnostic, text: str | None, columns: int = sys.maxsize) -> list[Piece]:
    """Return a diagnostic with its message, its location, the source lines with a caret, and the hint.

    Of source lines that do not fit into `columns`, the part around the caret is shown.
    """
    style = _STYLES[diagnostic.severity]
    lines = (text or "").splitlines()
    position = diagnostic.position
    width = len(str(position.line)) if position else 1
    shown = [
        (f"{diagnostic.severity}[{diagnostic.rule}]", style),
        (f": {diagnostic.message}\n", "bold"),
        (f"{' ' * width}--> ", "blue"),
        (f"{_place(diagnostic)}\n", ""),
    ]
    if position is not None and position.line <= len(lines):
        shown += _excerpt(lines, position, width, style, max(_LEAST_ROOM, columns - width - len(" | ")))
    if diagnostic.hint:
        shown += [(f"{' ' * width} = ", "blue"), (f"{diagnostic.hint}\n", "")]
    return shown


def _place(diagnostic: Diagnostic) -> str:
    position = diagnostic.position
    source = diagnostic.source or "template"
    where = f"{source}:{position.line}:{position.column}" if position else source
    return f"{where}  {format_path(diagnostic.path)}".rstrip()


def _excerpt(lines: Sequence[str], position: Position, width: int, style: str, room: int) -> Iterator[Piece]:
    before = position.column - 1
    token = _TOKEN.match(lines[position.line - 1], before)
    marks = "^" * min(len(token[0]) if token else 1, room - 2 * len(_DOTS))
    whole = before + len(marks) + len(_DOTS) <= room or len(lines[position.line - 1]) <= room
    start = 0 if whole else before + len(marks) + len(_DOTS) - room
    first = max(1, position.line - _CONTEXT_LINES)
    for number in range(first, position.line + 1):
        line = lines[number - 1].rstrip().replace("\t", " ")
        if line or number == position.line:
            yield f"{number:>{width}} | ", "blue"
            yield f"{_part(line, start, room)}\n", ""
    yield f"{' ' * width} | ", "blue"
    yield f"{' ' * (before - start)}{marks}\n", style


def _part(line: str, start: int, room: int) -> str:
    """Return `room` characters of a line from `start` on, with dots where something is left out."""
    part = line[start : start + room]
    if start and part:
        part = _DOTS + part[len(_DOTS) :]
    return part if len(line) <= start + room else part[: -len(_DOTS)] + _DOTS


def summary(diagnostics: Sequence[Diagnostic], files: int, skipped: Mapping[str, str] | None = None) -> str:
    """Return the number of diagnostics and files: `2 errors and 1 warning in 3 files`. `skipped` are the reasons why
    other files were not checked, by path.
    """
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    counted = " and ".join(_counted(counts[severity], severity) for severity in (ERROR, WARNING) if counts[severity])
    others = "".join(f"\nnot checked: {path}: {why}" for path, why in sorted((skipped or {}).items())[:_MOST_SKIPPED])
    left_out = len(skipped or {}) - _MOST_SKIPPED
    rest = f"\nnot checked: {_counted(left_out, 'other file')}, which -f json lists" if left_out > 0 else ""
    return f"{counted or 'no problems'} in {_counted(files, 'file')}{others}{rest}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# -- data --------------------------------------------------------------------------------------------------------


def to_json(diagnostics: Sequence[Diagnostic], files: int, skipped: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return diagnostics as plain data with the page of each rule, if the manual's place is known, and their number.

    `skipped` are the reasons why other files were not checked, by path.
    """
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    return {
        "diagnostics": [{**diagnostic.to_dict(), **_link("url", diagnostic.rule)} for diagnostic in diagnostics],
        "skipped": [{"source": path, "reason": why} for path, why in sorted((skipped or {}).items())],
        "summary": {"files": files, "errors": counts[ERROR], "warnings": counts[WARNING]},
    }


def to_sarif(
    diagnostics: Sequence[Diagnostic],
    rules: Mapping[str, Rule],
    version: str,
    skipped: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return diagnostics as a SARIF 2.1.0 log for code review tools, which notes the files that were not checked."""
    used = sorted({diagnostic.rule for diagnostic in diagnostics})
    driver = {"name": "stoker lint", "semanticVersion": version, "rules": [_sarif_rule(name, rules) for name in used]}
    results = [_sarif_result(diagnostic, used.index(diagnostic.rule)) for diagnostic in diagnostics]
    notes = [
        {"level": "note", "message": {"text": f"{path} was not checked: {why}"}}
        for path, why in sorted((skipped or {}).items())
    ]
    run: dict[str, object] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if notes:
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notes}]
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _link(key: str, rule: str) -> dict[str, str]:
    page = rule_page(rule)
    return {key: page} if page else {}


def _sarif_rule(name: str, rules: Mapping[str, Rule]) -> dict[str, object]:
    rule = rules.get(name)
    if rule is None:
        return {"id": name}
    return {
        "id": name,
        **_link("helpUri", name),
        "shortDescription": {"text": rule.meaning},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _sarif_result(diagnostic: Diagnostic, index: int) -> dict[str, object]:
    message = ". ".join(part for part in (diagnostic.message, diagnostic.hint) if part)
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(diagnostic.source)}}}
    position = diagnostic.position
    if position is not None:
        location["physicalLocation"]["region"] = {"startLine": position.line, "startColumn": position.column}
    if diagnostic.path:
        location["logicalLocations"] = [{"fullyQualifiedName": format_path(diagnostic.path)}]
    return {
        "ruleId": diagnostic.rule,
        "ruleIndex": index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message},
        "locations": [location],
    }
