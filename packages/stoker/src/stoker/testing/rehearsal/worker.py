"""A process that performs runs: it reads one from each line of its standard input, and writes its outcome to a line.

What precedes the first disruption is the same in all runs. So the phases before its phase are performed once, in a fork
of this process, which has everything imported and has seen the scenario once; each run continues from there in a fork
of that one. It finds the same process whatever was run before it, and what a dead engine was doing ends with it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, BinaryIO

import orjson

from stoker.base.errors import StokerError
from stoker.testing.determinism import make_deterministic
from stoker.testing.rehearsal.disruptions import Disruption
from stoker.testing.rehearsal.performing import Performance, definitions_of, perform
from stoker.testing.rehearsal.scenario import CREATE, Outcome, Scenario
from stoker.testing.sandbox import Definition
from stoker.testing.workers import serve

_SEED = 1
"""Of what is random inside a run, such as IDs: all runs of a scenario are alike until something goes wrong."""


@cache
def _warm(scenario: bytes) -> tuple[Scenario, Mapping[str, Definition]]:
    """Return a scenario with its files, after it has been performed once. Raises StokerError."""
    wanted = Scenario.from_dict(orjson.loads(scenario))
    definitions = definitions_of(wanted)
    perform(wanted, definitions)
    gc.collect()
    gc.freeze()
    return wanted, definitions


class PreparedProcess:
    """A process that has performed a scenario without disruptions up to a phase. Its forks continue from there."""

    def __init__(self, scenario: Scenario, definitions: Mapping[str, Definition], phase: str) -> None:
        wanted_there, wanted_here = os.pipe()
        found_here, found_there = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                os.close(wanted_here)  # so that the end of the worker is the end of the requests
                os.close(found_here)
                with os.fdopen(wanted_there, "rb") as wanted, os.fdopen(found_there, "wb") as found:
                    _serve(scenario, definitions, phase, wanted, found)
            finally:
                os._exit(0)
        os.close(wanted_there)
        os.close(found_there)
        self._wanted, self._found = os.fdopen(wanted_here, "wb"), os.fdopen(found_here, "rb")

    def ended(self, disruptions: Sequence[Mapping[str, object]]) -> bytes:
        """Return the outcome with these disruptions, as JSON; nothing if the process has ended."""
        try:
            self._wanted.write(orjson.dumps(disruptions) + b"\n")
            self._wanted.flush()
        except BrokenPipeError:
            return b""
        return self._found.readline().rstrip()

    def close(self) -> None:
        """Let the process end, and wait for that."""
        self._wanted.close()
        self._found.close()
        os.waitpid(self._process, 0)


def _serve(
    scenario: Scenario, definitions: Mapping[str, Definition], phase: str, wanted: BinaryIO, found: BinaryIO
) -> None:
    """Perform a scenario up to a phase, and end it in a fork for each line with disruptions."""
    gc.disable()  # looking at the objects of the parent would copy their memory
    make_deterministic(_SEED)
    performance = Performance(scenario, definitions)
    performance.until(phase)
    performance.save()
    for line in wanted:
        found.write(_forked(performance, line) + b"\n")
        found.flush()


def _forked(performance: Performance, line: bytes) -> bytes:
    """Return the outcome with the disruptions of a line, as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            performance.resume()
            disruptions = [Disruption.from_dict(each) for each in orjson.loads(line)]
            outcome = orjson.dumps(asdict(performance.end(disruptions)))
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(outcome)
        finally:
            os._exit(0)  # what a dead engine was doing is not to be unwound
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


class Runner:
    """Performs runs. It has a process for each phase of the scenario of the latest run."""

    def __init__(self) -> None:
        self._scenario = b""
        self._beginnings: dict[str, PreparedProcess] = {}

    def answer(self, request: Mapping[str, Any]) -> bytes:
        """Perform the run of a request; return its outcome as JSON."""
        phases = Scenario.from_dict(request["scenario"]).phases
        disruptions: Sequence[Mapping[str, Any]] = request["disruptions"]
        first = min((each["phase"] for each in disruptions), key=phases.index, default=CREATE)
        try:
            outcome = self._beginning(orjson.dumps(request["scenario"]), first).ended(disruptions)
        except StokerError as error:
            return orjson.dumps(asdict(Outcome(error=error.message)))
        return outcome or orjson.dumps(asdict(Outcome(error="The process of this run has ended early.")))

    def _beginning(self, scenario: bytes, phase: str) -> PreparedProcess:
        """Return the process that has performed a scenario up to a phase. Raises StokerError."""
        if scenario != self._scenario:
            self.close()
            self._scenario = scenario
        if phase not in self._beginnings:
            self._beginnings[phase] = PreparedProcess(*_warm(scenario), phase)
        return self._beginnings[phase]

    def close(self) -> None:
        """Let all processes end."""
        while self._beginnings:
            self._beginnings.popitem()[1].close()


if __name__ == "__main__":
    runner = Runner()
    serve(runner.answer)
    runner.close()
