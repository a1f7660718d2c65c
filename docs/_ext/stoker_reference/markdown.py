"""Markdown made of data: cells, tables, pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_SPECIAL = re.compile(r"[\\<*_\[\]]")
"""Characters that would mean something in Markdown."""


def code(value: Any) -> str:
    """`value` as code on one line, whatever is in it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.splitlines())
    if not text:
        return '`""`'
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def sentence(text: str) -> str:
    """Prose on one line, with its characters meant literally, but for what stands in backticks."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if index % 2 else _SPECIAL.sub(r"\\\g<0>", part) for index, part in enumerate(parts))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a cell may hold any inline Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(title: str, *parts: str) -> str:
    """A page of parts; empty ones leave no trace."""
    return "\n\n".join(part.strip("\n") for part in (f"# {title}", *parts) if part) + "\n"


def section(title: str, body: str) -> str:
    """A section, or nothing where there is nothing to say."""
    return f"## {title}\n\n{body}" if body else ""
