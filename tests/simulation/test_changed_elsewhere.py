"""Whatever somebody changes behind the engine's back, of whatever resource type, is drift, and nothing else is."""

from __future__ import annotations

import json

import pytest

from testing.simulation.changed_elsewhere import FOUND
from tests.simulation.programs import run
from tests.simulation.test_lost_answers import outside

PARTS = 2
LEAST_FOUND = (84, 83)
"""The number of properties that are changed and found, in each part, of 190 and 194 that are compared.

Most of the others cannot be changed in place; the outcomes name the reason of each.
"""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_changes_are_detected_as_drift_exactly(part: int) -> None:
    names = outside()[part::PARTS]
    done = run("changed_elsewhere", *names, seconds=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == names
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
    outcomes = {f"{report['type']} {change}" for report in reports for case in report["changes"] for change in case}
    found = {outcome for outcome in outcomes if outcome.endswith(f": {FOUND}")}
    assert len(found) >= LEAST_FOUND[part], sorted(outcomes - found)
