"""Whatever is said not to exist while a stack is deleted: when the stack is deleted, none of its objects is left."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from testing.rotation import of_today
from tests.simulation.test_lost_answers import PARTS, ROOT, outside


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_stack_counts_as_deleted_while_an_object_is_only_hidden(part: int) -> None:
    names = of_today(outside(), 3)[part::PARTS]
    command = [sys.executable, "-m", "testing.simulation.hidden_objects", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == names
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
    assert all(any(changes) for report in reports for changes in report["changes"])
