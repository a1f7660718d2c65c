"""How long things take: what was measured on real servers, as a file that `--measure` writes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import mean
from typing import Any

MEASURED = Path(__file__).with_name("latencies.json")
"""What the project has measured; `source` in it says where."""

OTHER = "other"
"""The name of whatever has no time of its own."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Times in seconds. `statements` has the time of each kind of statement (`UPDATE resources`) at the database
    server, one way of the network excluded; `per_row` that of each further row of one; `callbacks` the processor time
    of each kind of callback of an engine. `broker_message` is the time that the broker is busy with one message.
    """

    source: str
    statements: Mapping[str, float]
    per_row: float
    flush: float
    broker_message: float
    broker_trip: float
    callbacks: Mapping[str, float]
    api_request: float
    network_trip: float = 0.0003
    """A round trip between two machines of one site; an assumption, since the servers measured are on this machine."""

    def statement(self, kind: str) -> float:
        """The time of a kind of statement."""
        return self.statements.get(kind, self.statements[OTHER])

    def callback(self, kind: str) -> float:
        """The processor time of a kind of callback."""
        return self.callbacks.get(kind, self.callbacks[OTHER])

    def lower(self, other: Latencies) -> Latencies:
        """The lower times of two measurements, of the kinds that both have: other work makes times longer only."""
        found = {
            each.name: min(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
            if isinstance(getattr(self, each.name), float)
        }
        for name in ("statements", "callbacks"):
            mine, theirs = getattr(self, name), getattr(other, name)
            found[name] = {kind: min(mine[kind], theirs[kind]) for kind in mine if kind in theirs}
        return replace(self, **found)

    def write(self, path: Path) -> None:
        """Write them as a file that `read` reads."""
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n")


def read(path: Path = MEASURED) -> Latencies:
    """Read a file. Raises ValueError for one that is not of this form, and OSError for one that cannot be read."""
    data: dict[str, Any] = json.loads(path.read_text())
    try:
        found = Latencies(**data)
    except TypeError as error:
        raise ValueError(f"{path}: not a file of latencies: {error}") from None
    for name in ("statements", "callbacks"):
        if OTHER not in getattr(found, name):
            raise ValueError(f"{path}: {name} has no {OTHER!r}")
    return found


ENOUGH = 20
"""So many times of one kind have a mean that is worth something; others are counted among the rest."""


class Samples:
    """Times in seconds, by kind, while they are being measured."""

    def __init__(self) -> None:
        self.kinds: dict[str, list[float]] = defaultdict(list)

    def add(self, kind: str, seconds: float) -> None:
        """Add a time to its kind."""
        self.kinds[kind].append(seconds)

    def means(self) -> dict[str, float]:
        """The mean of each kind, and that of all of them for what is met later: for processor time."""
        return self._each(mean)

    def quarters(self) -> dict[str, float]:
        """The time that a quarter of each kind takes at most: for times by the clock of a machine with other work."""
        return self._each(lambda seconds: sorted(seconds)[len(seconds) // 4])

    def _each(self, function: Callable[[Sequence[float]], float]) -> dict[str, float]:
        kinds = ((kind, seconds) for kind, seconds in sorted(self.kinds.items()) if len(seconds) >= ENOUGH)
        found = {kind: round(function(seconds), 9) for kind, seconds in kinds}
        every = [each for seconds in self.kinds.values() for each in seconds]
        return {**found, OTHER: round(function(every or [0.0]), 9)}
