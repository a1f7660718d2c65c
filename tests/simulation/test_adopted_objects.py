"""Types whose objects have several parts, or unusual IDs, come back when a stack is abandoned and adopted."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.simulation.test_lost_answers import ROOT

TYPES = [
    "AWS::EC2::EIPAssociation",
    "AWS::EC2::VPC",
    "OS::Barbican::GenericContainer",
    "OS::Barbican::Order",
    "OS::Barbican::RSAContainer",
    "OS::Barbican::Secret",
    "OS::Cinder::VolumeAttachment",
    "OS::Nova::FloatingIPAssociation",
]


@pytest.mark.slow
def test_an_adopted_stack_has_the_objects_that_were_abandoned() -> None:
    command = [sys.executable, "-m", "tests.simulation.adopted_objects", *TYPES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["type"] for report in reports] == TYPES
    assert {report["type"]: report["problems"] for report in reports if report["problems"]} == {}
