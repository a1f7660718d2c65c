"""Work that several processes do: each reads requests from its standard input, and writes the answers to its output."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any

import orjson

from stoker.base.errors import StokerError
from stoker.testing.cases import Case
from stoker.testing.running import Outcome
from stoker_foundation.interpreter import python_command, python_environment

_CASES = "stoker.testing.worker"


class Workers:
    """At most `jobs` processes that run a module; each is started when there is work for it.

    The module reads JSON data from each line of its input, and writes its answer as JSON data to a line.
    """

    def __init__(self, module: str, jobs: int) -> None:
        self._module = module
        self._workers: list[_Worker] = []
        self._own = threading.local()
        self._interrupted = False
        self._threads = ThreadPoolExecutor(jobs, initializer=self._begin)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._interrupted = error is not None  # nobody wants what the processes are doing, which may take long
        for worker in self._workers if self._interrupted else ():
            worker.interrupt()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def answers(self, requests: Sequence[Mapping[str, object]]) -> Iterator[Any]:
        """Yield the answers to requests, in their order. Raises StokerError if a process ends before it answers."""
        return self._threads.map(self._answer, requests)

    def _begin(self) -> None:
        self._own.worker = _Worker(self._module)
        self._workers.append(self._own.worker)
        if self._interrupted:
            self._own.worker.interrupt()

    def _answer(self, request: Mapping[str, object]) -> object:
        return self._own.worker.answer(request)


def outcomes(cases: Sequence[Case], update: bool, jobs: int) -> Iterator[Outcome]:
    """Yield the outcomes of cases, in their order; at most `jobs` processes run them, each one after the other.

    Raises StokerError if a process ends before its case does.
    """
    requests = [
        {"file": case.file.source, "cloud": case.cloud_file, "number": case.number, "update": update} for case in cases
    ]
    with Workers(_CASES, jobs) as workers:
        yield from map(Outcome.from_dict, workers.answers(requests))


def serve(answer: Callable[[Any], bytes]) -> None:
    """Answer the requests of `Workers`, until the end of the input or SIGTERM; `answer` returns JSON."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that files are removed
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(answer(orjson.loads(line)) + b"\n")
            sys.stdout.buffer.flush()
    except BrokenPipeError:  # the command was killed; what is left in the buffer would be an error at the end again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Worker:
    """A process that answers requests."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  this interpreter, with a module of this package
            python_command("-m", module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**python_environment(), "PYTHONHASHSEED": "0"},
            process_group=0,  # a Ctrl-C on the terminal is for the command, which ends its processes
        )

    def answer(self, request: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(orjson.dumps(request) + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:  # it has ended before
            answer = b""
        if not answer:
            what = request.get("what", f"the test {request.get('number')} of {request.get('file')}")
            raise StokerError(f"The process that ran {what} has ended.")
        return orjson.loads(answer)

    def interrupt(self) -> None:
        """End the process at once, with those that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)

    def close(self) -> None:
        """Let the process end, and wait for that."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended before
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
