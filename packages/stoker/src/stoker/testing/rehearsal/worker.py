"""A process that performs runs: it reads one from each line of its standard input, and writes its outcome to a line.

What precedes the first disruption is the same in all runs. So the phases before its phase are performed once, in a fork
of this process, which has everything imported and has performed the scenario once; each run continues from there in a
fork of that one. It finds the same process whatever was run before it, and what a dead engine was doing ends with it.

The run without disruptions is the one that this process has performed itself.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, BinaryIO

import orjson

from stoker.base.errors import StokerError
from stoker.testing.determinism import make_deterministic
from stoker.testing.rehearsal.disruptions import Disruption
from stoker.testing.rehearsal.scenario import Outcome, Scenario
from stoker.testing.rehearsal.scenario_run import ScenarioRun, definitions_of, perform
from stoker.testing.sandbox import Definition
from stoker.testing.workers import serve

_SEED = 1
"""Of what is random inside a run, such as IDs: all runs of a scenario are alike until something goes wrong."""


@dataclass(frozen=True, slots=True)
class _PreparedScenario:
    """A scenario with its files, after it has been performed once; `undisturbed` is the outcome, as JSON."""

    scenario: Scenario
    definitions: Mapping[str, Definition]
    undisturbed: bytes


@cache
def _prepared_scenario(text: bytes) -> _PreparedScenario:
    """Return a scenario after it has been performed once. Raises StokerError."""
    scenario = Scenario.from_dict(orjson.loads(text))
    definitions = definitions_of(scenario)
    make_deterministic(_SEED)
    undisturbed = orjson.dumps(asdict(perform(scenario, definitions)))
    gc.collect()
    gc.freeze()
    return _PreparedScenario(scenario, definitions, undisturbed)


class PreparedProcess:
    """A process that has performed a scenario without disruptions up to a phase. Its forks continue from there."""

    def __init__(self, prepared: _PreparedScenario, phase: str) -> None:
        request_reader, request_writer = os.pipe()
        answer_reader, answer_writer = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                os.close(request_writer)  # so that the end of the worker is the end of the requests
                os.close(answer_reader)
                with os.fdopen(request_reader, "rb") as requests, os.fdopen(answer_writer, "wb") as answers:
                    _serve(prepared, phase, requests, answers)
            finally:
                os._exit(0)
        os.close(request_reader)
        os.close(answer_writer)
        self._requests, self._answers = os.fdopen(request_writer, "wb"), os.fdopen(answer_reader, "rb")

    def outcome_of(self, disruptions: Sequence[Mapping[str, object]]) -> bytes:
        """Return the outcome with these disruptions, as JSON; nothing if the process has ended."""
        try:
            self._requests.write(orjson.dumps(disruptions) + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            return b""
        return self._answers.readline().rstrip()

    def close(self) -> None:
        """Let the process end, and wait for that."""
        self._requests.close()
        self._answers.close()
        os.waitpid(self._process, 0)


def _serve(prepared: _PreparedScenario, phase: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Perform a scenario up to a phase, and end it in a fork for each line with disruptions."""
    gc.disable()  # looking at the objects of the parent would copy their memory
    make_deterministic(_SEED)
    run = ScenarioRun(prepared.scenario, prepared.definitions)
    run.until(phase)
    run.save()
    for line in requests:
        answers.write(_forked(run, line) + b"\n")
        answers.flush()


def _forked(run: ScenarioRun, line: bytes) -> bytes:
    """Return the outcome with the disruptions of a line, as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            run.resume()
            disruptions = [Disruption.from_dict(disruption) for disruption in orjson.loads(line)]
            outcome = orjson.dumps(asdict(run.end(disruptions)))
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
        self._processes: dict[str, PreparedProcess] = {}

    def answer(self, request: Mapping[str, Any]) -> bytes:
        """Perform the run of a request; return its outcome as JSON."""
        text = orjson.dumps(request["scenario"])
        disruptions: Sequence[Mapping[str, Any]] = request["disruptions"]
        try:
            prepared = _prepared_scenario(text)
        except StokerError as error:
            return orjson.dumps(asdict(Outcome(error=error.message)))
        if not disruptions:
            return prepared.undisturbed
        first = min((disruption["phase"] for disruption in disruptions), key=prepared.scenario.phases.index)
        outcome = self._process(text, first).outcome_of(disruptions)
        return outcome or orjson.dumps(asdict(Outcome(error="The process of this run has ended early.")))

    def _process(self, scenario: bytes, phase: str) -> PreparedProcess:
        """Return the process that has performed a scenario up to a phase."""
        if scenario != self._scenario:
            self.close()
            self._scenario = scenario
        if phase not in self._processes:
            self._processes[phase] = PreparedProcess(_prepared_scenario(scenario), phase)
        return self._processes[phase]

    def close(self) -> None:
        """Let all processes end."""
        while self._processes:
            self._processes.popitem()[1].close()


if __name__ == "__main__":
    runner = Runner()
    serve(runner.answer)
    runner.close()
