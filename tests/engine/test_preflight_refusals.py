"""Checks before the first change: changes that a service never makes, and roles that the user does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.cloud.credentials import TokenCredential
from testing.harness import World


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def one(type_name: str, **properties: Any) -> dict[str, Any]:
    return template(one={"type": type_name, "properties": properties})


async def results(world: World, body: Any, name: str | None = None) -> list[dict[str, Any]]:
    """The results for a new stack, or for a change of the stack `name`."""
    if name is None:
        asked = world.call("stack_preview", name="new", template=body)
    else:
        asked = world.call("stack_update_preview", ref={"name": name, "id": None}, template=body)
    found: list[dict[str, Any]] = (await world.ended(asked))["plan"]["preflight"]["results"]
    return found


async def found(world: World, body: Any, name: str | None = None) -> list[tuple[str, str]]:
    return [(each["code"], each["path"]) for each in await results(world, body, name)]


DATABASE = {
    "flavor": "m1.small",
    "datastore_type": "mysql",
    "datastore_version": "8.0.29",
    "networks": [{"network": "private"}],
}
POOL = {"default_prefixlen": 26}


@pytest.mark.parametrize(
    ("kind", "fixed", "before", "after", "place"),
    [
        ("OS::Cinder::Volume", {}, {"size": 3}, {"size": 2}, "size"),
        ("OS::Trove::Instance", DATABASE, {"size": 3}, {"size": 2}, "size"),
        ("OS::Neutron::SubnetPool", POOL, {"prefixes": ["10.70.0.0/16"]}, {"prefixes": ["10.70.0.0/17"]}, "prefixes"),
    ],
)
async def test_unsupported_change_is_refused_before_update(
    world: World, kind: str, fixed: dict[str, Any], before: dict[str, Any], after: dict[str, Any], place: str
) -> None:
    assert (await world.create("small", one(kind, **fixed, **before)))["status"] == "COMPLETE"
    bad = one(kind, **fixed, **after)
    (result,) = await results(world, bad, "small")
    assert (result["code"], result["verdict"], result["path"]) == ("refused-change", "fail", "one")
    assert result["diagnostic"]["path"][-1] == place
    refused = await world.update("small", bad)
    assert refused["status"] == "FAILED" and "Nothing was changed" in refused["status_reason"]
    assert (await world.update("small", bad, preflight=False))["status"] == "FAILED"  # the service does refuse it
    assert await found(world, one(kind, **fixed, **before), "small") == []


async def test_a_volume_that_was_extended_outside_cannot_be_changed_back(world: World) -> None:
    body = one("OS::Cinder::Volume", size=1)
    await world.create("small", body)
    volume = (await world.resources("small"))["one"]["physical_id"]
    cloud = await world.engine.services.credentials.of_caller(world.context)
    await cloud.post("cinder", f"/volumes/{volume}/action", {"os-extend": {"new_size": 2}})
    for _ in range(100):
        await world.turn()
    stack = await world.update("small", body, converge=True)
    assert stack["status"] == "FAILED" and "cannot be decreased from 2 to 1 GiB" in stack["status_reason"]
    assert "Nothing was changed" in stack["status_reason"]
    assert (await world.update("small", one("OS::Cinder::Volume", size=2), converge=True))["status"] == "COMPLETE"


async def test_externally_removed_attachment_is_restored(world: World) -> None:
    """Its ID is that of the volume: the removal of what is gone must not undo what was made in its place."""
    body = template(
        server={
            "type": "OS::Nova::Server",
            "properties": {"image": "cirros", "flavor": "m1.tiny", "networks": [{"allocate_network": "none"}]},
        },
        volume={"type": "OS::Cinder::Volume", "properties": {"size": 1}},
        attachment={
            "type": "OS::Cinder::VolumeAttachment",
            "properties": {"instance_uuid": {"get_resource": "server"}, "volume_id": {"get_resource": "volume"}},
        },
    )
    await world.create("attached", body)
    made = await world.resources("attached")
    path = f"/servers/{made['server']['physical_id']}/os-volume_attachments"
    cloud = await world.engine.services.credentials.of_caller(world.context)
    await cloud.delete("nova", f"{path}/{made['volume']['physical_id']}")
    for _ in range(100):
        await world.turn()
    assert (await cloud.get("nova", path))["volumeAttachments"] == []
    assert (await world.update("attached", body, converge=True))["status"] == "COMPLETE"
    (shown,) = (await cloud.get("nova", path))["volumeAttachments"]
    assert shown["volumeId"] == made["volume"]["physical_id"]


async def test_a_smaller_disk_is_a_warning(world: World) -> None:
    def server(flavor: str) -> dict[str, Any]:
        return one("OS::Nova::Server", image="cirros", flavor=flavor, networks=[{"network": "private"}])

    await world.create("disks", server("m1.medium"))
    assert await found(world, server("m1.small"), "disks") == [("smaller-disk", "one")]
    assert await found(world, server("m1.large"), "disks") == []


# -- roles -------------------------------------------------------------------------------------------------------------


async def as_user(world: World, name: str) -> None:
    """Let the world's requests come from another user."""
    token = world.served.token(name, "demo" if name == "demo" else "admin")
    cloud = await world.pool.cloud(TokenCredential(token))
    world.context = replace(
        world.context,
        token=token,
        user_name=name,
        roles=tuple(cloud.role_names),
        user_id=cloud.user_id or "",
        project_id=cloud.project_id or "",
    )


