"""Guru Meditation Reports: the current state of a process, written on a signal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from oslo_reports import guru_meditation_report as reports

from stoker import __version__


class _Version:
    """The version information that oslo.reports requires."""

    def vendor_string(self) -> str:
        return "Stoker"

    def product_string(self) -> str:
        return "OpenStack orchestration"

    def version_string_with_package(self) -> str:
        return __version__


class _Model(dict[str, Any]):
    """A section of named values, one per line."""

    def set_current_view_type(self, kind: str) -> None:
        """Do nothing: there is only one view."""

    def __str__(self) -> str:
        return "\n".join(f"{name} = {value}" for name, value in self.items())


def report_section(title: str, read: Callable[[], Mapping[str, object]]) -> None:
    """Add a section to all future reports; `read` returns its values."""
    reports.TextGuruMeditation.register_section(title, lambda: _Model(read()))


def write_report(name: str) -> None:
    """Write a report of the process to the standard error stream."""
    meditation = reports.TextGuruMeditation(_Version(), None)
    sys.stderr.write(f"{name}\n{meditation.run()}\n")
    sys.stderr.flush()
