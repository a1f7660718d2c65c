"""Checks before the first change: what is known to fail is found at once, with its places, and nothing is made."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.cloud.credentials import TokenCredential
from stoker.engine.settings import EngineSettings
from stoker.store.tables import resources, stacks
from stoker_foundation.clock import SystemClock
from testing.harness import World

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f one"

EVERYTHING = """
heat_template_version: 2021-04-16
resources:
  net:
    type: OS::Neutron::Net
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: 10.9.0.0/24}
  second:
    type: OS::Neutron::Subnet
    properties:
      network: {get_resource: net}
      cidr: 10.9.0.128/25
  port:
    type: OS::Neutron::Port
    properties: {network: {get_resource: net}}
  servers:
    type: OS::Heat::ResourceGroup
    properties:
      count: 12
      resource_def:
        type: OS::Nova::Server
        properties: {image: cirros, flavor: m1.tiny, networks: [{network: {get_resource: net}}]}
  single:
    type: OS::Nova::Server
    properties:
      image: cirros
      flavor: m1.tiny
      networks: [{port: {get_resource: port}}]
      security_groups: [default]
  volume:
    type: OS::Cinder::Volume
    properties:
      size: 999999
  key:
    type: OS::Nova::KeyPair
    properties:
      name: mine
"""


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def volume(size: int, **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Cinder::Volume", "properties": {"size": size, **properties}}


def server(flavor: Any = "m1.tiny", **properties: Any) -> dict[str, Any]:
    given = {"image": "cirros", "flavor": flavor, "networks": [{"network": "private"}], **properties}
    return {"type": "OS::Nova::Server", "properties": given}


def net() -> dict[str, Any]:
    return {"type": "OS::Neutron::Net"}


def subnet(cidr: str, network: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Neutron::Subnet", "properties": {"network": network, "cidr": cidr, **properties}}


async def found(world: World, body: Any, name: str | None = None) -> list[tuple[str, str]]:
    """The codes and the resources of what the plan of a new stack, or of a change of the stack `name`, has found."""
    if name is None:
        plan = (await world.call("stack_preview", name="new", template=body))["plan"]
    else:
        plan = (await world.call("stack_update_preview", ref={"name": name, "id": None}, template=body))["plan"]
    return [(each["code"], each["path"]) for each in plan["preflight"]["results"]]


async def limit_compute(world: World, **limits: int) -> None:
    await limit(world, "nova", limits)


async def limit_storage(world: World, **limits: int) -> None:
    await limit(world, "cinder", limits)


async def limit(world: World, service: str, limits: Mapping[str, int]) -> None:
    admin = await world.pool.cloud(TokenCredential(world.served.token("admin", "admin")))
    await admin.put(service, f"/os-quota-sets/{world.context.project_id}", {"quota_set": dict(limits)})


async def in_cloud(world: World, method: str, service: str, path: str, body: Any = None) -> Any:
    cloud = await world.engine.services.credentials.of_caller(world.context)
    return (await cloud.request(method, service, path, json=body)).body


# -- all at once -------------------------------------------------------------------------------------------------------


async def test_preflight_finds_all_problems_at_once(world: World) -> None:
    await in_cloud(world, "POST", "nova", "/os-keypairs", {"keypair": {"name": "mine", "public_key": KEY}})
    results = (await world.call("stack_preview", name="big", template=EVERYTHING))["plan"]["preflight"]["results"]
    assert {(each["code"], each["path"], each["verdict"]) for each in results} == {
        ("quota", "servers.9", "fail"),
        ("quota", "volume", "fail"),
        ("cidr-overlap", "second", "fail"),
        ("name-taken", "key", "fail"),
        ("exclusive-properties", "single", "fail"),
    }
    lines = {(each["code"], each["path"]): each["diagnostic"]["position"]["line"] for each in results}
    text = EVERYTHING.splitlines()
    assert text[lines["quota", "servers.9"] - 1].strip() == "servers:"
    assert text[lines["quota", "volume"] - 1].strip() == "size: 999999"
    assert text[lines["cidr-overlap", "second"] - 1].strip() == "cidr: 10.9.0.128/25"
    assert text[lines["name-taken", "key"] - 1].strip() == "name: mine"
    assert text[lines["exclusive-properties", "single"] - 1].strip() == "security_groups: [default]"


async def test_creation_with_preflight_findings_creates_nothing(world: World) -> None:
    stack = await world.create("big", template(one=net(), two=volume(999999)), disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert "two.properties.size" in stack["status_reason"]
    assert "999999 for this change" in stack["status_reason"]
    assert await world.resources("big") == {}


async def test_creation_refuses_what_the_preview_of_nested_stacks_shows(world: World) -> None:
    """The operation checks only those of a nested stack's steps that the checks need, the preview checks all."""
    await in_cloud(world, "POST", "nova", "/os-keypairs", {"keypair": {"name": "mine", "public_key": KEY}})
    word = "resources:\n  word:\n    type: OS::Heat::RandomString\n"
    files = {"inner.yaml": EVERYTHING.replace("resources:\n", word, 1)}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": {"type": "inner.yaml"}}}
    body = template(members=group, alone={"type": "inner.yaml"})
    plan = (await world.call("stack_preview", name="nested", template=body, files=files))["plan"]
    results = plan["preflight"]["results"]
    failed = [each for each in results if each["verdict"] == "fail"]
    assert {each["code"] for each in failed} >= {"quota", "cidr-overlap", "name-taken", "exclusive-properties"}
    assert {each["path"].partition(".")[0] for each in failed} == {"members", "alone"}
    stack = await world.create("nested", body, files=files)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert f"known to fail ({len(failed)})" in stack["status_reason"]
    for each in failed:
        assert each["diagnostic"]["message"] in stack["status_reason"]
    assert await world.resources("nested") == {}


