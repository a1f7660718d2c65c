"""Whatever is said not to exist while a stack is deleted: when the stack is deleted, none of its objects is left."""

from __future__ import annotations

import json

import pytest

from testing.rotation import of_today
from tests.simulation.programs import run
from tests.simulation.test_lost_answers import PARTS, outside


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_stack_is_deleted_while_an_object_is_temporarily_not_found(part: int) -> None:
    names = of_today(outside(), 3)[part::PARTS]
    done = run("hidden_objects", *names, seconds=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == names
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
    assert all(any(changes) for report in reports for changes in report["changes"])
