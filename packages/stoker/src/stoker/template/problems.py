"""The collection of a template's problems, and the order in which they are reported.

Heat reports the first error that it finds; we report all of them, in the order in which Heat checks, because the kind
of the first one is the error type that clients see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stoker.base.diagnostics import Diagnostic, Path, Position
from stoker.base.errors import TemplateInvalid
from stoker.base.similar import Suggestion, closest
from stoker.template.document import Document
from stoker.template.limits import DEFAULT_LIMITS

_SECTION_RANKS = {
    "parameters": 1,
    "parameter_defaults": 1,
    "parameter_groups": 2,
    "conditions": 3,
    "mappings": 3,
    "rules": 2,
    "resources": 4,
    "outputs": 5,
}
_RULE_RANKS = {
    "duplicate-name": 1,
    "unknown-resource": 2,
    "circular-dependency": 2,
    "unknown-attribute": 3,
    "function": 3,
    "missing-file": 3,
    "unknown-property": 3,
    "required-property": 3,
    "wrong-type": 3,
    "constraint": 3,
    "properties": 3,
}
"""Within a section: errors in reading the section come before errors in checking each resource, as in Heat."""


class Problems:
    """Collects diagnostics about one document.

    When there are `most` of them, TemplateInvalid is raised with all of them.
    """

    def __init__(self, document: Document, most: int = DEFAULT_LIMITS.max_problems) -> None:
        self._document = document
        self._most = most
        self._found: list[Diagnostic] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(
        self, rule: str, message: str, path: Path = (), *, hint: str = "", kind: str = "StackValidationFailed"
    ) -> None:
        """Add a problem at `path`."""
        self.add_all([Diagnostic(rule=rule, message=message, path=path, hint=hint, kind=kind)])

    def move_to(self, document: Document) -> None:
        """Look up positions in another document from now on."""
        self._document = document

    def add_all(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add problems that were found elsewhere."""
        for diagnostic in diagnostics:
            self._found.append(diagnostic)
            if len(self._found) >= self._most:
                self.raise_if_any()

    def sorted(self) -> list[Diagnostic]:
        """Return all problems, with positions, in the order of Heat's phases and then from top to bottom."""
        placed = [self._placed(diagnostic) for diagnostic in dict.fromkeys(self._found)]
        return sorted(placed, key=_order)

    def raise_if_any(self) -> None:
        """Raise TemplateInvalid with all problems; do nothing if there are none."""
        if self._found:
            raise TemplateInvalid(self.sorted())

    def _placed(self, diagnostic: Diagnostic) -> Diagnostic:
        if diagnostic.source:
            return diagnostic
        document = self._document
        return replace(diagnostic, source=document.source, position=document.locate(diagnostic.path))


def further(found: Iterable[Diagnostic], earlier: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics of a check that are not consequences of `earlier` problems at the same places."""
    places = {(item.source, item.path) for item in earlier}
    return [item for item in found if (item.source, item.path) not in places]


def _order(diagnostic: Diagnostic) -> tuple[object, ...]:
    section = str(diagnostic.path[0]).lower() if len(diagnostic.path) > 1 else ""
    position = diagnostic.position or Position(0, 0)
    path = tuple(str(part) for part in diagnostic.path)
    return (
        _SECTION_RANKS.get(section, 0),
        _RULE_RANKS.get(diagnostic.rule, 0),
        diagnostic.source,
        position,
        path,
        diagnostic.rule,
    )


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return the hint `did you mean 'x'?`, or the known names, or an empty string if there are none."""
    choices = [str(choice) for choice in known]
    meant = closest(str(name), choices)
    if meant is not None:
        return Suggestion(str(name), meant)
    if not choices:
        return ""
    shown = ", ".join(sorted(choices)[:10])
    return f"use one of {shown}{', …' if len(choices) > 10 else ''}"


def type_name(value: object) -> str:
    """Return the name of a value's type, with its article: string, number, boolean, map, list, null."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, Mapping):
        return "a map"
    return "a list"
