"""Commands and configuration of the manual's pages, with the names and addresses of the lab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

MANUAL = Path(__file__).parents[3] / "docs" / "how-to"
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a language in a page of the manual."""
    text = (MANUAL / page).read_text(encoding="utf-8")
    return [match["text"] for match in _BLOCK.finditer(text) if match["language"] == language]


def block(page: str, language: str, words: str) -> str:
    """Return the only block of a language in a page that contains `words`. Raises LookupError."""
    found = [text for text in blocks(page, language) if words in text]
    if len(found) != 1:
        raise LookupError(f"{len(found)} blocks of {page} say {words!r}")
    return found[0]


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """Return a document with changes. Raises LookupError if it does not contain what is to be changed."""
    for old, new in changes.items():
        if old not in text:
            raise LookupError(f"the page does not say {old!r}")
        text = text.replace(old, new)
    return text
