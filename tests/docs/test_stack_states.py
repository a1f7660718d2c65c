"""The page about the life of a stack shows the table that the program goes by."""

from __future__ import annotations

from pathlib import Path

from stoker.operations.lookup import RULES, RequestDecision

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "lifecycle.md"
MARKS = {
    RequestDecision.TAKEN: "✓",
    RequestDecision.DONE: "—",
    RequestDecision.REFUSED: "✗",
    RequestDecision.BUSY: "busy",
}


def test_state_table_equals_the_program() -> None:
    lines = PAGE.read_text(encoding="utf-8").partition("<!-- table: transitions -->")[2].strip().splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    assert len(rows) == 20
    for state, *shown in rows:
        action, _, status = state.partition("_")
        assert shown == [MARKS[RULES[request].decide((action, status))] for request in head[1:]], state
