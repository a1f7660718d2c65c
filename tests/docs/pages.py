"""Reading the manual's pages: the commands that they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^ *```(?:console|\{code-block\} console\n *:caption: (?P<caption>[^\n]+)\n)\n(?P<body>.*?)^ *```",
    re.MULTILINE | re.DOTALL,
)
FAILS = "This fails"


@dataclass(frozen=True)
class Command:
    """A line that a reader is to type; `fails` when the page says that it ends with an error."""

    page: str
    line: str
    fails: bool = False


def commands(path: Path) -> Iterator[Command]:
    """The lines after a `$` in the page's console blocks, in order."""
    for block in _BLOCK.finditer(path.read_text(encoding="utf-8")):
        for line in block["body"].splitlines():
            if line.strip().startswith("$ "):
                yield Command(path.name, line.strip().removeprefix("$ "), block["caption"] == FAILS)


def written_pages(docs: Path) -> list[Path]:
    """The pages that people write, in order."""
    made = {"_build", "generated"}
    return sorted(path for path in docs.rglob("*.md") if not made & set(path.relative_to(docs).parts))
