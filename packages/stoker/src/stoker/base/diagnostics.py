"""Diagnostics of a template or its environment: what is wrong, where, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stoker.base.similar import Suggestion

Path = tuple[str | int, ...]
"""Keys and indexes from the root of a document to a value."""


class Key(str):
    """The last part of a path to a key that is itself wrong, whatever its value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a document; both numbers count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem (or a warning) at one place.

    `rule` is a stable short name (`unknown-property`), `kind` the Heat error class it maps to, `path` the path of
    the value inside its document, `source` the document's name (`web.yaml`), `position` the place in the document's
    text when that is known, `hint` what to do about it.
    """

    rule: str
    message: str
    path: Path = ()
    source: str = ""
    position: Position | None = None
    hint: str = ""
    kind: str = "StackValidationFailed"
    severity: str = "error"

    def text(self) -> str:
        """One line: `web.yaml:14:9: resources.port.properties: message; hint`."""
        where = self.source or ""
        if self.position is not None:
            where = f"{where or '<template>'}:{self.position.line}:{self.position.column}"
        place = format_path(self.path)
        head = ": ".join(part for part in (where, place) if part)
        body = f"{self.message.removesuffix('.')}; {self.hint}" if self.hint else self.message
        return f"{head}: {body}" if head else body

    @property
    def replacement(self) -> tuple[str, str] | None:
        """The name that is wrong and the one that is meant, if the hint suggests one."""
        return (self.hint.wrong, self.hint.meant) if isinstance(self.hint, Suggestion) else None

    def sort_key(self) -> tuple[object, ...]:
        """Order by document name, then by position from top to bottom."""
        position = self.position or Position(0, 0)
        return (self.source, position, tuple(str(part) for part in self.path), self.rule)

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON data."""
        return {**asdict(self), "path": list(self.path)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Diagnostic:
        """Return the diagnostic that `to_dict` described."""
        position = data.get("position")
        return cls(
            **{
                **data,
                "path": tuple(data["path"]),
                "position": Position(**position) if position else None,
            }
        )


def format_path(path: Path) -> str:
    """Format `('resources', 'a', 'networks', 0)` as `resources.a.networks[0]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
