"""The mark of a database, beside the cloud, and what is known of a database that is older than it.

The mark is where the cloud is: in the data directory with the emulated cloud's state, and for a real cloud outside of
what may be restored as a whole. Each machine of a cluster has a mark of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stoker.base.errors import Invalid
from stoker.processes.directory import DataDirectory, write_private
from stoker.store.mark_records import Difference, Finding, Item, Mark, MarkedStack

if TYPE_CHECKING:
    from sqlalchemy import URL  # `stoker up` reads these files, and needs no tables

MARK_SECONDS = 30.0
"""Time between two marks: a state of the database that is older by less is not always recognized."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What a database that was restored does not know. It ends at `recorded_at` (seconds since the epoch; None if it
    contains no engine), the mark is of `marked_at`, by the engine `engine`.
    """

    engine: str
    marked_at: float
    recorded_at: float | None
    differences: tuple[Difference, ...]

    def sentence(self, options: str) -> str:
        """Return the warning for users, with the options of the command that lists the differences."""
        from stoker_foundation.clock import isoformat  # with all of asyncio, which `stoker up` needs for nothing else

        counted = Counter(each.finding for each in self.differences)
        what = ", ".join(f"{counted[finding]} {finding.value}" for finding in Finding if counted[finding])
        ends = "has no record of any engine" if self.recorded_at is None else f"ends at {isoformat(self.recorded_at)}"
        return (
            f"The database is older than the cloud: it {ends}, but was in use until {isoformat(self.marked_at)}. "
            f"Stacks since then: {what}. `stoker db compare {options}` lists them."
        )


@dataclass(frozen=True, slots=True)
class MarkFiles:
    """The two files: the mark, and the gap of a database that was found to be older. Errors of reading are Invalid."""

    path: Path

    @classmethod
    def of(cls, directory: DataDirectory, cloud: str | None) -> MarkFiles:
        """Return the files of a data directory; `cloud` is the entry of clouds.yaml, None for the emulated cloud."""
        if cloud is None:
            return cls(directory.path)
        return cls._outside(state_directory(), str(directory.path.resolve()))

    @classmethod
    def of_cluster(cls, database: URL, directory: str | None) -> MarkFiles:
        """Return the files of a cluster on this machine; `directory` is the configured one."""
        place = f"{database.get_backend_name()}://{database.host}:{database.port}/{database.database}"
        return cls._outside(Path(directory) if directory else state_directory(), place)

    @classmethod
    def _outside(cls, base: Path, place: str) -> MarkFiles:
        return cls(base / hashlib.sha256(place.encode()).hexdigest()[:32])

    def mark(self) -> Mark | None:
        """Return the mark; None if there is none yet."""
        data = self._read("mark.json")
        if data is None:
            return None
        try:
            return Mark(
                data["engine"],
                float(data["seen_at"]),
                int(data["event"]),
                {key: _stack(stack) for key, stack in data["stacks"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._damaged("mark.json", error) from None

    def write_mark(self, mark: Mark) -> None:
        """Replace the mark."""
        stacks = {key: {**asdict(stack), "items": sorted(stack.items)} for key, stack in mark.stacks.items()}
        data = {"engine": mark.engine, "seen_at": mark.seen_at, "event": mark.event, "stacks": stacks}
        self._write("mark.json", data)

    def gap(self) -> Gap | None:
        """Return what the database lacks; None if nothing was found, or it was accepted."""
        data = self._read("older.json")
        if data is None:
            return None
        try:
            return Gap(
                data["engine"],
                float(data["marked_at"]),
                data["recorded_at"],
                tuple(Difference.of(each) for each in data["differences"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged("older.json", error) from None

    def write_gap(self, gap: Gap) -> None:
        """Record what the database lacks."""
        found = [each.values() for each in gap.differences]
        data = {"engine": gap.engine, "marked_at": gap.marked_at, "recorded_at": gap.recorded_at, "differences": found}
        self._write("older.json", data)

    def forget_gap(self) -> None:
        """Forget what the database lacks."""
        (self.path / "older.json").unlink(missing_ok=True)

    def _read(self, name: str) -> Any:
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise self._damaged(name, error) from None

    def _damaged(self, name: str, error: Exception) -> Invalid:
        return Invalid(
            f"{self.path / name} cannot be read ({error}), so that it is unknown whether the database is older than "
            "the cloud. Delete the file to go on without that knowledge."
        )

    def _write(self, name: str, data: Mapping[str, object]) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self.path / name, json.dumps(data) + "\n")


def state_directory() -> Path:
    """Return where programs keep what they know: systemd's StateDirectory, or that of the user.

    A user without a home directory, as in some containers, has the system's.
    """
    if given := os.environ.get("STATE_DIRECTORY"):
        return Path(given.partition(":")[0])
    if base := os.environ.get("XDG_STATE_HOME"):
        return Path(base) / "stoker"
    try:
        return Path.home() / ".local" / "state" / "stoker"
    except RuntimeError:
        return Path("/var/lib/stoker")


def data_dir_option(directory: DataDirectory) -> str:
    """Return the option that names an embedded Stoker."""
    return f"--data-dir {shlex.quote(str(directory.path))}"


def _stack(data: Mapping[str, Any]) -> MarkedStack:
    return MarkedStack(**{**data, "items": frozenset(Item(*item) for item in data["items"])})
