"""`python -m stoker.processes.supervisor`: restarts the programs of an embedded Stoker that end unexpectedly.

`stoker up` supervises them itself in the foreground; with `--detach`, it starts this process, which `stoker down` stops
first. What happened is recorded for `stoker status`.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from os.path import samestat
from pathlib import Path
from subprocess import Popen
from typing import Any

from stoker.base.errors import StokerError
from stoker.processes import control
from stoker.processes.control import Program, Stopped, programs_of, running
from stoker.processes.directory import PRIVATE_UMASK, DataDirectory, write_private
from stoker_foundation.readiness import add_ready_option, report_ready

NAME = "supervisor"

_WATCH_SECONDS = 0.5
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
CALM_SECONDS = 300.0
"""How long a program has to run before its next restart is made without much delay again, in seconds."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class History:
    """What happened to a program: how often it was restarted, why the last time, and when it is `due` again.

    `failures` are those in a row, which determine the delay. Times are seconds since the epoch.
    """

    restarts: int = 0
    failures: int = 0
    reason: str = ""
    started_at: float = 0.0
    due: float | None = None

    def failed(self, reason: str, now: float) -> float:
        """Record a failure; return the seconds until the restart."""
        pause = min(FIRST_PAUSE * 2.0 ** min(self.failures, 10), LONGEST_PAUSE)
        self.failures += 1
        self.reason, self.due = reason, now + pause
        return pause


class DirectoryReplaced(StokerError):
    """Another directory, or none, is where the data directory was when Stoker was started."""


class Supervisor:
    """Watches the programs in a directory. `children` are those that this process has started, by name; `report` gets a
    sentence about each failure; `now` returns seconds since the epoch.

    The directory is kept open, so that no other one can be mistaken for it.
    """

    def __init__(
        self,
        directory: DataDirectory,
        children: Mapping[str, Popen[bytes]],
        report: Callable[[str], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._children = dict(children)
        self._report = report
        self._now = now
        self._histories: dict[str, History] = {}
        self._seen: dict[str, int] = {}
        self._opened = os.open(directory.path, os.O_RDONLY)
        self._record()

    def watch(self, stopped: threading.Event) -> None:
        """Restart programs until `stopped` is set, or a child has ended with status 0: it was stopped on purpose.

        Raises DirectoryReplaced, and ends the programs, if they do not run on the directory at this path any more.
        """
        try:
            while not stopped.wait(_WATCH_SECONDS):
                if any(child.poll() == 0 for child in self._children.values()):
                    break
                self.check(stopped)
        finally:
            os.close(self._opened)

    def check(self, stopped: threading.Event) -> None:
        """Look once after all programs. Raises DirectoryReplaced as `watch`."""
        try:
            self._require_directory()
            set_up = self._directory.set_up()
            for program in programs_of(self._directory, set_up) if set_up is not None else ():
                self._supervise(program, stopped)
        except OSError:
            self._require_directory()
            raise

    def _require_directory(self) -> None:
        path = self._directory.path
        with suppress(FileNotFoundError):
            if samestat(os.fstat(self._opened), path.stat()):
                return
        for name, process in self._seen.items():  # the engine would open the other database
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL if name == control.ENGINE else signal.SIGTERM)
        raise DirectoryReplaced(
            f"The data directory {path} was moved, removed or replaced while Stoker ran on it. Its programs were "
            "ended, so that they change nothing in another directory. Use `stoker down` before you replace a data "
            "directory, and `stoker up` to start with what is there now."
        )

    def _supervise(self, program: Program, stopped: threading.Event) -> None:
        history, now = self._histories.setdefault(program.name, History()), self._now()
        process = running(self._directory, program.name)
        if process is not None:
            self._seen[program.name] = process
            history.due = None
            if history.failures and now >= history.started_at + CALM_SECONDS:
                history.failures = 0
            return
        self._seen.pop(program.name, None)
        if history.due is None:
            self._note(program, history, self._exit_description(program))
        elif now >= history.due:
            self._restart(program, history, stopped)

    def _restart(self, program: Program, history: History, stopped: threading.Event) -> None:
        try:
            self._children[program.name] = control.start(self._directory, program, stopped)
        except Stopped:
            return
        except StokerError as error:
            self._note(program, history, error.message)
            return
        history.due, history.started_at = None, self._now()
        history.restarts += 1
        self._record()
        self._report(f"The {program.title} was restarted.")

    def _exit_description(self, program: Program) -> str:
        child = self._children.pop(program.name, None)
        status = child.poll() if child is not None else None
        return "it ended unexpectedly" if status is None else f"it ended with status {status}"

    def _note(self, program: Program, history: History, reason: str) -> None:
        pause = history.failed(reason, self._now())
        self._record()
        self._report(f"The {program.title} does not run: {reason}; restarting it in {pause:g} s.")

    def _record(self) -> None:
        """Write the histories, and the process IDs, for other commands."""
        directory = self._directory
        write_private(_file(directory), json.dumps({name: asdict(item) for name, item in self._histories.items()}))
        set_up = directory.set_up()
        if set_up is not None:
            names = [program.name for program in programs_of(directory, set_up)]
            pids = {name: pid for name in names if (pid := running(directory, name)) is not None}
            directory.record(replace(set_up, pids=pids))


def _file(directory: DataDirectory) -> Path:
    return directory.path / "supervision.json"


def histories(directory: DataDirectory) -> Mapping[str, History]:
    """Return what the last supervisor of a directory recorded, by the names of programs."""
    try:
        found: dict[str, Any] = json.loads(_file(directory).read_text())
        return {name: History(**item) for name, item in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def program(directory: DataDirectory) -> Program:
    """Return the program that supervises a directory."""
    arguments = ("-m", "stoker.processes.supervisor", "--data-dir", str(directory.path))
    return Program(NAME, "supervisor", arguments, (), "")


def main(arguments: list[str] | None = None) -> None:
    """Entry point; returns at SIGTERM."""
    parser = argparse.ArgumentParser(prog="stoker.processes.supervisor", description="Restarts what ends unexpectedly.")
    parser.add_argument("--data-dir", type=Path, required=True, help="directory of an embedded Stoker")
    add_ready_option(parser)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    signal.signal(signal.SIGHUP, lambda *_: _log.info("SIGHUP has no effect; `stoker down` stops everything"))
    supervisor = Supervisor(DataDirectory(given.data_dir), {}, lambda sentence: _log.warning("%s", sentence))
    report_ready(given.ready_fd)
    try:
        supervisor.watch(stopped)
    except DirectoryReplaced as error:
        sys.exit(f"stoker: {error}")


if __name__ == "__main__":
    os.umask(PRIVATE_UMASK)
    main()