async def test_types_for_administrators_are_a_warning_for_others(world: World) -> None:
    flavors = template(**{name: {"type": "OS::Nova::Flavor", "properties": {"ram": 1, "vcpus": 1}} for name in "abcde"})
    (result,) = await results(world, flavors)
    assert (result["code"], result["verdict"], result["path"]) == ("roles", "warn", "a")
    assert "a, b, c and 2 more" in result["diagnostic"]["message"] and "member" in result["diagnostic"]["message"]
    await as_user(world, "admin")
    assert await found(world, flavors) == []


async def test_a_role_of_the_load_balancers_is_missing_only_where_the_service_refuses_to_read(world: World) -> None:
    balancer = one("OS::Octavia::LoadBalancer", vip_subnet="private-subnet")
    assert await found(world, balancer) == []  # its policy is not the default one
    fault = Fault(on="GET /load-balancer/*quotas*", do="fail", status=403)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    codes = await found(world, balancer)
    assert ("roles", "one") in codes and ("unknown", "") in codes
    await as_user(world, "admin")
    assert {code for code, _ in await found(world, balancer)} == {"unknown"}


async def test_a_role_of_the_object_store_is_missing_only_where_the_service_refuses_to_read(world: World) -> None:
    container = one("OS::Swift::Container")
    assert await found(world, container) == []  # its operators have other roles than the default ones
    fault = Fault(on="GET /object-store/*", do="fail", status=403)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    (result,) = await results(world, container)
    assert (result["code"], result["verdict"], result["path"]) == ("roles", "warn", "one")
    assert "admin, swiftoperator, reselleradmin" in result["diagnostic"]["message"]
    await as_user(world, "admin")
    assert await found(world, container) == []


async def test_missing_trust_role_is_reported_in_the_plan(world: World) -> None:
    network = one("OS::Neutron::Net")
    world.pool.settings = replace(world.pool.settings, trusts_delegated_roles=("member", "Operator"))
    (result,) = await results(world, network)
    assert (result["code"], result["verdict"]) == ("trust-roles", "fail")
    assert result["diagnostic"]["message"].endswith("does not have: Operator")
    world.pool.settings = replace(world.pool.settings, trusts_delegated_roles=("member",))
    assert await found(world, network) == []
    await world.create("trusted", network)
    world.pool.settings = replace(world.pool.settings, trusts_delegated_roles=("operator",))
    assert await found(world, network) == []  # the trust exists
    assert await found(world, one("OS::Neutron::Net", name="other"), "trusted") == []
