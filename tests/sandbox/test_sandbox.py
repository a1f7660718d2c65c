"""`stoker.testing`: templates are deployed in this process, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.base.errors import Invalid, NotFound, TemplateInvalid
from stoker.testing import CloudCalls, EmulatedCloud, Plan, Sandbox, Signal, Stack
from tests.sandbox.templates import DISK, WAITING, twenty

SERVER = """\
heat_template_version: 2021-04-16
resources:
  server:
    type: OS::Nova::Server
    properties: {image: debian, flavor: huge, networks: [{network: office}], key_name: mine}
"""
OUTER = """\
heat_template_version: 2021-04-16
resources:
  members:
    type: OS::Heat::ResourceGroup
    properties: {count: 1, resource_def: {type: template.yaml}}
"""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    return written(tmp_path, DISK)


def written(folder: Path, text: str, name: str = "template.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_stack_is_created_changed_and_deleted(sandbox: Sandbox, disk: Path) -> None:
    assert sandbox.plan("disks", disk).actions == {"disk": "create"}
    stack = sandbox.deploy("disks", disk)
    assert (stack.state, stack.outputs["size"], stack["disk"].type) == ("CREATE_COMPLETE", "1", "OS::Cinder::Volume")
    assert stack["disk"].physical_id == stack.outputs["id"]
    assert stack["disk"].sent["size"] == 1
    plan = sandbox.plan("disks", disk, parameters={"zone": "other", "size": 2})
    assert (plan.counts, plan.paths("replace")) == ({"create": 2, "replace": 1}, ["disk"])
    assert "availability_zone" in plan.changed_properties["disk"]
    larger = sandbox.deploy("disks", disk, parameters={"size": 2})
    assert (larger.state, larger.id, sorted(larger.resources)) == (
        "UPDATE_COMPLETE",
        stack.id,
        ["copy", "disk", "word"],
    )
    assert sandbox.plan("disks", disk).actions == {}, "parameters keep their values"
    assert sandbox.plan_deletion("disks").counts == {"delete": 3}
    sandbox.delete("disks")
    with pytest.raises(NotFound):
        sandbox.stack("disks")


def test_twenty_resources_take_virtual_time_only(sandbox: Sandbox, tmp_path: Path) -> None:
    began = sandbox.clock.now()
    stack = sandbox.deploy("many", written(tmp_path, twenty()))
    assert (stack.state, len(stack.resources)) == ("CREATE_COMPLETE", 20)
    assert sandbox.clock.now() >= began + 1
    assert len(sandbox.calls.matching("POST /compute/v2.1/servers")) == 5
    assert {call.status for call in sandbox.calls.changes.matching("POST *")} <= {200, 201, 202}


def test_problems_have_their_places_in_the_users_files(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, DISK.replace("name: disk", "nam: disk"))
    with pytest.raises(TemplateInvalid) as caught:
        sandbox.plan("disks", "template.yaml")
    assert caught.value.message.startswith("template.yaml:12:7: resources.disk.properties: unknown property 'nam'")
    written(tmp_path, DISK)
    written(tmp_path, "parameters:\n  size: 500\n", "large.yaml")
    with pytest.raises(TemplateInvalid) as caught:
        sandbox.deploy("disks", "template.yaml", environments=["large.yaml"])
    assert caught.value.message.startswith("large.yaml:2:9: parameters.size")
    with pytest.raises(Invalid, match=r"none\.yaml cannot be read"):
        sandbox.plan("disks", "none.yaml")


def test_the_cloud_has_what_it_is_given(sandbox: Sandbox, tmp_path: Path) -> None:
    template = written(tmp_path, SERVER)
    with pytest.raises(TemplateInvalid, match="huge"):
        sandbox.plan("server", template)
    image = sandbox.cloud.add_image("debian", min_disk=1)
    flavor = sandbox.cloud.add_flavor("huge", ram=16384, vcpus=8, disk=100)
    network = sandbox.cloud.add_network("office", cidr="10.9.0.0/24")
    sandbox.cloud.add_keypair("mine")
    assert not sandbox.calls.changes
    stack = sandbox.deploy("server", template)
    assert stack.state == "CREATE_COMPLETE", stack.reason
    sent = stack["server"].sent
    assert (sent["imageRef"], sent["flavorRef"], sent["key_name"]) == (image, flavor, "mine")
    assert sent["networks"] == [{"uuid": network}]


def test_faults_and_rollbacks(sandbox: Sandbox, disk: Path) -> None:
    sandbox.cloud.add_fault("POST /volume/v3/*/volumes", "error_state", match={"name": "disk"})
    failed = sandbox.deploy("disks", disk)
    assert (failed.state, failed["disk"].state) == ("CREATE_FAILED", "CREATE_FAILED")
    sandbox.cloud.clear_faults()
    assert sandbox.deploy("disks", disk).state == "UPDATE_COMPLETE"
    with pytest.raises(Invalid, match="Unknown 'do'"):
        sandbox.cloud.add_fault("POST *", "explode")
    sandbox.cloud.add_fault("DELETE /volume/*", "fail", status=400, message="It stays.")
    with pytest.raises(Invalid, match="It stays"):
        sandbox.delete("disks")


def test_changes_by_others_are_drift(sandbox: Sandbox, disk: Path) -> None:
    stack = sandbox.deploy("disks", disk)
    assert sandbox.drift("disks").actions == {}
    project = sandbox.calls.matching("POST /volume/v3/*/volumes")[0].path.split("/")[3]
    path = f"/volume/v3/{project}/volumes/{stack.outputs['id']}"
    sandbox.cloud.request("PUT", path, {"volume": {"name": "renamed"}}, user="demo")
    assert sandbox.drift("disks").changed_properties == {"disk": {"name"}}
    with pytest.raises(Invalid, match="refuses GET"):
        sandbox.cloud.request("GET", f"{path}x", user="demo")


def test_wait_condition_ends_by_signal_or_virtual_timeout(sandbox: Sandbox, tmp_path: Path) -> None:
    began = sandbox.clock.now()
    template = written(tmp_path, WAITING)
    stack = sandbox.deploy("waiting", template)
    assert (stack.state, sandbox.clock.now() >= began + 3600) == ("CREATE_FAILED", True)
    began = sandbox.clock.now()
    signalled = sandbox.deploy("other", template, signals=[Signal("handle", {"status": "SUCCESS"})])
    assert (signalled.state, sandbox.clock.now() < began + 60) == ("CREATE_COMPLETE", True)
    outer = written(tmp_path, OUTER, "outer.yaml")
    nested = sandbox.deploy("outer", outer, signals=[Signal("members.0.handle", {"status": "FAILURE"})])
    assert (nested.state, nested["members.0.wait"].state) == ("CREATE_FAILED", "CREATE_FAILED")
    with pytest.raises(Invalid, match="The resource handle of the stack other has not taken its signal"):
        sandbox.deploy("other", template, signals=[Signal("handle")])


def test_plan_text_is_deterministic(disk: Path) -> None:
    def texts() -> list[str]:
        with Sandbox() as sandbox:
            sandbox.deploy("disks", disk, parameters={"size": 2})
            return [sandbox.plan("disks", disk, parameters={"zone": "x"}).text, sandbox.plan_deletion("disks").text]

    first = texts()
    assert first == texts()
    assert "Plan: " in first[0]


# -- the fixtures of the plug-in ---------------------------------------------------------------------------------------


def test_the_fixtures_share_a_sandbox(
    stoker_cloud: EmulatedCloud,
    stoker_deploy: Callable[..., Stack],
    stoker_plan: Callable[..., Plan],
    stoker_calls: CloudCalls,
    stoker_sandbox: Sandbox,
    disk: Path,
) -> None:
    stoker_cloud.add_fault("POST /volume/v3/*/volumes", "fail", status=503, times=1)
    assert stoker_plan("disks", disk).counts == {"create": 1}
    stack: Any = stoker_deploy("disks", disk)
    assert stack.state == "CREATE_COMPLETE"
    assert [call.status for call in stoker_calls.matching("POST /volume/v3/*/volumes")] == [503, 202]
    assert stoker_sandbox.stack("disks") == stack
