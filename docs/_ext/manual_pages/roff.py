"""Manual pages in the language of man(7), with the macros that both groff and mandoc have."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stoker import __version__

_OPTION = re.compile(r"--?\w[\w-]*")
_CONTROL = re.compile(r"^(?=[.'])", re.MULTILINE)
"""Where a line would be read as a request."""
_WIDTH = 78


@dataclass(frozen=True, slots=True)
class Page:
    """A page of section 1: its name, a phrase that says what it describes, and its sections with their content."""

    name: str
    summary: str
    sections: Sequence[tuple[str, str]]

    def render(self) -> str:
        """Return the source of the page. Sections without content are left out."""
        heading = f'.TH "{plain(self.name.upper())}" "1" "" "Stoker {__version__}" "Stoker manual"'
        name = ("Name", f"{plain(self.name)} \\- {plain(self.summary.rstrip('.').replace('`', ''))}")
        parts = [f".SH {title.upper()}\n{body}" for title, body in (name, *self.sections) if body]
        return "\n".join(line for line in "\n".join([heading, *parts]).splitlines() if line.strip()) + "\n"


def plain(text: str) -> str:
    """Return `text` escaped: hyphens stay ASCII, so that options can be copied and searched for."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in escaped)
    return _CONTROL.sub(r"\\&", escaped)


def bold(text: str) -> str:
    return f"\\fB{plain(text)}\\fR"


def prose(text: str) -> str:
    """Return a paragraph; what stands in backticks is in bold."""
    parts = " ".join(text.split()).split("`")
    line = "".join(bold(part) if index % 2 else plain(part) for index, part in enumerate(parts))
    return _CONTROL.sub(r"\\&", textwrap.fill(line, _WIDTH, break_long_words=False, break_on_hyphens=False))


def paragraphs(text: str) -> str:
    """Return the paragraphs of `text`, which empty lines separate. A backspace before one keeps its line breaks."""
    found = (part for part in re.split(r"\n\s*\n", text) if part.strip())
    return "\n.PP\n".join(
        block(part.replace("\b", "").strip("\n").splitlines()) if "\b" in part else prose(part) for part in found
    )


def block(lines: Iterable[str]) -> str:
    """Return lines that are shown as they are, indented."""
    return "\n".join([".RS 4", ".nf", *(plain(line.strip()) for line in lines if line.strip()), ".fi", ".RE"])


def items(pairs: Iterable[tuple[str, str]]) -> str:
    """Return terms, which are already escaped, with their explanations in prose."""
    return "\n".join(f".TP\n{term}\n{prose(meaning) or plain('(no description)')}" for term, meaning in pairs)


def option(record: str) -> str:
    """Return an option as a program's help shows it (`-f, --format FORM`), names in bold and the rest in italics."""
    parts: list[str] = []
    end = 0
    for found in _OPTION.finditer(record):
        parts += [_variable(record[end : found.start()]), bold(found[0])]
        end = found.end()
    return "".join([*parts, _variable(record[end:])])


def synopsis(usages: Iterable[str]) -> str:
    """Return the forms of a command; the first word of each is its name."""
    return "\n.br\n".join(f"{bold(name)} {plain(rest)}".strip() for name, _, rest in (u.partition(" ") for u in usages))


def references(names: Iterable[str]) -> str:
    """Return a list of other pages of section 1."""
    return ", ".join(f"{bold(name)}(1)" for name in names)


def _variable(text: str) -> str:
    return re.sub(r"[^\s,/=\[\]]+", lambda found: f"\\fI{plain(found[0])}\\fR", text)
