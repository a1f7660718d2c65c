"""Attacks on a running service, each a test: the first line of its docstring names the attack.

A test says what it measured with `record_property`: `neighbour_p95_ms`, the 95th percentile of what another tenant
waited for an answer meanwhile, and `engine_memory_mb`, the most memory that the engine's process took.
`make attack` prints a table of all that.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

_HERE = Path(__file__).parent
_NAME = "attack"
_OUTCOMES = {"passed": "held", "failed": "broken", "error": "broken", "skipped": "not run"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-table", action="store_true", help="print each attack with its outcome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    beginning = f"{_HERE}{os.sep}"
    for item in items:
        if str(item.path).startswith(beginning):
            item.user_properties.append((_NAME, _named(item)))


def _named(item: pytest.Item) -> str:
    documentation = inspect.getdoc(getattr(item, "obj", None)) or ""
    if not documentation:
        raise pytest.UsageError(f"{item.nodeid} has no docstring: its first line has to name the attack")
    case = f" [{item.name.split('[', 1)[1]}" if "[" in item.name else ""
    return documentation.splitlines()[0] + case


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--attack-table", default=False):
        return
    table = Table("Attack", "Outcome", "Neighbour's p95, ms", "Engine's memory, MB")
    for column in table.columns[2:]:
        column.justify = "right"
    for outcome, report in _reports(terminalreporter):
        recorded: dict[str, Any] = dict(report.user_properties)
        measured = (recorded.get(key) for key in ("neighbour_p95_ms", "engine_memory_mb"))
        table.add_row(
            recorded[_NAME], _OUTCOMES[outcome], *("" if figure is None else f"{figure:.0f}" for figure in measured)
        )
    Console(markup=False, width=None if terminalreporter.isatty else 160).print(table)


def _reports(terminal: pytest.TerminalReporter) -> Iterator[tuple[str, pytest.TestReport]]:
    """The outcome of each test of this directory, in the order in which they ended."""
    found = [(outcome, report) for outcome in _OUTCOMES for report in terminal.stats.get(outcome, ())]
    own = [(outcome, report) for outcome, report in found if _NAME in dict(getattr(report, "user_properties", ()))]
    yield from sorted(own, key=lambda pair: (_OUTCOMES[pair[0]] != "broken", pair[1].nodeid))
