"""Generate the table of the differences between the emulated cloud and the recorded real services."""

from __future__ import annotations

from collections.abc import Iterator

from stoker_reference.markdown import code, table
from testing.differential import differences, script


def pages() -> Iterator[tuple[str, str]]:
    """Yield the deliberate differences of each service, and the numbers of those that are to be mended."""
    rows, numbers = [], []
    for name in script.names():
        for entry in differences.declared(name):
            rows.append((name, ", ".join(entry.steps) or "all", ", ".join(map(code, entry.where)), entry.reason))
        numbers.append((name, str(len(script.load(name).steps)), str(len(differences.known(name)))))
    parts = (
        table(("Service", "Requests", "Differences to be mended"), numbers),
        table(("Service", "Requests", "Where", "Reason"), rows),
    )
    yield "emulator-differences.md", "\n\n".join(parts)
