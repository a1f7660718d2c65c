"""Messages for people: on a terminal, lines are broken between words at its width."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

import click

_STEP = 2
_USUAL = 80


def say(text: str, *, err: bool = False) -> None:
    """Print a message to the standard output or, with `err`, error output."""
    stream = sys.stderr if err else sys.stdout
    # Without `file`, click would write UTF-8 to a terminal that shows ASCII only.
    click.echo(wrapped(text, terminal_width(err)) if stream.isatty() else text, file=stream)


def terminal_width(err: bool = False) -> int:
    """Return the number of columns of the terminal of the standard output or, with `err`, error output.

    The variable COLUMNS overrides it. It is 80 where there is none.
    """
    if not err or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size().columns
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL
    except (OSError, ValueError, AttributeError):  # no terminal, or a stream without a file
        return _USUAL


def indented(text: str, width: int) -> str:
    """Return YAML with lines that fit into `width` columns: the rest of a line is indented below it.

    The indentation is less than usual where a word, such as an ID, would not fit otherwise.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        start = len(line) - len(line.lstrip(" -"))
        longest = max(map(len, line.split()), default=0)
        rest = " " * max(start + 1, min(start + _STEP, width - longest))
        wrapper = textwrap.TextWrapper(
            max(width, len(rest) + 1), break_long_words=False, break_on_hyphens=False,
            initial_indent=line[:start], subsequent_indent=rest,
        )  # fmt: skip
        lines += [line] if len(line) <= width else wrapper.wrap(line[start:])
    return "\n".join(lines)


def wrapped(text: str, width: int) -> str:
    """Return a message with lines that fit into `width` columns, broken between words; a longer word is left whole."""
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        wrapper.initial_indent = wrapper.subsequent_indent = " " * (len(line) - len(words))
        lines += [line] if len(line) <= width else wrapper.wrap(words)
    return "\n".join(lines)