async def test_update_with_preflight_findings_changes_nothing(world: World) -> None:
    await world.create("small", template(one=volume(1)))
    before = await world.resources("small")
    definition = template(one=volume(1, name="renamed"), two=volume(999999))
    assert await found(world, definition, "small") == [("quota", "two")]
    stack = await world.update("small", definition)
    assert (stack["action"], stack["status"]) == ("UPDATE", "FAILED")
    assert await world.resources("small") == before
    again = await world.update("small", template(one=volume(1, name="renamed")))
    assert again["status"] == "COMPLETE"


# -- arithmetic --------------------------------------------------------------------------------------------------------


async def test_replacements_count_beside_the_objects_that_they_replace(world: World) -> None:
    await world.create("pair", template(one=volume(400), two=volume(100)))
    other_zone = volume(400, availability_zone="nova", scheduler_hints={"a": "b"})
    assert await found(world, template(one=other_zone, two=volume(100)), "pair") == []
    await limit_storage(world, gigabytes=800)
    assert await found(world, template(one=other_zone, two=volume(100)), "pair") == [("quota", "one")]


async def test_removed_objects_do_not_free_quota_for_new_ones(world: World) -> None:
    await world.create("old", template(old=volume(600)))
    assert await found(world, template(new=volume(600)), "old") == [("quota", "new")]
    assert (await world.update("old", template(new=volume(600)), preflight=False))["status"] == "FAILED"


async def test_quota_check_counts_growth_only(world: World) -> None:
    await world.create("grows", template(one=volume(600)))
    assert await found(world, template(one=volume(1000)), "grows") == []
    assert await found(world, template(one=volume(1001)), "grows") == [("quota", "one")]


