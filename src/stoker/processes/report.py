"""Guru Meditation Reports: what a process is doing right now, on a signal, for whoever wonders."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from oslo_reports import guru_meditation_report as reports

from stoker import __version__


class _Version:
    """The three questions that oslo.reports asks about a program."""

    def vendor_string(self) -> str:
        return "Stoker"

    def product_string(self) -> str:
        return "OpenStack orchestration"

    def version_string_with_package(self) -> str:
        return __version__


class _Model(dict[str, Any]):
    """A section: named values, shown one a line."""

    def set_current_view_type(self, kind: str) -> None:
        """There is one view."""

    def __str__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self.items())


def report_section(title: str, read: Callable[[], Mapping[str, Any]]) -> None:
    """Have every report from now on tell what `read` finds."""
    reports.TextGuruMeditation.register_section(title, lambda: _Model(read()))


def write_report(name: str) -> None:
    """Write a report of the process to the standard error stream."""
    meditation = reports.TextGuruMeditation(_Version(), None)
    sys.stderr.write(f"{name}\n{meditation.run()}\n")
    sys.stderr.flush()
