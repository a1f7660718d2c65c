"""kill -9 at every write of the journal while a group scales: it is done once, and the group knows of it."""

from __future__ import annotations

import json

import pytest

from openstack_emulator.testing import ServedCloud
from testing.forked_program import ENGINE_IMPORTS, run

PROGRAM = "tests.engine.crashing_scaling"

UNTOUCHED = {"size": 1, "changing": False, "reason": "ExactCapacity : 1"}
SCALED = {"size": 2, "changing": False, "reason": "change_in_capacity : 1"}


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_engine_killed_during_scaling_is_recovered(served: ServedCloud, moment: str) -> None:
    arguments = [PROGRAM, served.url, served.token("demo", "demo"), moment]
    ran = run(PROGRAM, arguments, imports=[PROGRAM, *ENGINE_IMPORTS], timeout=500)
    assert ran.returncode == 0, ran.stderr
    results = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [result["killed"] for result in results] == [True] * (len(results) - 1) + [False]
    assert len(results) > 4
    for result in results:
        assert result["before"] in (UNTOUCHED, SCALED), result
        assert result["after"] == SCALED, "asked again, it does what was not done, and nothing twice"
    done = [result["before"] == SCALED for result in results]
    assert done == sorted(done), "a recorded intent is carried out"
    assert done[-1]
