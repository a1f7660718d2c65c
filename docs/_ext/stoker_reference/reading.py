"""Which names the program's code mentions: what tells options that something reads from those that nothing does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import stoker

_SHORTEST_PATTERN = 8
"""Letters that a pattern (`max_{service}_api_microversion`) must have of its own to stand for names."""


class Mentioned:
    """Names that occur in the code of the package, apart from the modules left out."""

    def __init__(self, *left_out: str) -> None:
        root = Path(stoker.__file__).parent
        skipped = [root / name for name in left_out]
        self._names: set[str] = set()
        self._patterns: list[re.Pattern[str]] = []
        for path in root.rglob("*.py"):
            if not any(path == other or other in path.parents for other in skipped):
                self._read(ast.parse(path.read_text(encoding="utf-8")))

    def __contains__(self, name: str) -> bool:
        return name in self._names or any(pattern.fullmatch(name) for pattern in self._patterns)

    def _read(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            self._names.update(_names(node))
            if isinstance(node, ast.JoinedStr):
                own = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
                if sum(len(str(text)) for text in own if text is not None) >= _SHORTEST_PATTERN:
                    body = "".join(r"\w+" if text is None else re.escape(str(text)) for text in own)
                    self._patterns.append(re.compile(body))


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            yield name