@pytest.mark.parametrize("status", ["IN_PROGRESS", "FAILED"])
async def test_preflight_accepts_objects_of_an_interrupted_creation(world: World, status: str) -> None:
    """The engine died before it recorded the objects, whose resources the update creates or finds."""
    body = template(
        net=net(), subnet=subnet("10.8.0.0/24", {"get_resource": "net"}), key={
            "type": "OS::Nova::KeyPair", "properties": {"name": "mine", "public_key": KEY},
        },
    )  # fmt: skip
    await world.create("web", body)
    with world.database.writing() as connection:
        names = resources.c.name.in_(("subnet", "key"))
        connection.execute(update(resources).where(names).values(status=status, physical_id=None))
        connection.execute(update(stacks).values(status="FAILED"))
    admin = await world.pool.cloud(TokenCredential(world.served.token("admin", "admin")))
    await admin.put("neutron", f"/v2.0/quotas/{world.context.project_id}", {"quota": {"subnet": 2}})
    stack = await world.update("web", body)
    assert stack["status"] == "COMPLETE", stack["status_reason"]


async def test_members_of_a_group_that_are_replaced_a_few_at_a_time_are_not_refused(world: World) -> None:
    await limit_storage(world, gigabytes=50)

    def group(hints: Mapping[str, str]) -> dict[str, Any]:
        policy = {"rolling_update": {"max_batch_size": 1, "min_in_service": 0}}
        definition = {**volume(10, scheduler_hints=hints)}
        return {
            "type": "OS::Heat::ResourceGroup",
            "update_policy": policy,
            "properties": {"count": 4, "resource_def": definition},
        }

    assert (await world.create("group", template(group=group({}))))["status"] == "COMPLETE"
    changed = template(group=group({"a": "b"}))
    assert [code for code, _ in await found(world, changed, "group")] == ["quota-order"]
    assert (await world.update("group", changed))["status"] == "COMPLETE"


async def test_limits_of_one_object_and_of_a_volume_type_are_compared(world: World) -> None:
    await limit_storage(world, per_volume_gigabytes=50, **{"gigabytes_lvmdriver-1": 60, "volumes_lvmdriver-1": 1})
    results = await found(world, template(one=volume(51), two=volume(10, volume_type="lvmdriver-1")))
    assert ("object-limit", "one") in results
    assert ("quota", "two") in results or ("quota", "one") in results


_PRIVATE = [{"network": "private"}]
_MEMBER = {"flavor": "m1.small", "volume_size": 1, "networks": _PRIVATE}
_MARIADB = {"datastore_type": "mariadb", "datastore_version": "10.4.18"}


