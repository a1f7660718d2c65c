"""Resources of every type have the same objects when their stack is abandoned and adopted."""

from __future__ import annotations

import json

import pytest

from testing.rotation import of_today
from tests.simulation.programs import run
from tests.simulation.test_lost_answers import PARTS, outside


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_an_adopted_stack_has_the_objects_that_were_abandoned(part: int) -> None:
    names = of_today(outside(), 2)[part::PARTS]
    done = run("adopted_objects", *names, seconds=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == names
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
