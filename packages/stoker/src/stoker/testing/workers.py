"""Run cases with several processes."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import orjson

from stoker.base.errors import StokerError
from stoker.testing.cases import Case
from stoker.testing.running import Outcome
from stoker_foundation.interpreter import python_command, python_environment


def outcomes(cases: Sequence[Case], update: bool, jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of cases, in their order; at most `jobs` processes run them, each one after the other.

    Raises StokerError if a process ends before its case does.
    """
    workers: list[_Worker] = []
    own = threading.local()

    def begin() -> None:
        own.worker = _Worker()
        workers.append(own.worker)

    def run(case: Case) -> Outcome:
        found: Outcome = own.worker.run(case, update)
        return found

    try:
        with ThreadPoolExecutor(jobs, initializer=begin) as threads:
            yield from threads.map(run, cases)
    finally:
        for worker in workers:
            worker.close()


class _Worker:
    """A process that runs cases."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  this interpreter, with a module of this package
            python_command("-m", "stoker.testing.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=python_environment(),
        )

    def run(self, case: Case, update: bool) -> Outcome:
        assert self._process.stdin is not None and self._process.stdout is not None
        request = {"file": case.file.source, "number": case.number, "update": update}
        try:
            self._process.stdin.write(orjson.dumps(request) + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:  # it has ended before
            answer = b""
        if not answer:
            raise StokerError(f"The process that ran the test {case.title!r} of {case.file.source} has ended.")
        return Outcome.from_dict(orjson.loads(answer))

    def close(self) -> None:
        """Let the process end, and wait for that."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
