"""How often the engine asks again: bounded when a service is busy, not at all when the refusal lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, Unconfirmed
from stoker.cloud.call_slots import LONGEST_PAUSE
from stoker.cloud.credentials import TokenCredential
from stoker.engine.running.retries import LONGEST, Retries
from stoker_foundation.clock import ManualClock
from testing.harness import RARE_HEARTBEATS, World

HOT = {"heat_template_version": "2021-04-16"}


def template(type_name: str, **properties: Any) -> dict[str, Any]:
    return {**HOT, "resources": {"it": {"type": type_name, "properties": properties}}}


async def test_volume_over_quota_fails_at_once_with_service_message(world: World) -> None:
    admin = await world.pool.cloud(TokenCredential(world.served.token("admin", "admin")))
    await admin.put("cinder", f"/os-quota-sets/{world.context.project_id}", {"quota_set": {"volumes": 0}})
    began = world.clock.now()
    stack = await world.create("over", template("OS::Cinder::Volume", size=1), preflight=False)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert "VolumeLimitExceeded" in stack["status_reason"]
    assert "HTTP 413" in stack["status_reason"]
    assert world.clock.now() - began < 30


async def test_a_used_name_is_requested_once(world: World) -> None:
    body = template("OS::Nova::KeyPair", name="mine")
    assert (await world.create("first", body))["status"] == "COMPLETE"
    posts = Fault(on="POST /compute/v2.1/os-keypairs", do="fail", times=0)
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(posts))
    stack = await world.create("second", body, preflight=False)
    assert stack["status"] == "FAILED"
    assert rule.seen == 1


@pytest.fixture
async def patient(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    """An engine that tries again for hours of its manual clock."""
    world = await World(tmp_path / "stoker.db", served, settings=RARE_HEARTBEATS).start()
    yield world
    await world.stop()


async def test_retries_of_busy_service_are_limited_and_logged(patient: World, caplog: pytest.LogCaptureFixture) -> None:
    world = patient
    busy = Fault(on="POST /network/v2.0/networks", do="fail", status=503)
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(busy))
    stack = await world.create("busy", template("OS::Neutron::Net"), timeout_mins=240)
    assert stack["status"] == "FAILED"
    assert "HTTP 503" in stack["status_reason"]
    assert 10 < rule.hits <= CloudError.most_attempts
    lines = [line for line in caplog.messages if "refused attempt" in line]
    assert len(lines) == rule.hits
    assert (
        f"CREATE of it in stack busy: neutron refused attempt 1 of {CloudError.most_attempts}, retrying in" in lines[0]
    )
    assert "giving up" in lines[-1]


def refused(retry_after: float | None = None) -> CloudError:
    return CloudError("nova", 503, "later", transient=True, retry_after=retry_after)


def test_attempts_are_bounded_in_number_and_time() -> None:
    clock = ManualClock()
    retries, pauses = Retries(clock), []
    while (pause := retries.pause_after(refused())) is not None:
        pauses.append(pause)
        clock.advance(pause)
    assert len(pauses) < CloudError.most_attempts
    assert sum(pauses) <= LONGEST
    slow = Retries(clock)
    assert slow.pause_after(refused(retry_after=86400.0)) == LONGEST_PAUSE
    quick = Retries(clock)
    assert (
        sum(quick.pause_after(refused(retry_after=0.001)) is not None for _ in range(1000))
        == CloudError.most_attempts - 1
    )
    doubtful, pauses = Retries(clock), []
    while (pause := doubtful.pause_after(Unconfirmed("nova", "not found"))) is not None:
        pauses.append(pause)
    assert max(pauses) < 11, "the first response of a service that works again decides"
    assert 180 < sum(pauses) < 240
    quick.succeeded()
    assert quick.pause_after(refused()) is not None
    assert quick.pause_after(CloudError("nova", 400, "no")) is None


@pytest.mark.parametrize(("times", "status"), [(8, "COMPLETE"), (None, "FAILED")])
async def test_uncertain_response_is_checked_until_decided(world: World, times: int | None, status: str) -> None:
    await world.create("hidden", template("OS::Neutron::Net"))
    hidden = Fault(on="* /network/v2.0/networks/*", do="fail", status=404, message="The resource could not be found.")
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(replace(hidden, times=times)))
    shown = await world.call("stack_show", ref={"name": "hidden"})
    assert (await world.delete("hidden"))["status"] == status
    events = await world.call("event_list", ref={"name": "hidden", "id": shown["id"]})
    waiting = [event for event in events if "until neutron says whether the object exists" in event["status_reason"]]
    assert [event["status"] for event in waiting] == ["IN_PROGRESS"]
    assert rule.hits <= 2 * Unconfirmed.most_attempts
    if status == "FAILED":
        assert "unknown whether it exists" in events[-1]["status_reason"]


async def test_a_search_that_the_service_refuses_does_not_prevent_the_deletion(world: World) -> None:
    """An engine that does not know whether a creation made an object cannot ask the service for it either."""
    lost = Fault(on="POST /compute/v2.1/os-server-groups", do="act_and_drop", times=1)
    refused_list = Fault(on="GET /compute/v2.1/os-server-groups", do="fail", status=400)
    for fault in (lost, refused_list):
        world.in_cloud(partial(world.served.cloud.faults.add, fault))
    stack = await world.create("lost", template("OS::Nova::ServerGroup", policies=["affinity"]))
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert "HTTP 400" in stack["status_reason"]
    stack = await world.delete("lost")
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")
    events = await world.call("event_list", ref={"name": "lost", "id": stack["id"]})
    assert any("the search was refused" in event["status_reason"] for event in events)


async def test_a_sub_port_with_a_larger_mtu_is_requested_once(world: World) -> None:
    """The conflict of two MTUs lasts, unlike that of a port which is in use."""
    resources: dict[str, Any] = {
        f"{kind}{mtu}": {"type": f"OS::Neutron::{type_name}", "properties": properties}
        for mtu in (1300, 1400)
        for kind, type_name, properties in (
            ("net", "Net", {"value_specs": {"mtu": mtu}}),
            ("port", "Port", {"network": {"get_resource": f"net{mtu}"}}),
        )
    }
    sub_port = {"port": {"get_resource": "port1400"}, "segmentation_type": "vlan", "segmentation_id": 5}
    trunk = {"port": {"get_resource": "port1300"}, "sub_ports": [sub_port]}
    resources["trunk"] = {"type": "OS::Neutron::Trunk", "properties": trunk}
    watched = Fault(on="POST /network/v2.0/trunks", do="fail", times=0)
    rule = world.in_cloud(lambda: world.served.cloud.faults.add(watched))
    stack = await world.create("mtu", {**HOT, "resources": resources})
    assert stack["status"] == "FAILED"
    assert "cannot be greater than MTU 1300 of trunk" in stack["status_reason"]
    assert rule.seen == 1


async def test_a_refused_update_is_rolled_back_without_a_request(world: World) -> None:
    """Nothing has changed, so nothing is sent back, which the service might refuse as well."""
    net = {"type": "OS::Neutron::Net"}
    subnet = {"type": "OS::Neutron::Subnet", "properties": {"network": {"get_resource": "net"}, "cidr": "10.0.0.0/24"}}

    def with_port(address: str) -> dict[str, Any]:
        properties = {"network": {"get_resource": "net"}, "fixed_ips": [{"ip_address": address}], "name": address}
        port = {"type": "OS::Neutron::Port", "depends_on": "subnet", "properties": properties}
        return {**HOT, "resources": {"net": net, "subnet": subnet, "port": port}}

    await world.create("back", with_port("10.0.0.9"))
    updates = world.in_cloud(
        lambda: world.served.cloud.faults.add(Fault(on="PUT /network/v2.0/ports/*", do="fail", times=0))
    )
    stack = await world.update("back", with_port("99.0.0.9"), disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE"), stack["status_reason"]
    assert updates.seen == 1
    stack = await world.update("back", with_port("10.0.0.8"))
    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE"), stack["status_reason"]
    assert updates.seen == 2
