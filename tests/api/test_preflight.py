"""Checks before the first change, through the APIs: previews, creations, change sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from tests.api.sending import requests_of_demo

BIG = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "big": {"type": "OS::Cinder::Volume", "properties": {"size": 999999}},
    },
}


@pytest.fixture
def stacks(tmp_path: Path, served: ServedCloud) -> Iterator[Any]:
    """A function that sends a request below the project and returns the answer; `settle` waits for a stack."""
    with requests_of_demo(tmp_path, served) as send:
        yield send


def test_creation_with_findings_is_accepted_and_fails_without_objects(stacks: Any) -> None:
    made = stacks("POST", "/stacks", {"stack_name": "big", "template": BIG})
    assert made.status_code == 201
    stacks.settle(made.json()["stack"]["id"])
    stack = stacks("GET", "/stacks/big").json()["stack"]
    assert stack["stack_status"] == "CREATE_FAILED"
    assert "the quota of the project is 1000" in stack["stack_status_reason"]
    assert stacks("GET", "/stacks/big/resources").json()["resources"] == []


def test_a_preview_has_the_findings(stacks: Any) -> None:
    plan = stacks("POST", "/stacks/preview", {"stack_name": "big", "template": BIG}).json()["stack"]["plan"]
    [finding] = plan["preflight"]["results"]
    assert (finding["code"], finding["verdict"], finding["path"]) == ("quota", "fail", "big")
    body = {"stack_name": "big", "template": BIG, "preflight": False}
    assert "preflight" not in stacks("POST", "/stacks/preview", body).json()["stack"]["plan"]


def test_request_without_preflight_reports_service_message(stacks: Any) -> None:
    made = stacks("POST", "/stacks", {"stack_name": "big", "template": BIG, "preflight": False})
    stacks.settle(made.json()["stack"]["id"])
    assert "VolumeSizeExceedsAvailableQuota" in stacks("GET", "/stacks/big").json()["stack"]["stack_status_reason"]
