"""A process that performs runs: it reads one from each line of its standard input, and writes its outcome to a line.

Each run is made in a fork of this process, which has everything imported and has seen the scenario once. So a run finds
the same process whatever was run before it, and what a dead engine was doing ends with the fork.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

import orjson

from stoker.base.errors import StokerError
from stoker.testing.determinism import make_deterministic
from stoker.testing.rehearsal.disruptions import Disruption
from stoker.testing.rehearsal.performing import definitions_of, perform
from stoker.testing.rehearsal.scenario import Outcome, Scenario
from stoker.testing.sandbox import Definition

_SEED = 1
"""Of what is random inside a run, such as IDs: all runs of a scenario are alike until something goes wrong."""


@cache
def _warm(scenario: bytes) -> tuple[Scenario, Mapping[str, Definition]]:
    """Return a scenario with its files, after it has been performed once."""
    wanted = Scenario.from_dict(orjson.loads(scenario))
    definitions = definitions_of(wanted)
    perform(wanted, definitions)
    gc.collect()
    gc.freeze()
    return wanted, definitions


def answer(request: Mapping[str, Any]) -> bytes:
    """Perform the run of a request in a fork; return its outcome as JSON."""
    try:
        scenario, definitions = _warm(orjson.dumps(request["scenario"]))
    except StokerError as error:
        return orjson.dumps(asdict(Outcome(error=error.message)))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            gc.disable()  # looking at the objects of the parent would copy their memory
            make_deterministic(_SEED)
            disruptions = [Disruption.from_dict(each) for each in request["disruptions"]]
            outcome = orjson.dumps(asdict(perform(scenario, definitions, disruptions)))
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(outcome)
        finally:
            os._exit(0)  # what a dead engine was doing is not to be unwound
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text or orjson.dumps(asdict(Outcome(error="The process of this run has ended early.")))


def main() -> None:
    """Perform runs until the end of the input."""
    logging.getLogger().addHandler(logging.NullHandler())
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(answer(orjson.loads(line)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
