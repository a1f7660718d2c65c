"""How a table fits on a terminal: which columns it shows, in which widths, and whether its times are complete."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Cells = Sequence[Mapping[str, str]]
"""The rows of a table: the string of each cell by column."""

GAP = 3
"""Width of the space between two columns."""

_TIME = re.compile(r"(\d{4})-(\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z")
"""A time in UTC, as the service writes it."""


def cell_len(text: str) -> int:
    """Return the number of columns that a string takes."""
    from rich.cells import cell_len as width_of

    return width_of(text)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table with their widths; `omitted` is what its times are shown without, if anything."""

    cells: Cells
    widths: Mapping[str, int]
    omitted: str = ""

    @property
    def lines(self) -> int:
        """The number of lines of all rows."""
        return sum(max(_height(row[name], width) for name, width in self.widths.items()) for row in self.cells)

    @property
    def wraps(self) -> bool:
        """Whether a line of a cell does not fit into its column."""
        return any(
            cell_len(line) > width
            for row in self.cells
            for name, width in self.widths.items()
            for line in row[name].split("\n")
        )


def fitted(cells: Cells, columns: Sequence[str], spare: Sequence[str], width: int, today: str) -> Layout | None:
    """Return the layout of a table that is `width` columns wide and cuts no words; None if there is none.

    A table that would cut words, or wrap rows, shows times without the date or the year. If that is not enough, it
    leaves out columns of `spare`, the first one first: IDs if rows would be wrapped, others only if words would be cut.
    `today` is the date in UTC, such as `2026-01-31`.
    """
    best: Layout | None = None
    for number in range(len(spare) + 1):
        if best is not None and not is_id(spare[number - 1]):
            break
        shown = [name for name in columns if name not in spare[:number]]
        if not shown:
            break
        for texts, omitted in _versions(cells, shown, today):
            widths = _widths(texts, shown, width)
            if widths is None:
                continue
            layout = Layout(texts, widths, omitted)
            if not layout.wraps:
                return layout
            if best is None or layout.lines < best.lines:
                best = layout
    return best


def is_id(column: str) -> bool:
    """Return whether a column has IDs."""
    return column == "id" or column.endswith("_id")


def _versions(cells: Cells, columns: Sequence[str], today: str) -> Iterator[tuple[Cells, str]]:
    """Yield the cells as they are, and with short times if the date or the year of all of them is the present one.

    With the cells comes what is omitted: `date`, `year` or nothing.
    """
    yield cells, ""
    times = [name for name in columns if all(_TIME.fullmatch(row[name]) for row in cells if row[name])]
    matches = [match for row in cells for name in times if (match := _TIME.fullmatch(row[name]))]
    if not matches or {match[1] for match in matches} != {today[:4]}:
        return
    same_day = all(f"{match[1]}-{match[2]}" == today for match in matches)
    short = r"\3" if same_day else r"\2T\3"
    yield (
        [{name: _TIME.sub(short, text) if name in times else text for name, text in row.items()} for row in cells],
        "date" if same_day else "year",
    )


def _widths(cells: Cells, columns: Sequence[str], width: int) -> dict[str, int] | None:
    """Return the widths of columns in a table that cuts no words; None if there is none.

    The room that the words leave goes to the columns that need least of it, so that few have to wrap.
    """
    texts = {name: [name, *(row[name] for row in cells)] for name in columns}
    widths = {name: max(cell_len(word) for text in texts[name] for word in text.split()) for name in columns}
    room = width - sum(widths.values()) - GAP * (len(widths) - 1)
    if room < 0:
        return None
    missing = {name: max(map(cell_len, "\n".join(texts[name]).split("\n"))) - widths[name] for name in columns}
    for number, name in enumerate(sorted(missing, key=missing.__getitem__)):
        extra = min(missing[name], room // (len(missing) - number))
        widths[name] += extra
        room -= extra
    return widths


def _height(text: str, width: int) -> int:
    """Return the number of lines of a cell."""
    return sum(1 if cell_len(line) <= width else len(textwrap.wrap(line, width)) for line in text.split("\n"))
