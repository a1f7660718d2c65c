"""Octavia's types on the emulated load-balancer service: created, changed in place, and deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Replace
from stoker.plugins.resource import ResourceType
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.octavia import TYPES
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench, Resource

KINDS = {kind.type_name.removeprefix("OS::Octavia::"): kind for kind in TYPES}
MakeBench = Callable[[type[ResourceType]], Bench]


@pytest.fixture
def bench(admin: Cloud, clock: ManualClock, served: ServedCloud) -> MakeBench:
    """Creates a bench for a type, as the administrator."""
    return lambda kind: Bench(kind, admin, clock, served.advance)


class Scenario:
    """Creates what the tested types need."""

    def __init__(self, bench: MakeBench, cloud: Cloud) -> None:
        self.bench, self.cloud = bench, cloud

    async def make(self, kind: str, properties: dict[str, Any], name: str = "other") -> str:
        return str((await self.bench(KINDS[kind]).create(properties, name)).physical_id)

    async def subnet(self) -> str:
        network = await self.bench(Net).create({}, "net")
        given = {"network": network.physical_id, "cidr": "10.60.0.0/24"}
        return str((await self.bench(Subnet).create(given, "subnet")).physical_id)

    async def balancer(self) -> str:
        return await self.make("LoadBalancer", {"vip_subnet": await self.subnet()}, "balancer")

    async def listener(self, balancer: str, port: int = 80) -> str:
        return await self.make("Listener", {"loadbalancer": balancer, "protocol": "HTTP", "protocol_port": port})

    async def pool(self, **place: str) -> str:
        return await self.make("Pool", {**place, "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"})

    async def life(self, kind: str, first: dict[str, Any], second: dict[str, Any], fields: dict[str, Any]) -> None:
        """Create, update and delete one object; after the update it must have the values `fields`."""
        bench = self.bench(KINDS[kind])
        made = await bench.create(first)
        await bench.update(made, second)
        found = await shown(bench, made)
        assert {name: found[name] for name in fields} == fields
        await bench.delete(made)
        await bench.delete(made)
        with pytest.raises(AssertionError, match="does not exist"):
            await shown(bench, made)


async def shown(bench: Bench, resource: Resource) -> dict[str, Any]:
    kind: Any = bench.kind
    found: dict[str, Any] | None = await kind.show(bench.call(resource, "CHECK", resource.properties))
    assert found is not None, "the object does not exist"
    return found


@pytest.fixture
def rig(bench: MakeBench, admin: Cloud) -> Scenario:
    return Scenario(bench, admin)


async def test_a_load_balancer(rig: Scenario) -> None:
    first = {"vip_subnet": await rig.subnet(), "vip_address": "10.60.0.50"}
    second = {"name": "web", "description": "text", "admin_state_up": False}
    await rig.life("LoadBalancer", first, {**first, **second}, second)
    bench = rig.bench(KINDS["LoadBalancer"])
    made = await bench.create({**first, "vip_address": "10.60.0.51"})
    assert await bench.attribute(made, "vip_address") == "10.60.0.51"
    assert await bench.attribute(made, "pools") == []
    pool = await rig.pool(loadbalancer=str(made.physical_id))
    assert await bench.attribute(made, "pools", 0, "id") == pool


async def test_a_listener(rig: Scenario) -> None:
    balancer = await rig.balancer()
    pool = await rig.pool(loadbalancer=balancer)
    first = {"loadbalancer": balancer, "protocol": "HTTP", "protocol_port": 80}
    second = {"name": "front", "connection_limit": 10, "allowed_cidrs": ["10.0.0.0/8"]}
    body = {**second, "default_pool_id": pool, "loadbalancers": [{"id": balancer}]}
    await rig.life("Listener", first, {**first, **second, "default_pool": pool}, body)


async def test_a_pool_with_members_and_a_monitor(rig: Scenario) -> None:
    listener = await rig.listener(await rig.balancer())
    first = {"listener": listener, "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    cookie = {"type": "APP_COOKIE", "cookie_name": "session"}
    second = {"lb_algorithm": "SOURCE_IP", "session_persistence": cookie}
    await rig.life("Pool", first, {**first, **second}, {"lb_algorithm": "SOURCE_IP", "session_persistence": cookie})
    bench = rig.bench(KINDS["Pool"])
    made = await bench.create(first)
    pool = str(made.physical_id)
    place = {"pool": pool, "address": "10.60.0.9", "protocol_port": 80}
    await rig.life("PoolMember", place, {**place, "weight": 7, "tags": ["a"]}, {"weight": 7, "tags": ["a"]})
    check = {"pool": pool, "type": "HTTP", "delay": 5, "timeout": 3, "max_retries": 2}
    await rig.life("HealthMonitor", check, {**check, "delay": 9, "url_path": "/up"}, {"delay": 9, "url_path": "/up"})
    member = await rig.make("PoolMember", place)
    assert await bench.attribute(made, "healthmonitor_id") is None
    monitor = await rig.make("HealthMonitor", check)
    assert await bench.attribute(made, "members") == [{"id": member}]
    assert await bench.attribute(made, "healthmonitor_id") == monitor
    assert await bench.attribute(made, "listeners") == [{"id": listener}]


async def test_policies_and_rules(rig: Scenario) -> None:
    balancer = await rig.balancer()
    listener, pool = await rig.listener(balancer), await rig.pool(loadbalancer=balancer)
    first = {"listener": listener, "action": "REJECT"}
    second = {"listener": listener, "action": "REDIRECT_TO_POOL", "redirect_pool": pool}
    await rig.life("L7Policy", first, second, {"action": "REDIRECT_TO_POOL", "redirect_pool_id": pool})
    policy = await rig.make("L7Policy", first)
    rule = {"l7policy": policy, "type": "PATH", "compare_type": "STARTS_WITH", "value": "/a"}
    await rig.life("L7Rule", rule, {**rule, "value": "/b", "invert": True}, {"value": "/b", "invert": True})


async def test_a_pending_load_balancer_is_waited_for(rig: Scenario, served: ServedCloud) -> None:
    balancer = await rig.balancer()
    await rig.cloud.put("octavia", f"/lbaas/loadbalancers/{balancer}", {"loadbalancer": {"name": "x"}})
    bench = rig.bench(KINDS["Listener"])
    made = await bench.create({"loadbalancer": balancer, "protocol": "HTTP", "protocol_port": 80})
    assert made.physical_id is not None
    for change in ("update", "delete"):
        await rig.cloud.put("octavia", f"/lbaas/loadbalancers/{balancer}", {"loadbalancer": {"name": change}})
        if change == "update":
            given = {"loadbalancer": balancer, "protocol": "HTTP", "protocol_port": 80, "name": "new"}
            await bench.update(made, given)
            assert (await shown(bench, made))["name"] == "new"
        else:
            await bench.delete(made)


async def test_a_conflict_with_another_cause_is_final(rig: Scenario) -> None:
    balancer = await rig.balancer()
    await rig.listener(balancer)
    bench = rig.bench(KINDS["Listener"])
    with pytest.raises(ActionFailed, match="Another Listener on this Load Balancer is already using"):
        await bench.create({"loadbalancer": balancer, "protocol": "HTTP", "protocol_port": 80})


@pytest.mark.parametrize(
    ("kind", "properties", "why"),
    [
        ("Pool", {}, "listener or loadbalancer must be given"),
        ("Pool", {"session_persistence": {"type": "APP_COOKIE"}}, "cookie_name must be given"),
        ("Pool", {"session_persistence": {"type": "SOURCE_IP", "cookie_name": "a"}}, "cookie_name cannot be given"),
        ("Listener", {"protocol": "TERMINATED_HTTPS", "protocol_port": 443}, "default_tls_container_ref"),
        ("L7Policy", {"action": "REDIRECT_TO_POOL"}, "redirect_pool must be given"),
        ("L7Policy", {"action": "REDIRECT_TO_URL"}, "redirect_url must be given"),
        ("L7Policy", {"action": "REJECT", "redirect_url": "http://a"}, "only be given for action REDIRECT_TO_URL"),
        ("L7Rule", {"type": "COOKIE", "compare_type": "REGEX", "value": "a"}, "key must be given"),
    ],
)
async def test_invalid_properties_are_refused_before_any_request(
    rig: Scenario, kind: str, properties: dict[str, Any], why: str
) -> None:
    type_ = KINDS[kind]()
    assert any(why in problem for problem in type_.validate(properties)), list(type_.validate(properties))


async def test_flavors_availability_zones_and_profiles(rig: Scenario) -> None:
    data = '{"loadbalancer_topology": "SINGLE"}'
    first = {"provider_name": "amphora", "flavor_data": data}
    await rig.life("FlavorProfile", first, {**first, "name": "new", "flavor_data": "{}"}, {"name": "new"})
    profile = await rig.make("FlavorProfile", first)
    flavor = {"flavor_profile": profile}
    changed = {"name": "small", "description": "text", "enabled": False}
    await rig.life("Flavor", flavor, {**flavor, **changed}, {**changed, "flavor_profile_id": profile})
    first = {"provider_name": "amphora", "availability_zone_data": '{"compute_zone": "nova"}'}
    await rig.life("AvailabilityZoneProfile", first, {**first, "name": "new"}, {"name": "new"})
    profile = await rig.make("AvailabilityZoneProfile", first)
    zone = {"availability_zone_profile": profile, "name": "east"}
    await rig.life("AvailabilityZone", zone, {**zone, "enabled": False}, {"enabled": False, "name": "east"})
    bench = rig.bench(KINDS["AvailabilityZone"])
    made = await bench.create(zone)
    assert bench.reference(made) == "east"
    assert await bench.attribute(made, "availability_zone_profile_id") == profile
    assert isinstance(await bench.update(made, {**zone, "name": "west"}), Replace)
    with pytest.raises(CloudError, match="flavor_data"):
        await rig.make("FlavorProfile", {"flavor_data": "no JSON"})


async def test_quotas(rig: Scenario) -> None:
    bench = rig.bench(KINDS["Quota"])
    made = await bench.create({"project": "demo", "pool": 5, "listener": 7})
    await bench.update(made, {"project": "demo", "pool": 6})
    project = made.properties["project"]
    quota = (await rig.cloud.get("octavia", f"/lbaas/quotas/{project}"))["quota"]
    assert (quota["pool"], quota["listener"]) == (6, -1)
    await bench.delete(made)
    assert (await rig.cloud.get("octavia", f"/lbaas/quotas/{project}"))["quota"]["pool"] == -1
    with pytest.raises(BadProperties, match="at least one quota"):
        await bench.create({"project": "demo"})


async def test_an_error_is_reported(rig: Scenario, served: ServedCloud) -> None:
    rule = {"on": "POST /load-balancer/v2.0/lbaas/loadbalancers", "do": "error_state", "times": 1}
    served.call("POST", "/control/faults", rule)
    with pytest.raises(ActionFailed, match="status ERROR"):
        await rig.balancer()
    with pytest.raises(CloudError, match="there is no"):
        await rig.cloud.find("octavia.loadbalancer", "nothing")
