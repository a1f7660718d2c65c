"""Services that take longer than a request may wait: what they have not answered is unknown, and no refusal."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import World
from tests.engine.test_looking_plans import REF

LIMIT = 0.3
NEUTRON, NOVA, GLANCE, CINDER = "/network", "/compute", "/image", "/volume"


def template(**resources: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    made = {name: {"type": kind, "properties": given} for name, (kind, given) in resources.items()}
    return {"heat_template_version": "2021-04-16", "resources": made}


VOLUME = template(disk=("OS::Cinder::Volume", {"size": 1, "volume_type": "lvmdriver-1"}))
SERVER = template(web=("OS::Nova::Server", {"image": "cirros-0.6.2-x86_64-disk", "flavor": "m1.tiny"}))
QOS = template(policy=("OS::Neutron::QoSPolicy", {}))
EXTERNAL = {
    "heat_template_version": "2021-04-16",
    "resources": {"net": {"type": "OS::Neutron::Net", "external_id": "no-such-network"}},
}


@pytest.fixture
async def world(request: pytest.FixtureRequest, tmp_path: Path, served: ServedCloud) -> AsyncIterator[World]:
    """The time that services may take is short, and passes as everywhere."""
    settings = EngineSettings(validation_seconds=getattr(request, "param", LIMIT))
    world = await World(tmp_path / "slow.db", served, clock=SystemClock(), settings=settings).start()
    yield world
    served.do(served.cloud.faults.clear)
    await world.stop()


def slow(world: World, *services: str) -> None:
    for service in services:
        fault = Fault(on=f"GET {service}/*", do="delay", seconds=20 * LIMIT)
        world.in_cloud(partial(world.served.cloud.faults.add, fault))


@pytest.mark.parametrize(
    ("definition", "services", "named"),
    [
        (SERVER, (NOVA, GLANCE, NEUTRON), "nova.flavor at resources.web.properties.flavor"),
        (QOS, (NEUTRON,), "the extension qos of neutron"),
        (EXTERNAL, (NEUTRON,), "the external_id of net"),
        (VOLUME, (CINDER,), "cinder.vtype at resources.disk.properties.volume_type"),
    ],
)
async def test_a_template_that_services_do_not_check_in_time_is_accepted_and_says_so(
    world: World, definition: Any, services: tuple[str, ...], named: str
) -> None:
    await world.call("stack_create", name="first", template=template())  # the session has logged in
    slow(world, *services)
    began = time.monotonic()
    preview = await world.call("stack_preview", name="web", template=definition)
    assert time.monotonic() - began < 10 * LIMIT
    assert named in preview["plan"]["unchecked"]
    made = await world.call("stack_create", name="web", template=definition)
    assert made["status"] == "IN_PROGRESS"
    assert named in made["status_reason"]
    events = await world.call("event_list", ref={"name": "web", "id": None})
    assert any(named in str(event) for event in events), events


async def test_errors_reported_in_time_are_errors(world: World) -> None:
    slow(world, CINDER)
    wrong = template(web=("OS::Nova::Server", {"image": "no-such-image", "flavor": "m1.tiny"}), **{
        "disk": ("OS::Cinder::Volume", {"size": 1, "volume_type": "slow"})
    })  # fmt: skip
    with pytest.raises(Exception, match="no-such-image"):
        await world.call("stack_create", name="web", template=wrong)


async def test_hidden_values_are_not_in_what_was_not_checked(world: World) -> None:
    slow(world, CINDER)
    hidden = {
        "heat_template_version": "2021-04-16",
        "parameters": {"kind": {"type": "string", "hidden": True}},
        "resources": {
            "disk": {"type": "OS::Cinder::Volume", "properties": {"size": 1, "volume_type": {"get_param": "kind"}}}
        },
    }
    preview = await world.call("stack_preview", name="web", template=hidden, parameters={"kind": "s3cret-type"})
    assert "volume_type" in preview["plan"]["unchecked"] and "s3cret" not in preview["plan"]["unchecked"]


TIMEOUT = 2.0
"""A limit within which the services that do not hang answer on a busy machine, too."""
LATE = "within 3 seconds"
BOTH = template(net=("OS::Neutron::Net", {}), disk=("OS::Cinder::Volume", {"size": 1}))


@pytest.mark.parametrize("world", [TIMEOUT], indirect=True)
async def test_hanging_service_makes_only_its_orphans_unknown(world: World) -> None:
    await world.create("web", BOTH)
    disk = (await world.resources("web"))["disk"]["physical_id"]
    await world.delete("web", retain=["disk"])
    slow(world, NEUTRON)
    reported = {each["type"]: each for each in await world.call("orphan_find")}
    assert (reported["OS::Cinder::Volume"]["status"], reported["OS::Cinder::Volume"]["physical_id"]) == (
        "orphaned",
        disk,
    )
    net = reported["OS::Neutron::Net"]
    assert (net["status"], net["why"]) == ("unknown", "unreadable") and LATE in net["detail"]


@pytest.mark.parametrize("world", [TIMEOUT], indirect=True)
async def test_hanging_service_makes_only_its_objects_unknown(world: World) -> None:
    await world.create("web", BOTH)
    slow(world, NEUTRON)
    preview = await world.call("stack_update_preview", ref=REF, template=BOTH, refresh="all", preflight=False)
    compared = preview["plan"]["compared"]
    assert compared["in_sync"] == 1
    [omitted] = compared["not_compared"]
    assert omitted["path"] == "net" and LATE in str(omitted)
