"""The check whether the hosts have room for new servers: Placement is asked, if it tells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.cloud.credentials import TokenCredential
from stoker.engine.settings import EngineSettings
from testing.harness import World
from tests.engine.test_preflight import found, limit_compute, template
from tests.engine.test_preflight_refusals import as_user

HOSTS = 4
TIB = 1024 * 1024
HUGE = 3 * TIB
"""MiB of memory of a server of which a host with four TiB has room for one."""


def servers(count: int, flavor: Any = "huge", **more: Any) -> dict[str, Any]:
    networks = [{"allocate_network": "none"}]
    server = {
        "type": "OS::Nova::Server",
        "properties": {"image": "cirros", "flavor": flavor, "networks": networks, **more},
    }
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": server}}
    return template(servers=group)


async def administrator(world: World) -> Any:
    return await world.pool.cloud(TokenCredential(world.served.token("admin", "admin")))


async def make_flavor(world: World, ram: int = HUGE, name: str = "huge", **specs: str) -> None:
    admin = await administrator(world)
    flavor = {"flavor": {"name": name, "ram": ram, "vcpus": 1, "disk": 1}}
    made = (await admin.post("nova", "/flavors", flavor))["flavor"]
    if specs:
        path = f"/flavors/{made['id']}/os-extra_specs"
        await admin.post(
            "nova", path, {"extra_specs": {name.replace("__", ":"): value for name, value in specs.items()}}
        )


async def as_administrator(world: World) -> None:
    """Send requests as the administrator, in the administrator's project, without the usual quotas."""
    await as_user(world, "admin")
    await limit_compute(world, instances=-1, cores=-1, ram=-1)


@pytest.fixture
async def admins(world: World) -> World:
    await as_administrator(world)
    return world


async def test_capacity_warning_is_true(admins: World) -> None:
    await make_flavor(admins)
    assert await found(admins, servers(HOSTS)) == []
    assert await found(admins, servers(HOSTS + 2)) == [("capacity", f"servers.{HOSTS}")]
    assert (await admins.create("full", servers(HOSTS)))["status"] == "COMPLETE"
    assert await found(admins, servers(1)) == [("capacity", "servers.0")]
    made = await admins.create("more", servers(1))
    assert made["status"] == "FAILED"
    assert "No valid host" in made["status_reason"], "a warning refuses nothing; the scheduler decides"


@pytest.mark.parametrize(
    ("specs", "room"),
    [
        ({"trait__HW_CPU_X86_AVX2": "forbidden"}, True),
        ({"trait__HW_CPU_X86_AVX2": "required"}, False),
        ({"resources__CUSTOM_BAREMETAL": "1"}, False),
        ({"resources__MEMORY_MB": "0", "resources__DISK_GB": "0"}, True),
        ({"hw__cpu_policy": "dedicated"}, True),
        ({"resources1__CUSTOM_BAREMETAL": "1"}, True),
    ],
)
async def test_extra_specs_of_the_flavor_count(admins: World, specs: Mapping[str, str], room: bool) -> None:
    await make_flavor(admins, ram=512, **specs)
    assert await found(admins, servers(2)) == ([] if room else [("capacity", "servers.0")])


async def test_only_the_hosts_of_the_availability_zone_count(admins: World) -> None:
    admin = await administrator(admins)
    await make_flavor(admins)
    aggregate = {"aggregate": {"name": "small", "availability_zone": "small"}}
    made = (await admin.post("nova", "/os-aggregates", aggregate))["aggregate"]
    hosts = (await admin.get("nova", "/os-hypervisors"))["hypervisors"]
    member = {"add_host": {"host": hosts[0]["hypervisor_hostname"]}}
    await admin.post("nova", f"/os-aggregates/{made['id']}/action", member)
    assert await found(admins, servers(2)) == []
    inside = servers(2, availability_zone="small")
    assert await found(admins, inside) == [("capacity", "servers.1")]
    assert "No valid host" in (await admins.create("inside", inside))["status_reason"], "the warning is true"
    assert await found(admins, servers(HOSTS - 1, availability_zone="nova")) == [], (
        "no aggregate defines the default zone"
    )
    refused = Fault(on="GET /compute/v2.1/os-aggregates", do="fail", status=403)
    admins.served.cloud.faults.add(refused)
    try:
        assert await found(admins, servers(2, availability_zone="small")) == [], "Nova does not tell"
    finally:
        admins.served.cloud.faults.clear()


async def test_each_kind_of_server_is_asked_for_once(admins: World) -> None:
    await make_flavor(admins, ram=512, name="one")
    await make_flavor(admins, ram=1024, name="two")
    asked: list[str] = []
    admins.pool.transport.observe = lambda service, status: asked.append(service)
    body = servers(5, "one")
    body["resources"]["others"] = servers(5, "two")["resources"]["servers"]
    assert await found(admins, body) == []
    assert asked.count("placement") == 2


async def test_capacity_is_not_reported_without_placement_access(world: World) -> None:
    await make_flavor(world)
    await limit_compute(world, instances=-1, cores=-1, ram=-1)
    assert await found(world, servers(HOSTS + 2)) == []


async def test_unavailable_placement_is_a_warning(admins: World) -> None:
    await make_flavor(admins)
    admins.served.cloud.faults.add(Fault(on="GET /placement/*", do="fail", status=500))
    try:
        assert [code for code, _ in await found(admins, servers(1))] == ["unknown"]
    finally:
        admins.served.cloud.faults.clear()


async def test_capacity_check_can_be_disabled(tmp_path: Path, served: ServedCloud) -> None:
    settings = EngineSettings(preflight_skipped=("capacity",))
    world = await World(tmp_path / "skipping.db", served, settings=settings).start()
    try:
        await as_administrator(world)
        await make_flavor(world)
        assert await found(world, servers(HOSTS + 2)) == []
    finally:
        await world.stop()
