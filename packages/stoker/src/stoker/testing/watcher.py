"""Run tests whenever a file changes that they read.

Files are looked at again and again: notifications of the kernel are not sent for the network drives and shared folders
on which people also keep their templates.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path

from stoker.cli.client.sources import collect
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say
from stoker.cli.terminal.places import path_of
from stoker.testing import rounds
from stoker.testing.cases import Case, found_files, is_hidden
from stoker.testing.running import Outcome

INTERVAL = 0.3
"""Seconds between two looks; also how long files must stay as they are, since editors write them in several steps."""

_Print = tuple[int, int, int] | None
"""Modification time in nanoseconds, size and inode of a file; None for one that does not exist."""


def read_by(case: Case) -> set[Path]:
    """Return the files that a case reads, as absolute paths; those of a template that cannot be read only in part."""
    names = {case.file.source, *case.policy_files}
    names |= {case.cloud_file} if case.cloud_file else set()
    for step in case.steps:
        names |= {str(step.golden)} if step.golden else set()
        names |= _sources(step.template, step.environments)
    return {Path(name).absolute() for name in names}


def _sources(template: str, environments: Collection[str]) -> set[str]:
    try:
        sources = collect(template, tuple(environments))
    except CommandFailed:
        return {name for name in (template, *environments) if "://" not in name}
    return {path_of(url) for url in (sources.template_url, *sources.files) if url.startswith("file:")}


def folders_below(paths: Iterable[str]) -> set[Path]:
    """Return the directories among the paths and all below them, except hidden ones: new tests may appear there."""
    folders = set()
    for path in map(Path, paths):
        if path.is_dir():
            folders.add(path.absolute())
            below = [
                folder for folder in path.rglob("*") if not is_hidden(folder.relative_to(path)) and folder.is_dir()
            ]
            folders |= {folder.absolute() for folder in below}
    return folders


class Watch:
    """Some files and directories as they were at a moment. `sleep` takes seconds."""

    def __init__(self, paths: Iterable[Path], sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._prints: dict[Path, _Print] = {}
        self.include(paths)

    def include(self, paths: Iterable[Path]) -> None:
        """Also look at these, as they are now."""
        self._prints |= {path: _print(path) for path in paths if path not in self._prints}

    def changed(self) -> set[Path]:
        """Wait until some have changed, or are gone, and none changes any more; return them."""
        before = self._prints
        while True:
            self._sleep(INTERVAL)
            now = {path: _print(path) for path in before}
            if now == before and now != self._prints:
                return {path for path, current in now.items() if current != self._prints[path]}
            before = now


def _print(path: Path) -> _Print:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


class TestWatcher:
    """Tests in and below `paths` whose names contain `part`, and their latest results.

    `cloud` is the path of a file with what the cloud has; `jobs` is the number of processes that run tests.
    """

    def __init__(self, paths: Sequence[str], part: str, cloud: str | None, jobs: int) -> None:
        self._paths = paths
        self._part = part
        self._cloud = cloud
        self._jobs = jobs
        self._latest: dict[tuple[str, int], Outcome] = {}
        self._unusable: list[Outcome] = []

    @property
    def failed(self) -> bool:
        """Whether the latest result of a test is a failure, or a test file has mistakes."""
        return bool(self._unusable) or any(outcome.failures for outcome in self._latest.values())

    def run(self) -> None:
        """Run all tests, then again and again those that read a changed file, until the user interrupts it."""
        watch = self._round(())
        while True:
            watch = self._round(watch.changed())

    def _round(self, changed: Collection[Path]) -> Watch:
        """Run the tests that are new and those that read a changed file; return the files as they were before that."""
        files = found_files(self._paths)
        watch = Watch(chain(folders_below(self._paths), (Path(file).absolute() for file in files)))
        try:
            cases, unusable = rounds.read(files, self._part, self._cloud)
        except CommandFailed as error:  # a file of the command line is gone, perhaps only for a moment
            error.show()
            return watch
        reads = {_key(case): read_by(case) for case in cases}
        watch.include(chain.from_iterable(reads.values()))
        due = [case for case in cases if _key(case) not in self._latest or not reads[_key(case)].isdisjoint(changed)]
        new = [outcome for outcome in unusable if outcome not in self._unusable]
        self._unusable = unusable
        self._latest = {key: outcome for key, outcome in self._latest.items() if key in reads}
        deque(rounds.shown(new), maxlen=0)
        for case, outcome in zip(due, rounds.shown(rounds.outcomes_of(due, False, self._jobs)), strict=False):
            self._latest[_key(case)] = outcome
        if due or new or not changed:
            self._conclude(len(due))
        return watch

    def _conclude(self, number: int) -> None:
        """Print how all tests stand, after `number` of them have been run."""
        total = [*self._latest.values(), *self._unusable]
        ran = f" ({number} run)" if number < len(total) else ""
        say(f"{rounds.summary(total)}{ran}; waiting for changes, until Ctrl-C\n")
        sys.stdout.flush()


def _key(case: Case) -> tuple[str, int]:
    """Return what identifies a case: the path of its file and its number."""
    return case.file.source, case.number
