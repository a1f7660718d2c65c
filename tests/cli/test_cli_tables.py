"""Tables on narrow terminals: IDs are left out before words are cut."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from io import StringIO
from typing import Literal

import pytest
from rich.console import Console

from stoker.cli.commands.history import COLUMNS, SPARE
from stoker.cli.commands.stacks import stack
from stoker.cli.terminal import formats
from stoker.cli.terminal.table_layout import GAP, fitted

ID = "0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e"
ROWS = [
    {"name": "web", "status": "CREATE_COMPLETE", "time": "2026-11-23T07:06:15Z", "physical_id": ID, "id": ID},
    {
        "name": "a-rather-long-name",
        "status": "UPDATE_FAILED",
        "time": "2026-11-23T07:06:15Z",
        "physical_id": "",
        "id": ID,
    },
]


class Events:
    """Stands for the service and its stack: it has these events."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.rows = rows

    def stack(self, _name: str) -> Events:
        return self

    def events(self, depth: int) -> list[dict[str, str]]:
        return self.rows


def shown(width: int, *columns: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    out = StringIO()
    monkeypatch.setattr(formats, "console", lambda: Console(file=out, width=width))
    formats.show_rows(ROWS, columns, "table", spare=formats.ids(columns))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    return lines


@pytest.mark.parametrize(
    ("width", "columns"),
    [(200, ["name", "status", "time", "physical_id", "id"]), (110, ["name", "status", "time", "physical_id"]),
     (80, ["name", "status", "time"]), (60, ["name", "status", "time"])],
)  # fmt: skip
def test_id_columns_are_dropped_before_words_are_cut(
    width: int, columns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    head, _, first, second = shown(width, *ROWS[0], monkeypatch=monkeypatch)
    assert head.split() == columns
    assert first.split()[:3] == ["web", "CREATE_COMPLETE", "2026-11-23T07:06:15Z"]
    assert second.split()[0] == "a-rather-long-name"


def test_the_id_of_a_row_without_a_name_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROWS[0], "name", "")
    monkeypatch.setitem(ROWS[0], "id", other := ID.replace("0", "1"))
    assert other in "".join(shown(60, "name", "id", "status", monkeypatch=monkeypatch))


def test_single_id_column_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "".join("".join(shown(30, "id", monkeypatch=monkeypatch)).split()).count(ID) == 2


@pytest.mark.parametrize("width", [60, 80, 120])
def test_words_are_not_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that can be spared are left out; a row becomes a record if the rest is still too wide."""
    columns = {
        "stack": ["web", "a-stack-with-a-rather-long-name"],
        "status": ["CREATE_COMPLETE", "UPDATE_IN_PROGRESS"],
        "since": ["2026-11-23T07:06:15Z", ""],
        "reason": ["The request of the administrator was refused: internationalization", "state changed\nagain"],
        "id": [ID, ID],
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for chosen, spare in ((list(columns), ["id", "since"]), (list(columns), []), (["stack", "reason"], [])):
        out = StringIO()
        monkeypatch.setattr(formats, "console", lambda out=out: Console(file=out, width=width))
        formats.show_rows(rows, chosen, "table", spare)
        shown = out.getvalue()
        assert all(len(line) <= width for line in shown.splitlines())
        kept = [name for name in chosen if name not in spare]
        expected = " ".join([*kept, *(row[name] for row in rows for name in kept)]).split()
        missing = set(expected) - set(shown.split())
        assert not missing, (chosen, width)


def test_an_empty_list_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    formats.show_rows([], ("name", "id"), "table")
    assert capsys.readouterr() == ("", "Nothing to list.\n")
    formats.show_rows([], ("name", "id"), "json")
    assert capsys.readouterr() == ("[]\n", "")


def test_nested_values_of_a_record_keep_their_indentation(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(formats, "console", lambda: Console(file=out, width=40))
    formats.show_record({"outputs": [{"description": "Where the first of the servers is reached."}]}, "table")
    assert [line.rstrip() for line in out.getvalue().splitlines()] == [
        "outputs  - description: Where the first",
        "             of the servers is reached.",
    ]


@pytest.mark.parametrize("width", [49, 60, 80])
def test_an_id_in_a_nested_value_is_not_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(formats, "console", lambda: Console(file=out, width=width))
    formats.show_record({"parameters": {"OS::stack_id": ID}}, "table")
    assert ID in out.getvalue()
    assert all(len(line) <= width for line in out.getvalue().splitlines())


TODAY = "2026-11-23"


def operations(*times: str) -> list[dict[str, str]]:
    fixed = {"action": "CREATE", "status": "COMPLETE", "duration": "60.1 s", "user_name": "demo"}
    reason = "Stack CREATE completed successfully"
    return [{"started_at": time, **fixed, "reason": reason, "id": ID} for time in times]


@pytest.mark.parametrize(
    ("width", "times", "columns", "omitted"),
    [
        (140, [f"{TODAY}T07:06:15Z", f"{TODAY}T07:06:16Z"], [*COLUMNS], ""),
        (130, [f"{TODAY}T07:06:15Z", f"{TODAY}T07:06:16Z"], [*COLUMNS], "date"),
        (120, [f"{TODAY}T07:06:15Z", f"{TODAY}T07:06:16Z"], [*COLUMNS[:-1]], ""),
        (100, [f"{TODAY}T07:06:15Z", f"{TODAY}T07:06:16Z"], [*COLUMNS[:-1]], "date"),
        (100, [f"{TODAY}T07:06:15Z", "2026-01-02T07:06:16Z"], [*COLUMNS[:-1]], "year"),
        (104, [f"{TODAY}T07:06:15Z", "2025-01-02T07:06:16Z"], [*COLUMNS[:-1]], ""),
    ],
)
def test_times_are_shortened_and_ids_left_out_before_rows_are_wrapped(
    width: int, times: list[str], columns: list[str], omitted: str
) -> None:
    layout = fitted(operations(*times), COLUMNS, SPARE, width, TODAY)
    assert layout is not None
    assert (list(layout.widths), layout.omitted, layout.wraps) == (columns, omitted, False)
    kept = {"": times, "date": [time[11:19] for time in times], "year": [time[5:19] for time in times]}[omitted]
    assert [row["started_at"] for row in layout.cells] == kept
    assert sum(layout.widths.values()) + GAP * (len(layout.widths) - 1) <= width


def test_other_columns_are_left_out_for_words_only() -> None:
    layout = fitted(operations(f"{TODAY}T07:06:15Z"), COLUMNS, SPARE, 80, TODAY)
    assert layout is not None
    assert (list(layout.widths), layout.omitted, layout.lines) == ([*COLUMNS[:-1]], "date", 2)


def test_the_time_of_an_event_is_shown_at_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    columns = ("event_time", "resource_name", "resource_status", "resource_status_reason")
    row = dict(zip(columns, (now, "handle", "CREATE_IN_PROGRESS", "Stack CREATE completed successfully"), strict=True))
    out = StringIO()
    monkeypatch.setattr(formats, "console", lambda: Console(file=out, width=80))
    formats.show_rows([row], columns, "table", ("event_time",))
    assert out.getvalue().split("\n")[2].split()[:2] == [now[11:19], "handle"]
    assert capsys.readouterr().err == "Times are those of today, in UTC.\n"


@pytest.mark.parametrize("color", [None, "standard"])
def test_lines_do_not_end_with_spaces(color: Literal["standard"] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(
        formats, "console", lambda: Console(file=out, width=200, force_terminal=color is not None, color_system=color)
    )
    formats.show_rows(ROWS, ["name", "status"], "table")
    formats.show_record({"status": "CREATE_COMPLETE", "reason": "", "updated": None}, "table")
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in out.getvalue().splitlines()]
    assert len(lines) == 7
    assert [line for line in lines if line != line.rstrip()] == []
    assert ("\x1b[" in out.getvalue()) is (color is not None)


@pytest.mark.parametrize("width", [50, 60, 80, 120])
def test_the_time_of_an_event_is_shown_at_every_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "event_time": f"2026-11-23T07:06:{second}Z",
            "resource_name": "router_interface",
            "resource_status": "CREATE_IN_PROGRESS",
            "resource_status_reason": "Stack CREATE completed successfully",
        }
        for second in (15, 16)
    ]
    monkeypatch.setattr("stoker.cli.client.connection.connect", lambda *_: Events(rows))
    out = StringIO()
    monkeypatch.setattr(formats, "console", lambda: Console(file=out, width=width))
    stack.commands["events"].main(["web"], standalone_mode=False)
    assert all(len(line) <= width for line in out.getvalue().splitlines())
    for row in rows:
        assert row["event_time"].partition("T")[2].rstrip("Z") in out.getvalue()
        assert row["resource_status"] in out.getvalue()
