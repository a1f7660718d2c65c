"""Output formats of rows and records: tables for people; JSON, YAML and plain values for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# The libraries for tables and YAML are imported where they are used: the list of commands needs neither.

Row = Mapping[str, Any]

_WIDE = 10_000
"""Width of a table in a file or a pipe, where nothing is truncated or wrapped."""


_GAP = 3
"""Width of the space between two columns of a table."""


def console() -> Console:
    """Return the standard output; with colors only on a terminal, and none with NO_COLOR."""
    from rich.console import Console

    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=_WIDE)


def show_rows(rows: Sequence[Row], columns: Sequence[str], form: str) -> None:
    """Print `columns` of `rows` in a format of `ROW_FORMATS`."""
    ROW_FORMATS[form]([{name: row.get(name) for name in columns} for row in rows], columns)


def show_row(row: Row, columns: Sequence[str], form: str) -> None:
    """Print `columns` of a single row of an endless list, in a format of `ROW_FORMATS`."""
    print(_ONE_ROW[form]({name: row.get(name) for name in columns}), flush=True)


def show_record(record: Row, form: str) -> None:
    """Print all fields of `record` in a format of `RECORD_FORMATS`."""
    RECORD_FORMATS[form](record)


def cell(value: Any) -> str:
    """A value in a table or on a line of its own."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _json(data: Any) -> None:
    print(json.dumps(data, indent=2, ensure_ascii=False))


def _yaml(data: Any) -> None:
    print(_dumped(data, _WIDE), end="")


def _dumped(data: Any, width: int | None = None) -> str:
    import yaml

    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=width)


def _table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    from rich import box
    from rich.table import Table

    out = console()
    words = {name: max(map(len, _words(name, rows))) for name in columns}
    shown = _fitting(words, out.width)
    fits = _width(words, shown) <= out.width
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in shown:
        table.add_column(name, overflow="fold", min_width=words[name] if fits else None)
    for row in rows:
        table.add_row(*(_coloured(name, cell(row[name])) for name in shown))
    out.print(table)
    if missing := [name for name in columns if name not in shown]:
        print(f"The terminal is too narrow for {', '.join(missing)}; -c selects columns.", file=sys.stderr)


def _words(name: str, rows: Sequence[Row]) -> list[str]:
    """Return the name of a column and all words in it, which a table must not cut."""
    return [name, *(word for row in rows for word in cell(row[name]).split())]


def _fitting(words: Mapping[str, int], width: int) -> list[str]:
    """Return the columns, without IDs if words would have to be cut; `words` has the longest word of each column."""
    shown = list(words)
    for name in list(words)[::-1]:
        if _width(words, shown) > width and len(shown) > 1 and name.endswith("id"):
            shown.remove(name)
    return shown


def _width(words: Mapping[str, int], shown: Sequence[str]) -> int:
    return sum(words[name] for name in shown) + _GAP * (len(shown) - 1)


def _record_table(record: Row) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in record.items():
        text = _dumped(value).rstrip() if _nested(value) else cell(value)
        table.add_row(name, _coloured(name, text))
    console().print(table)


def _nested(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _coloured(name: str, text: str) -> Text:
    from rich.text import Text

    return Text(text, style=state_style(text) if name.endswith("status") else "")


def state_style(state: str) -> str:
    """Return the color of a state like `CREATE_COMPLETE`."""
    return next((style for end, style in _STYLES.items() if state.endswith(end)), "")


_STYLES = {"COMPLETE": "green", "FAILED": "bold red", "IN_PROGRESS": "yellow"}


def _row_values(rows: Sequence[Row], columns: Sequence[str]) -> None:
    for row in rows:
        print(" ".join(cell(row[name]) for name in columns))


def _record_values(record: Row) -> None:
    for value in record.values():
        print(cell(value))


ROW_FORMATS: Mapping[str, Callable[[Sequence[Row], Sequence[str]], None]] = {
    "table": _table,
    "json": lambda rows, columns: _json(rows),
    "yaml": lambda rows, columns: _yaml(rows),
    "value": _row_values,
}

_ONE_ROW: Mapping[str, Callable[[Row], str]] = {
    "table": lambda row: "  ".join(cell(value) for value in row.values()),
    "json": lambda row: json.dumps(row, ensure_ascii=False),
    "yaml": lambda row: _dumped([row], _WIDE).rstrip(),
    "value": lambda row: " ".join(cell(value) for value in row.values()),
}

RECORD_FORMATS: Mapping[str, Callable[[Row], None]] = {
    "table": _record_table,
    "json": _json,
    "yaml": _yaml,
    "value": _record_values,
}
