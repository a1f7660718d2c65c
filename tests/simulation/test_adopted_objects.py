"""Each resource type comes back with its objects when a stack is abandoned and adopted."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.simulation.test_lost_answers import PARTS, ROOT, outside

NEW = {
    **dict.fromkeys(
        ("OS::Heat::SoftwareDeployment", "OS::Heat::SoftwareDeploymentGroup", "OS::Heat::SoftwareDeployments",
         "OS::Heat::StructuredDeployment", "OS::Heat::StructuredDeploymentGroup", "OS::Heat::StructuredDeployments"),
        "A deployment is a record of the stack, which ends with it.",
    ),
    "OS::Heat::Stack": "The stack in the other service is compared by that service.",
    "OS::Heat::SwiftSignalHandle": "Its container has the ID of the abandoned stack (docs/explanation/known-flaws.md).",
    "OS::Heat::UpdateWaitConditionHandle": "Each update replaces it.",
}  # fmt: skip
"""Types that do not, and why."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_an_adopted_stack_has_the_objects_that_were_abandoned(part: int) -> None:
    names = [name for name in outside()[part::PARTS] if name not in NEW]
    command = [sys.executable, "-m", "tests.simulation.adopted_objects", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == names
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
