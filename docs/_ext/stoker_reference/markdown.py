"""Generate Markdown from data: cells, tables, pages."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

_SPECIAL = re.compile(r"[\\<*_\[\]]")
"""Characters with a special meaning in Markdown."""


def code(value: Any) -> str:
    """Return `value` as inline code on one line, with its special characters escaped."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.splitlines())
    if not text:
        return '`""`'
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def sentence(text: str) -> str:
    """Return prose on one line with Markdown's special characters escaped, except inside backticks."""
    parts = " ".join(text.split()).split("`")
    return "`".join(part if index % 2 else _SPECIAL.sub(r"\\\g<0>", part) for index, part in enumerate(parts))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a cell can contain any inline Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(title: str, *parts: str) -> str:
    """Return a page made of parts; empty parts are omitted."""
    return "\n\n".join(part.strip("\n") for part in (f"# {title}", *parts) if part) + "\n"


def section(title: str, body: str) -> str:
    """Return a section, or an empty string if the body is empty."""
    return f"## {title}\n\n{body}" if body else ""


def entry(name: str, anchor: str, body: list[str]) -> str:
    """Return an entry of a definition list: a name with an anchor, and paragraphs, of which the first is its facts."""
    facts, *rest = [part for part in body if part]
    text = "\n\n".join([f"{{.facts}}\n{facts}", *rest])
    return f"[{code(name)}]{{#{anchor}}}\n: {textwrap.indent(text, '  ').lstrip()}"
