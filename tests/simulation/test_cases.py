"""The examples of resource types: every type that the manual shows has one, and the local ones deploy here.

test_lost_answers.py deploys the examples of types that create objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from stoker_reference.resource_types import visible

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.template.template import Template
from stoker_foundation.clock import SystemClock
from testing.harness import World
from testing.simulation.cases import creating, example, local

SIGNALS = {"heat_waitcondition_server_url": "http://cfn.example:8000/v1/waitcondition"}
DETAILS = {
    "OS::Heat::WaitConditionHandle": {"id": "1", "status": "SUCCESS"},
    "AWS::CloudFormation::WaitConditionHandle": {"UniqueId": "1", "Status": "SUCCESS", "Reason": "", "Data": ""},
}


def test_every_type_of_the_manual_has_an_example() -> None:
    cases = {**creating(), **local()}
    assert sorted(visible(Registry.from_entry_points()).keys() - cases.keys()) == []
    for name in cases:
        parsed = Template.load(example(name, cases[name]))
        assert [resource.type for resource in parsed.resources.values()].count(name) >= 1


def test_an_example_depends_on_what_it_does_not_refer_to() -> None:
    net = {"type": "OS::Neutron::Net"}
    case = {"net": net, "other": net, "thing": {"network": {"get_resource": "net"}}, "twin": net}
    shown = yaml.safe_load(example("OS::Neutron::FloatingIP", [case]))["resources"]
    assert list(shown) == ["net", "other", "floating_ip"]
    assert shown["floating_ip"]["depends_on"] == ["other"]


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """An emulated cloud whose catalog has an orchestration service, for the URLs of handles."""
    endpoints = {"orchestration": "http://heat.example:8004/v1/%(project_id)s"}
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=endpoints)) as served:
        yield served


async def test_examples_of_local_types_deploy(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "stoker.db", served, settings=EngineSettings(type_options=SIGNALS)).start()
    try:
        for name, cases in local().items():
            stack = await world.call("stack_create", name="web", template=example(name, cases))
            while world.engine.runs.get(stack["id"]) is not None:
                await _signalled(world)
                await world.turn()
            shown = await world.settle(stack["id"])
            assert shown["status"] == "COMPLETE", f"{name}: {shown['status_reason']}"
            assert (await world.delete("web"))["status"] == "COMPLETE", name
    finally:
        await world.stop()


async def _signalled(world: World) -> None:
    """Send a signal to a handle that has been created."""
    ref = {"name": "web", "id": None}
    handle = (await world.resources("web")).get("handle")
    if handle is None or handle["status"] != "COMPLETE":
        return
    if handle["type"] in DETAILS:
        await world.call("resource_signal", ref=ref, name="handle", details=DETAILS[handle["type"]])
    else:
        place = urlsplit((await world.call("resource_show", ref=ref, name="handle"))["attributes"]["endpoint"])
        world.served.call("PUT", f"{place.path}?{place.query}", b"{}")
