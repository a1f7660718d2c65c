"""What the service does about drift by itself, through the REST API: choosing it, and the last look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from tests.api.sending import requests_of_demo

NESTED = {
    "type": "OS::Heat::ResourceGroup",
    "properties": {"count": 1, "resource_def": {"type": "OS::Heat::RandomString"}},
}
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"group": NESTED}}


@pytest.fixture
def stacks(tmp_path: Path, served: ServedCloud) -> Iterator[Any]:
    """A function that sends a request below the project, as the user demo or as a reader of the project."""
    with requests_of_demo(tmp_path, served) as send:
        yield send


def test_drift_reaction_is_set_per_stack(stacks: Any) -> None:
    made = stacks("POST", "/stacks", {"stack_name": "web", "template": TEMPLATE}).json()["stack"]
    stacks.settle(made["id"])
    here = f"/stacks/web/{made['id']}"
    watch = stacks("GET", f"{here}/drift/watch").json()["drift_watch"]
    assert (watch["mode"], watch["chosen"], watch["status"], watch["age"]) == ("off", None, None, None)
    chosen = stacks("PATCH", f"{here}/drift/watch", {"mode": "repair"})
    assert chosen.status_code == 200 and chosen.json()["drift_watch"]["chosen"] == "repair"
    assert stacks("GET", f"{here}/drift/watch").json()["drift_watch"]["mode"] == "repair"
    assert stacks("PATCH", f"{here}/drift/watch", {"mode": "default"}).json()["drift_watch"]["chosen"] is None
    assert "drift" not in stacks("GET", here).json()["stack"], "nobody has looked"


@pytest.mark.parametrize("body", [{"mode": "always"}, {"mode": None}, {}, {"mode": "off", "interval": 1}, []])
def test_invalid_drift_reaction_is_refused(stacks: Any, body: Any) -> None:
    made = stacks("POST", "/stacks", {"stack_name": "web", "template": TEMPLATE}).json()["stack"]
    stacks.settle(made["id"])
    assert stacks("PATCH", f"/stacks/web/{made['id']}/drift/watch", body).status_code == 400


def test_nested_stack_has_the_drift_reaction_of_its_root(stacks: Any) -> None:
    made = stacks("POST", "/stacks", {"stack_name": "web", "template": TEMPLATE}).json()["stack"]
    stacks.settle(made["id"])
    group = stacks("GET", f"/stacks/web/{made['id']}/resources/group").json()["resource"]
    nested = stacks("GET", f"/stacks/{group['physical_resource_id']}").json()["stack"]
    here = f"/stacks/{nested['stack_name']}/{nested['id']}/drift/watch"
    stacks("PATCH", f"/stacks/web/{made['id']}/drift/watch", {"mode": "detect"})
    assert stacks("GET", here).json()["drift_watch"]["mode"] == "detect"
    refused = stacks("PATCH", here, {"mode": "off"})
    assert refused.status_code == 400 and "root stack" in refused.text
