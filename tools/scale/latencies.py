"""How long things take: what was measured on real servers, as a file that `--measure` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
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


@dataclass(slots=True)
class Sample:
    """Times of one kind of thing, while they are being measured."""

    count: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Add one."""
        self.count += 1
        self.seconds += seconds

    @property
    def mean(self) -> float:
        """The mean in seconds."""
        return self.seconds / self.count if self.count else 0.0


@dataclass(slots=True)
class Samples:
    """Samples by kind."""

    kinds: dict[str, Sample] = field(default_factory=dict)

    def add(self, kind: str, seconds: float) -> None:
        """Add a time to its kind."""
        self.kinds.setdefault(kind, Sample()).add(seconds)

    def means(self) -> dict[str, float]:
        """The mean of each kind, and that of all of them for what is met later."""
        total = Sample(sum(each.count for each in self.kinds.values()), sum(each.seconds for each in self.kinds.values()))
        found = {kind: round(each.mean, 9) for kind, each in sorted(self.kinds.items())}
        return {**found, OTHER: round(total.mean, 9)}
