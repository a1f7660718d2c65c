"""OS::Ironic::Port on the emulated bare-metal service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, NotSupported
from stoker.cloud.auth import CloudPool, TokenCredential
from stoker.cloud.session import Cloud
from stoker.cloud.settings import CloudSettings
from stoker.resources.ironic.port import Port
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import ActionFailed, Bench

ADDRESS = "52:54:00:00:00:01"
SWITCH = {"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Ethernet1/7"}
MakeBench = Callable[[Cloud], Bench]


@pytest.fixture
def make_bench(clock: ManualClock, served: ServedCloud) -> MakeBench:
    return lambda cloud: Bench(Port, cloud, clock, served.advance)


@pytest.fixture
async def old_api(served: ServedCloud, clock: ManualClock) -> AsyncIterator[Cloud]:
    """The cloud as an operator sees it who limits the API of the bare-metal service to an old version."""
    settings = CloudSettings(
        auth_url=f"{served.url}/identity",
        username="heat",
        password=served.cloud.password_of("heat"),
        project_name="service",
        max_microversions={"ironic": "1.30"},
    )
    pool = CloudPool(settings, clock)
    yield await pool.cloud(TokenCredential(served.token("admin", "admin")))
    await pool.close()


async def shown(cloud: Cloud, identifier: Any) -> dict[str, Any]:
    found: dict[str, Any] = await cloud.get("ironic", f"/ports/{identifier}")
    return found


async def test_life_of_a_port(make_bench: MakeBench, admin: Cloud) -> None:
    bench = make_bench(admin)
    node = await admin.get("ironic", "/nodes/node-0")
    await admin.request("PUT", "ironic", "/nodes/node-0/maintenance", json={})
    group = await admin.post("ironic", "/portgroups", {"node_uuid": node["uuid"], "name": "bond"})
    made = await bench.create({"node": "node-0", "address": "52:54:00:AB:00:01"})
    assert bench.reference(made) == made.physical_id
    second = {
        "node": "node-0",
        "address": "52:54:00:ab:00:02",
        "portgroup": "bond",
        "local_link_connection": SWITCH,
        "pxe_enabled": False,
        "physical_network": "rack1",
        "extra": {"rack": "7"},
    }
    await bench.update(made, second)
    found = await shown(admin, made.physical_id)
    body = {**second, "node_uuid": node["uuid"], "portgroup_uuid": group["uuid"]}
    assert {name: found[name] for name in body if name in found} == {
        name: value for name, value in body.items() if name not in ("node", "portgroup")
    }
    for name in ("address", "node_uuid", "portgroup_uuid", "local_link_connection", "pxe_enabled", "internal_info"):
        assert await bench.attribute(made, name) == found[name]
    await bench.update(made, {"node": "node-0", "address": "52:54:00:ab:00:02"})
    found = await shown(admin, made.physical_id)
    assert (found["pxe_enabled"], found["portgroup_uuid"], found["extra"]) == (True, None, {})
    await bench.update(made, {"node": "node-1", "address": "52:54:00:ab:00:02"})
    assert (await shown(admin, made.physical_id))["node_uuid"] != node["uuid"]
    await bench.run("adopt", made)
    assert not await bench.kind.needs_replacement_after_failure(bench.call(made, "UPDATE", made.properties))
    await bench.delete(made)
    await bench.delete(made)
    with pytest.raises(ActionFailed, match="no object"):
        await bench.run("adopt", made)
    assert await bench.kind.needs_replacement_after_failure(bench.call(made, "UPDATE", made.properties))


async def test_conflicts_and_permissions(make_bench: MakeBench, admin: Cloud, cloud: Cloud) -> None:
    bench = make_bench(admin)
    await bench.create({"node": "node-0", "address": ADDRESS}, "first")
    with pytest.raises(CloudError, match="already exists") as caught:
        await bench.create({"node": "node-0", "address": ADDRESS}, "second")
    assert caught.value.conflict
    with pytest.raises(CloudError, match="there is no node"):
        await bench.create({"node": "nowhere", "address": "52:54:00:00:00:02"}, "third")
    with pytest.raises(CloudError, match="there is no node"):
        await make_bench(cloud).create({"node": "node-0", "address": "52:54:00:00:00:02"}, "fourth")


async def test_an_interrupted_creation_is_found_by_the_address(make_bench: MakeBench, admin: Cloud) -> None:
    bench = make_bench(admin)
    found = await bench.crash_after_create({"node": "node-0", "address": "52:54:00:AA:00:01", "extra": {"a": "b"}})
    assert (await shown(admin, found.physical_id))["address"] == "52:54:00:aa:00:01"
    bench.advance(600)
    late = bench.resource("late")
    late.properties = await bench.finalized({"node": "node-0", "address": "52:54:00:AA:00:01"})
    assert await bench.kind.find(bench.call(late, "CREATE", late.properties)) is None


async def test_older_api_version(make_bench: MakeBench, old_api: Cloud) -> None:
    bench = make_bench(old_api)
    made = await bench.create({"node": "node-0", "address": ADDRESS, "local_link_connection": SWITCH})
    assert await bench.attribute(made, "physical_network") is None
    for name, value in (("physical_network", "rack1"), ("is_smartnic", True)):
        given = {"node": "node-0", "address": "52:54:00:00:00:02", name: value}
        with pytest.raises(NotSupported, match=f"{name} requires microversion"):
            await bench.create(given, "refused")
        with pytest.raises(NotSupported, match=f"{name} requires microversion"):
            await bench.update(made, given)
