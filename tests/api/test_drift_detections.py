"""Comparisons with the cloud in the background, by the REST API: how far they are, and the plan of their result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from tests.api.sending import requests_of_demo

NET = {"type": "OS::Neutron::Net"}
GROUP = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": NET}}
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"net": NET, "group": GROUP}}


@pytest.fixture
def call(tmp_path: Path, served: ServedCloud) -> Iterator[Any]:
    """A function that sends a request below the project, as the user demo."""
    with requests_of_demo(tmp_path, served) as send:
        yield send


def made(call: Any, name: str) -> str:
    """The path of a new stack."""
    stack = call("POST", "/stacks", {"stack_name": name, "template": TEMPLATE}).json()["stack"]
    call.settle(stack["id"])
    return f"/stacks/{name}/{stack['id']}"


def ended(call: Any, path: str, detection: dict[str, Any]) -> dict[str, Any]:
    """The detection when it has ended."""
    while detection["status"] == "IN_PROGRESS":
        time.sleep(0.01)
        detection = call("GET", f"{path}/drift/detections/{detection['id']}").json()["drift_detection"]
    return detection


def test_drift_detection_reports_progress_and_its_plan_is_read_by_id(call: Any, served: ServedCloud) -> None:
    web = made(call, "web")
    network = call("GET", f"{web}/resources/net").json()["resource"]["physical_resource_id"]
    assert served.call("DELETE", f"/network/v2.0/networks/{network}", None, served.token("demo", "demo")).status == 204
    begun = call("POST", f"{web}/drift/detections")
    assert begun.status_code == 201, begun.text
    detection = ended(call, web, begun.json()["drift_detection"])
    differing = [{"path": "net", "type": "OS::Neutron::Net", "status": "DELETED"}]
    assert {name: value for name, value in detection.items() if name not in ("id", "time")} == {
        "status": "COMPLETE", "reason": "", "drift": "DRIFTED", "resources": 3, "compared": 3, "differing": differing,
    }  # fmt: skip
    plan = call("GET", f"{web}/drift?detection={detection['id']}").json()["plan"]
    assert plan["compared"]["differing"] == 1
    assert {step["path"] for step in plan["steps"] if step["kind"] != "keep"} == {"net"}


def test_a_detection_belongs_to_its_stack(call: Any) -> None:
    web, other = made(call, "web"), made(call, "other")
    begun = call("POST", f"{web}/drift/detections").json()["drift_detection"]
    ended(call, web, begun)
    assert call("GET", f"{other}/drift/detections/{begun['id']}").status_code == 404
    assert call("GET", f"{other}/drift?detection={begun['id']}").status_code == 404
    assert call("GET", f"{web}/drift/detections/none").status_code == 404
    assert call("GET", f"{web}/drift?detection=none").status_code == 404
