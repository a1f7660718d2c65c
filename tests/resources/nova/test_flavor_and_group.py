"""OS::Nova::Flavor and OS::Nova::ServerGroup on the emulated cloud."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources.nova.flavor import Flavor
from stoker.resources.nova.server_group import ServerGroup
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import Bench

MakeBench = Callable[[type[ResourceType]], Bench]
SIZE = {"ram": 512, "vcpus": 1, "disk": 2, "swap": 128, "ephemeral": 1}


@pytest.fixture
def flavors(admin: Cloud, clock: ManualClock, served: ServedCloud) -> Bench:
    """A bench for flavors, as the administrator."""
    return Bench(Flavor, admin, clock, served.advance)


async def allowed(cloud: Cloud, identifier: str | None) -> set[str]:
    """Projects that may use a flavor."""
    body = await cloud.get("nova", f"/flavors/{identifier}/os-flavor-access")
    return {row["tenant_id"] for row in body["flavor_access"]}


async def test_lifecycle_of_a_flavor(flavors: Bench, admin: Cloud) -> None:
    given = {**SIZE, "name": "f", "flavorid": "77", "extra_specs": {"hw:cpu_policy": "shared"}}

    flavor = await flavors.create(given)

    assert flavor.physical_id == "77"
    assert await flavors.attributes(flavor, [("is_public",), ("extra_specs",)]) == {
        ("is_public",): True,
        ("extra_specs",): {"hw:cpu_policy": "shared"},
    }
    shown = (await admin.get("nova", "/flavors/77"))["flavor"]
    assert (shown["swap"], shown["OS-FLV-EXT-DATA:ephemeral"]) == (128, 1)

    await flavors.update(flavor, {**given, "extra_specs": {"hw:mem_page_size": "large"}})
    assert await flavors.attribute(flavor, "extra_specs") == {"hw:mem_page_size": "large"}
    await flavors.update(flavor, {**given, "extra_specs": None})
    assert await flavors.attribute(flavor, "extra_specs") == {}

    await flavors.delete(flavor)
    await flavors.delete(flavor)


async def test_access_to_a_flavor(flavors: Bench, admin: Cloud) -> None:
    demo = await admin.find("keystone.project", "demo")
    mine = await flavors.create({**SIZE, "is_public": False}, "mine")
    theirs = await flavors.create({**SIZE, "is_public": False, "tenants": ["demo"]}, "theirs")
    assert await allowed(admin, mine.physical_id) == {admin.project_id}
    assert await allowed(admin, theirs.physical_id) == {demo}

    await flavors.update(theirs, {**SIZE, "is_public": False, "tenants": ["admin"]})

    assert await allowed(admin, theirs.physical_id) == {admin.project_id}


@pytest.mark.parametrize("more", [{}, {"name": "f", "is_public": False, "swap": 0}])
async def test_an_interrupted_flavor_is_found(flavors: Bench, more: dict[str, object]) -> None:
    assert (await flavors.crash_after_create({**SIZE, **more})).physical_id is not None


async def test_a_flavor_of_another_size_is_not_taken(flavors: Bench) -> None:
    await flavors.create({**SIZE, "name": "f"})
    other = flavors.resource()
    other.properties = await flavors.finalized({**SIZE, "name": "f", "ram": 1024})

    assert await flavors.kind.find(flavors.call(other, "CREATE", other.properties)) is None


async def test_lifecycle_of_a_server_group(bench: MakeBench, cloud: Cloud) -> None:
    groups = bench(ServerGroup)

    group = await groups.create({"policies": ["anti-affinity"], "rules": {"max_server_per_host": 2.0}})

    shown = await groups.attribute(group, "show")
    assert (shown["policy"], shown["rules"]) == ("anti-affinity", {"max_server_per_host": 2})
    assert shown["name"].startswith("web-thing-")
    call = groups.call(group, "UPDATE", group.properties)
    assert not await groups.kind.needs_replacement_after_failure(call)
    await groups.delete(group)
    assert await groups.kind.needs_replacement_after_failure(call)


async def test_an_interrupted_server_group_is_found(bench: MakeBench) -> None:
    assert (await bench(ServerGroup).crash_after_create({"name": "g"})).physical_id is not None
