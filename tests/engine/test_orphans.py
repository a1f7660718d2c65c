"""Objects that Stoker has made and no resource has: what counts, what is unknown, and how often services are read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, update

from openstack_emulator.core.faults import Fault
from stoker.base.ids import new_id, physical_name
from stoker.store import tables
from testing.harness import World

NET = {"type": "OS::Neutron::Net"}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
ADDRESS = {"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": "public"}}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def make(world: World, name: str) -> str:
    body = {"network": {"name": name}}
    answer = world.served.call("POST", "/network/v2.0/networks", body, world.served.token("demo", "demo"))
    return str(answer.json["network"]["id"])


async def orphans(world: World) -> dict[str, dict[str, Any]]:
    return {str(each["physical_id"]): each for each in await world.call("orphan_find")}


async def test_owned_objects_are_no_orphans(world: World) -> None:
    await world.create("web", template(net=NET, volume=VOLUME))
    make(world, "a-network-of-a-user")
    assert await orphans(world) == {}


async def test_leftover_and_retained_objects_are_found(world: World) -> None:
    await world.create("web", template(net=NET, volume=VOLUME))
    rows = await world.resources("web")
    fault = Fault(on="DELETE /volume/v3/*/volumes/*", do="fail", status=400)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    await world.delete("web", retain=["net"], force=True)
    found = await orphans(world)
    assert found.keys() == {rows["net"]["physical_id"], rows["volume"]["physical_id"]}
    net = found[rows["net"]["physical_id"]]
    assert (net["status"], net["why"], net["type"]) == ("orphaned", "left", "OS::Neutron::Net")
    assert (net["resource"], net["stack_name"]) == ("net", "web")


async def test_a_floating_ip_is_found_by_its_description(world: World) -> None:
    await world.create("web", template(address=ADDRESS))
    address = (await world.resources("web"))["address"]["physical_id"]
    await world.delete("web", retain=["address"])
    found = await orphans(world)
    assert found.keys() == {address} and found[address]["status"] == "orphaned"


async def test_an_object_that_was_made_late_is_found_by_the_mark_of_its_resource(world: World) -> None:
    await world.create("web", template(net=NET))
    uuid = (await world.database.read(lambda c: c.execute(tables.resources.select()).one())).uuid
    late = make(world, physical_name("web", "net", uuid))
    found = await orphans(world)
    assert found.keys() == {late} and (found[late]["status"], found[late]["why"]) == ("orphaned", "second")

    with world.database.engine.begin() as connection:
        connection.execute(update(tables.stacks).values(status="IN_PROGRESS"))
    assert {(each["status"], each["why"]) for each in (await orphans(world)).values()} == {("unknown", "in-progress")}


async def test_similar_name_without_record_is_unknown(world: World) -> None:
    await world.create("web", template(net=NET))
    alike = make(world, physical_name("other", "net", new_id()))
    found = await orphans(world)
    assert found.keys() == {alike} and (found[alike]["status"], found[alike]["why"]) == ("unknown", "unproven")


async def test_object_without_events_is_unknown(world: World) -> None:
    await world.create("web", template(net=NET))
    await world.delete("web", retain=["net"])
    assert [each["status"] for each in (await orphans(world)).values()] == ["orphaned"]
    with world.database.engine.begin() as connection:
        connection.execute(delete(tables.events))
    assert [each["why"] for each in (await orphans(world)).values()] == ["unproven"]


async def test_a_service_that_cannot_be_read_is_unknown_and_each_list_is_read_once(world: World) -> None:
    await world.create("web", template(net=NET))
    writes = world.in_cloud(lambda: len(world.served.cloud.journal.select({})))
    counted = Fault(on="GET /network/v2.0/networks*", do="delay", seconds=0.0)
    world.in_cloud(lambda: world.served.cloud.faults.add(counted))
    assert await orphans(world) == {}
    assert counted.hits == 1 and world.in_cloud(lambda: len(world.served.cloud.journal.select({}))) == writes

    world.in_cloud(lambda: world.served.cloud.faults.remove(counted.id))
    refused = Fault(on="GET /network/v2.0/networks*", do="fail", status=403)
    world.in_cloud(lambda: world.served.cloud.faults.add(refused))
    [unread] = (await orphans(world)).values()
    assert (unread["status"], unread["why"], unread["type"]) == ("unknown", "unreadable", "OS::Neutron::Net")
    assert "fault rule" in unread["detail"]


async def test_a_collection_that_the_service_does_not_offer_has_no_orphans(world: World) -> None:
    lacking = Fault(on="GET /network/v2.0/sfc/*", do="fail", status=404)
    world.in_cloud(lambda: world.served.cloud.faults.add(lacking))
    assert await orphans(world) == {} and lacking.hits

    gone = Fault(on="GET /network/v2.0/*", do="fail", status=404)
    world.in_cloud(lambda: world.served.cloud.faults.add(gone))
    assert {each["why"] for each in await world.call("orphan_find")} == {"unreadable"}
