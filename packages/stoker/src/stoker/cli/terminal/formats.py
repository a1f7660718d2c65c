"""Output formats of rows and records: tables for people; JSON, YAML and plain values for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from stoker.cli.terminal.messages import indented, say
from stoker.cli.terminal.table_layout import cell_len, fitted, is_id

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# The libraries for tables and YAML are imported where they are used: the list of commands needs neither.

Row = Mapping[str, Any]

_WIDE = 10_000
"""Width of a table in a file or a pipe, where nothing is truncated or wrapped."""


_BETWEEN = 2
"""Width of the space between the name and the value of a field."""


def console() -> Console:
    """Return the standard output; with colors only on a terminal, and none with NO_COLOR."""
    from rich.console import Console

    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=_WIDE)


NO_ROWS = "Nothing to list."


def show_rows(
    rows: Sequence[Row], columns: Sequence[str], form: str, spare: Sequence[str] = (), empty: str = NO_ROWS
) -> None:
    """Print `columns` of `rows` in a format of `ROW_FORMATS`; `empty` is printed instead of a table without rows.

    A table on a terminal that is too narrow shows short times and leaves out columns of `spare`, as `fitted` decides,
    but keeps the IDs if the first column of a row is empty. If the others do not fit either, each row is printed as a
    record instead.
    """
    if form == "table" and not rows:
        say(empty, err=True)
    else:
        ROW_FORMATS[form]([{name: row.get(name) for name in columns} for row in rows], columns, spare)


def show_row(row: Row, columns: Sequence[str], form: str) -> None:
    """Print `columns` of a single row of an endless list, in a format of `ROW_FORMATS`."""
    print(_ONE_ROW[form]({name: row.get(name) for name in columns}), flush=True)


def show_record(record: Row, form: str) -> None:
    """Print all fields of `record` in a format of `RECORD_FORMATS`."""
    RECORD_FORMATS[form](record)


def cell(value: object) -> str:
    """A value in a table or on a line of its own."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _json(data: object) -> None:
    print(json.dumps(data, indent=2, ensure_ascii=False))


def _yaml(data: object) -> None:
    print(yaml_text(data, _WIDE), end="")


def yaml_text(data: object, width: int | None = None) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes strings of several lines as blocks, so that templates and scripts can be read."""

    def scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, scalar)
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=width)


def _table(rows: Sequence[Row], columns: Sequence[str], spare: Sequence[str]) -> None:
    out = console()
    cells = [{name: _readable(name, row[name]).rstrip() for name in columns} for row in rows]
    today = datetime.now(UTC).date().isoformat()
    layout = fitted(cells, columns, _droppable(rows, columns, spare), out.width, today)
    if layout is None:
        _blocks(rows)
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, width in layout.widths.items():
        table.add_column(name, overflow="fold", width=width)
    for row in layout.cells:
        table.add_row(*(_coloured(name, row[name]) for name in layout.widths))
    _print(table, out)
    if missing := [name for name in columns if name not in layout.widths]:
        say(f"The terminal is too narrow for {', '.join(missing)}; -f json shows all columns.", err=True)
    if layout.omitted:
        say(_TIMES[layout.omitted], err=True)


_TIMES = {"date": "Times are those of today, in UTC.", "year": "Times are those of this year, in UTC."}
"""What times are shown without, and what to say about it."""


def _print(table: Table, out: Console) -> None:
    """Print a table without spaces at the ends of lines, with which the library fills its last column."""
    with out.capture() as captured:
        out.print(table)
    out.file.write(_AT_END.sub(lambda match: match[0].replace(" ", ""), captured.get()))


_AT_END = re.compile(r"(?<! )(?: |\x1b\[[0-9;]*m)+\n")
"""Spaces at the end of a line, with the escape sequences of styles between them (ECMA-48, section 8.3.117)."""


def ids(columns: Sequence[str]) -> list[str]:
    """Return the columns with IDs, the last one first."""
    return [name for name in reversed(columns) if is_id(name)]


def _droppable(rows: Sequence[Row], columns: Sequence[str], spare: Sequence[str]) -> list[str]:
    """Return the columns of `spare` without the IDs, if a row has only its ID to be named by: its first column is
    empty.
    """
    needed = () if all(cell(row[columns[0]]) for row in rows) else ids(columns)
    return [name for name in spare if name not in needed]


def _blocks(rows: Sequence[Row]) -> None:
    """Print each row as a record, with an empty line between two."""
    for number, row in enumerate(rows):
        if number:
            print(flush=True)
        _record_table(row)


def _record_table(record: Row) -> None:
    from rich.table import Table

    out = console()
    names = max(map(cell_len, record), default=0)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in record.items():
        room = out.width - names - _BETWEEN
        text = indented(yaml_text(value, _WIDE), room) if _nested(value) else _readable(name, value)
        table.add_row(name, _coloured(name, text.rstrip()))
    _print(table, out)


def _readable(name: str, value: object) -> str:
    """Return a value as a table shows it: sizes in bytes with a unit, such as `317 MB`, and short paths of files."""
    if name in _TYPES and isinstance(value, str):
        from stoker.cli.terminal.places import short

        return short(value)
    if name != "size" or not isinstance(value, int) or value < _THOUSAND:
        return cell(value)
    size, unit = float(value), -1
    while size >= _THOUSAND and unit < len(_UNITS) - 1:
        size, unit = size / _THOUSAND, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"


_TYPES = ("resource_type", "type")
_THOUSAND = 1000
_UNITS = ("kB", "MB", "GB", "TB")


def _nested(value: object) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _coloured(name: str, text: str) -> Text:
    from rich.text import Text

    return Text(text, style=state_style(text) if name.endswith("status") else "")


def state_style(state: str) -> str:
    """Return the color of a state like `CREATE_COMPLETE`."""
    return next((style for end, style in _STYLES.items() if state.endswith(end)), "")


_STYLES = {"COMPLETE": "green", "FAILED": "bold red", "IN_PROGRESS": "yellow"}


def _row_values(rows: Sequence[Row], columns: Sequence[str], _spare: Sequence[str]) -> None:
    for row in rows:
        print(" ".join(cell(row[name]) for name in columns))


def _record_values(record: Row) -> None:
    for value in record.values():
        print(cell(value))


ROW_FORMATS: Mapping[str, Callable[[Sequence[Row], Sequence[str], Sequence[str]], None]] = {
    "table": _table,
    "json": lambda rows, columns, spare: _json(rows),
    "yaml": lambda rows, columns, spare: _yaml(rows),
    "value": _row_values,
}

_ONE_ROW: Mapping[str, Callable[[Row], str]] = {
    "table": lambda row: "  ".join(cell(value) for value in row.values()),
    "json": lambda row: json.dumps(row, ensure_ascii=False),
    "yaml": lambda row: yaml_text([row], _WIDE).rstrip(),
    "value": lambda row: " ".join(cell(value) for value in row.values()),
}

RECORD_FORMATS: Mapping[str, Callable[[Row], None]] = {
    "table": _record_table,
    "json": _json,
    "yaml": _yaml,
    "value": _record_values,
}
