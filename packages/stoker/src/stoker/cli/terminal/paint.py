"""Styled output of commands that start quickly: strings with styles, without the library for tables.

Colors are used on a terminal, and with FORCE_COLOR; never with NO_COLOR (https://no-color.org).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

import click

from stoker.authoring.render import Piece, TextOf, explanation
from stoker.base.diagnostics import Diagnostic
from stoker.cli.terminal.messages import terminal_width, wrapped

_CODES = {"bold": "1", "blue": "34", "bold red": "1;31", "bold green": "1;32", "bold yellow": "1;33"}
"""Parameters of the escape sequence Select Graphic Rendition (ECMA-48, section 8.3.117)."""
_WITHOUT_COLORS = ("dumb", "unknown")
"""Terminal types that understand no escape sequences."""

_HINT = 8
"""Columns before a hint; fewer for files with fewer lines."""


def echo(pieces: Iterable[Piece], err: bool = False) -> None:
    """Print styled strings, without a line break at the end, to the standard output or, with `err`, error output."""
    colored = _colored(err)
    text = "".join(_painted(part, _CODES[style]) if colored and style else part for part, style in pieces)
    # Without `file`, click would write UTF-8 to a terminal that shows ASCII only.
    click.echo(text, nl=False, file=sys.stderr if err else sys.stdout, color=colored)


def _painted(text: str, code: str) -> str:
    line = text.rstrip("\n")
    return f"\x1b[{code}m{line}\x1b[0m{text[len(line) :]}"


def show(diagnostics: Sequence[Diagnostic], text_of: TextOf, err: bool = False) -> None:
    """Print each diagnostic with its source lines, and an empty line after it."""
    columns = sys.maxsize
    if (sys.stderr if err else sys.stdout).isatty():
        columns = terminal_width(err)
        diagnostics = [_fitted(diagnostic, columns) for diagnostic in diagnostics]
    for diagnostic in diagnostics:
        echo([*explanation(diagnostic, text_of(diagnostic.source), columns), ("\n", "")], err)


def _fitted(diagnostic: Diagnostic, width: int) -> Diagnostic:
    """Return a diagnostic whose message and hint have lines that fit into `width` columns."""
    start = len(f"{diagnostic.severity}[{diagnostic.rule}]: ")
    message, hint = _after(start, diagnostic.message, width), _after(_HINT, diagnostic.hint, width)
    return replace(diagnostic, message=message, hint=hint)


def _after(start: int, text: str, width: int) -> str:
    """Wrap a string that begins in the column `start`."""
    return wrapped("." * start + text, width)[start:]


def _colored(err: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    stream = sys.stderr if err else sys.stdout
    return stream.isatty() and os.environ.get("TERM", "") not in _WITHOUT_COLORS