@pytest.mark.parametrize(
    ("resource", "ports"),
    [
        (("OS::Trove::Cluster", {**_MARIADB, "instances": [_MEMBER] * 3}), 3),
        (("OS::Trove::Instance", {**_MARIADB, "flavor": "m1.small", "size": 1, "networks": _PRIVATE * 2}), 2),
        (("OS::Zun::Container", {"image": "cirros"}), 1),
        (("OS::Zun::Container", {"image": "cirros", "networks": _PRIVATE * 2}), 2),
        (("OS::Octavia::LoadBalancer", {"vip_subnet": "private-subnet"}), 1),
        (("AWS::EC2::Instance", {"ImageId": "cirros", "InstanceType": "m1.tiny"}), 1),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else str(value),
)
async def test_implicit_ports_are_counted(world: World, resource: tuple[str, Any], ports: int) -> None:
    kind, properties = resource
    body = template(it={"type": kind, "properties": properties})
    project, token = world.context.project_id, world.served.token()
    path = f"/network/v2.0/quotas/{project}"

    def used_ports() -> int:
        return int(world.served.call("GET", f"{path}/details.json", None, token).json["quota"]["port"]["used"])

    assert await found(world, body) == []
    await world.until(lambda: used_ports() > 0)  # the network has a port for DHCP soon after the start
    used = used_ports()
    for more, expected in ((ports, []), (ports - 1, [("quota", "it")])):
        world.served.call("PUT", path, {"quota": {"port": used + more}}, token)
        assert await found(world, body) == expected
    assert (await world.create("it", body, preflight=False))["status"] == "FAILED"


async def test_a_flavor_of_the_same_template_counts(world: World) -> None:
    flavor = {"type": "OS::Nova::Flavor", "properties": {"ram": 64, "vcpus": 21, "disk": 1}}
    one = server(flavor={"get_resource": "flavor"}) | {"depends_on": "flavor"}
    body = template(flavor=flavor, one=one)
    assert ("quota", "one") in await found(world, body)


# -- what cannot be asked ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_refused_quota_request_is_a_warning(world: World, status: int) -> None:
    fault = Fault(on="GET /volume/*quota-sets*", do="fail", status=status)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    await world.call("stack_preview", name="first", template=template())
    results = asyncio.ensure_future(found(world, template(one=volume(1), net=net())))
    while not results.done():
        await world.turn()
    assert results.result() == [("unknown", "")]
    plan = await _previewed(world, template(one=volume(1)))
    words = plan["preflight"]["results"][0]["diagnostic"]
    assert words["severity"] == "warning" and "cinder" in words["message"]
    assert (await world.create("made", template(one=volume(1))))["status"] == "COMPLETE"


async def _previewed(world: World, body: Any) -> Any:
    preview = asyncio.ensure_future(world.call("stack_preview", name="new", template=body))
    while not preview.done():
        await world.turn()
    return preview.result()["plan"]


async def test_a_service_that_does_not_answer_in_time_is_a_warning(served: ServedCloud, tmp_path: Path) -> None:
    settings = EngineSettings(validation_seconds=0.5)
    world = await World(tmp_path / "slow.db", served, clock=SystemClock(), settings=settings).start()
    try:
        await world.call("stack_preview", name="first", template=template(one=volume(1)))
        world.in_cloud(lambda: served.cloud.faults.add(Fault(on="GET /volume/*quota-sets*", do="delay", seconds=30.0)))
        assert {code for code, _ in await found(world, template(one=volume(1)))} == {"unknown"}
    finally:
        world.in_cloud(served.cloud.faults.clear)
        await world.stop()


# -- whom it does not concern ------------------------------------------------------------------------------------------


async def test_nothing_is_asked_for_a_change_without_objects_of_services(world: World) -> None:
    value = {"type": "OS::Heat::Value", "properties": {"value": 1}}
    plan = (await world.call("stack_preview", name="n", template=template(value=value)))["plan"]
    assert plan["preflight"] == {"results": [], "requests": 0}


async def test_preflight_request_count_is_independent_of_resources(world: World) -> None:
    counts = []
    for number in (1, 40):
        many = {f"server{index}": server() for index in range(number)}
        await limit_compute(world, instances=100, cores=100)
        plan = (await world.call("stack_preview", name="many", template=template(**many)))["plan"]
        assert plan["preflight"]["results"] == []
        counts.append(plan["preflight"]["requests"])
    assert counts[0] == counts[1] <= 6


@pytest.mark.parametrize("how", ["call", "operator"])
async def test_the_console_can_be_disabled(served: ServedCloud, tmp_path: Path, how: str) -> None:
    options = {"preflight": False} if how == "call" else {}
    world = await World(tmp_path / "off.db", served, settings=EngineSettings(preflight=how == "call")).start()
    preview = await world.call("stack_preview", name="big", template=template(one=volume(999999)), **options)
    assert "preflight" not in preview["plan"]
    stack = await world.create("big", template(one=volume(999999)), **options)
    assert (stack["status"], list(await world.resources("big"))) == ("FAILED", ["one"])
    await world.stop()


async def test_single_preflight_checks_can_be_disabled(served: ServedCloud, tmp_path: Path) -> None:
    settings = EngineSettings(preflight_skipped=("quota",))
    world = await World(tmp_path / "some.db", served, settings=settings).start()
    await limit_storage(world, per_volume_gigabytes=50)
    assert await found(world, template(one=volume(999999))) == [("object-limit", "one")]
    await world.stop()
