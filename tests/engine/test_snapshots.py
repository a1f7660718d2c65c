"""Snapshots: what they hold, how they come and go, and how a stack comes back from one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.volume.rules.composition import BlockStorage
from stoker.base.errors import ActionInProgress, NotSupported, RequestLimitExceeded, SnapshotNotFound
from testing.harness import World

CHILD = """
heat_template_version: 2021-04-16
resources:
  disk: {type: OS::Cinder::Volume, properties: {size: 1}}
outputs:
  id: {value: {get_resource: disk}}
"""
FILES = {"child.yaml": CHILD}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


NET = {
    "net": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
    },
}


def server(**properties: Any) -> dict[str, Any]:
    body = {"image": "cirros", "flavor": "m1.tiny", "networks": [{"network": {"get_resource": "net"}}]}
    return {"type": "OS::Nova::Server", "depends_on": "subnet", "properties": {**body, **properties}}


def volume(**properties: Any) -> dict[str, Any]:
    return {"type": "OS::Cinder::Volume", "properties": {"size": 1, **properties}}


def value(text: str) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": text}}


async def take(world: World, name: str, snapshot: str | None = None) -> dict[str, Any]:
    taken = await world.call("snapshot_create", ref=ref(name), name=snapshot)
    stack = await world.call("stack_identify", ref=ref(name))
    await world.settle(stack["id"])
    shown: dict[str, Any] = await world.call("snapshot_show", ref=ref(name), snapshot_id=taken["id"])
    return shown


async def restore(world: World, name: str, snapshot: dict[str, Any]) -> dict[str, Any]:
    await world.call("snapshot_restore", ref=ref(name), snapshot_id=snapshot["id"])
    return await world.settle(snapshot["stack_id"])


async def remove(world: World, name: str, snapshot: dict[str, Any]) -> None:
    await world.call("snapshot_delete", ref=ref(name), snapshot_id=snapshot["id"])
    await world.settle(snapshot["stack_id"])
    while world.engine.runs:
        await world.turn()


def saved(world: World) -> dict[str, list[dict[str, Any]]]:
    """Images made of servers, and backups."""
    served = world.served
    images = served.call("GET", "/image/v2/images", token=served.token()).json["images"]
    backups = served.call("GET", "/volume/v3/backups/detail?all_tenants=1", token=served.token()).json["backups"]
    return {"images": [image for image in images if image.get("image_type") == "snapshot"], "backups": backups}


async def test_a_snapshot_holds_the_document_of_the_stack(world: World) -> None:
    await world.create("one", template(word=value("hello")), tags=["a", "b"])
    snapshot = await take(world, "one", "first")
    assert (snapshot["name"], snapshot["action"], snapshot["status"]) == ("first", "CREATE", "COMPLETE")
    data = snapshot["data"]
    assert data["name"] == "one" and data["tags"] == ["a", "b"]
    assert data["template"]["resources"]["word"]["properties"] == {"value": "hello"}
    assert data["resources"]["word"]["type"] == "OS::Heat::Value"
    stack = await world.call("stack_show", ref=ref("one"))
    assert (stack["action"], stack["status"]) == ("SNAPSHOT", "COMPLETE")
    listed = await world.call("snapshot_list", ref=ref("one"))
    assert [item["id"] for item in listed] == [snapshot["id"]]


async def test_snapshot_copies_server_and_volume_content(world: World) -> None:
    await world.create("full", template(**NET, web=server(), disk=volume()))
    first, second = await take(world, "full"), await take(world, "full")
    copies = saved(world)
    assert len(copies["images"]) == len(copies["backups"]) == 2
    noted = {item["data"]["resources"]["web"]["resource_data"]["snapshot_image_id"] for item in (first, second)}
    assert noted == {image["id"] for image in copies["images"]}
    assert first["data"]["resources"]["disk"]["resource_data"]["backup_id"] in {b["id"] for b in copies["backups"]}
    await remove(world, "full", first)
    with pytest.raises(SnapshotNotFound):
        await world.call("snapshot_show", ref=ref("full"), snapshot_id=first["id"])
    left = saved(world)
    kept = second["data"]["resources"]
    assert [image["id"] for image in left["images"]] == [kept["web"]["resource_data"]["snapshot_image_id"]]
    assert [backup["id"] for backup in left["backups"]] == [kept["disk"]["resource_data"]["backup_id"]]
    stack = await world.delete("full")
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")
    assert saved(world) == {"images": [], "backups": []}


async def test_restoring_brings_back_the_definition_and_the_contents(world: World) -> None:
    await world.create("back", template(**NET, web=server(), word=value("before")))
    before = await world.resources("back")
    snapshot = await take(world, "back")
    await world.update("back", template(**NET, web=server(name="other"), word=value("after"), more=value("new")))
    stack = await restore(world, "back", snapshot)
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    after = await world.resources("back")
    assert set(after) == {"net", "subnet", "web", "word"}
    assert after["web"]["physical_id"] == before["web"]["physical_id"]
    image = snapshot["data"]["resources"]["web"]["resource_data"]["snapshot_image_id"]
    assert _server(world, after["web"])["image"]["id"] == image
    shown = await world.call("stack_template", ref=ref("back"))
    assert shown["resources"]["word"]["properties"] == {"value": "before"}


async def test_a_server_and_its_volume_are_restored_one_after_the_other(world: World) -> None:
    """Both interrupt the attachment, and Nova loses the volume if it is detached while the server is rebuilt."""
    attachment = {
        "type": "OS::Cinder::VolumeAttachment",
        "properties": {"instance_uuid": {"get_resource": "web"}, "volume_id": {"get_resource": "disk"}},
    }
    await world.create("both", template(**NET, web=server(), disk=volume(), attachment=attachment))
    snapshot = await take(world, "both")
    stack = await restore(world, "both", snapshot)
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    resources = await world.resources("both")
    disk = world.served.call(
        "GET", f"/volume/v3/volumes/{resources['disk']['physical_id']}", token=world.served.token("demo", "demo")
    ).json["volume"]
    assert [row["server_id"] for row in disk["attachments"]] == [resources["web"]["physical_id"]]
    assert disk["status"] == "in-use" and _server(world, resources["web"])["status"] == "ACTIVE"
    assert (await world.delete("both"))["status"] == "COMPLETE"


def booted(**properties: Any) -> dict[str, Any]:
    """A server that boots from the volume `disk`."""
    device = {"volume_id": {"get_resource": "disk"}, "boot_index": 0}
    return server(image=None, block_device_mapping_v2=[device], **properties)


async def test_a_volume_that_a_server_boots_from_is_replaced_and_the_plan_says_so(world: World) -> None:
    """Nova does not detach it, and Cinder restores nothing to a volume in use."""
    world.served.call("POST", "/volume/v3/types", {"volume_type": {"name": "fast"}}, token=world.served.token())
    await world.create("boot", template(**NET, web=booted(), disk=volume(image="cirros", volume_type="fast")))
    before = await world.resources("boot")
    snapshot = await take(world, "boot")
    assert [len(copies) for copies in saved(world).values()] == [0, 1]
    preview = await world.call("stack_action_preview", ref=ref("boot"), action="restore", snapshot_id=snapshot["id"])
    steps = [step for step in preview["plan"]["steps"] if step["kind"] != "keep"]
    assert [(step["path"], step["kind"]) for step in steps] == [
        ("disk", "replace"), ("web", "replace"), ("web", "delete"), ("disk", "delete"),
    ]  # fmt: skip
    assert before["web"]["physical_id"] in steps[0]["reasons"][0]["message"]
    stack = await restore(world, "boot", snapshot)
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    after = await world.resources("boot")
    assert all(after[name]["physical_id"] != before[name]["physical_id"] for name in ("web", "disk"))
    path = f"/volume/v3/volumes/{after['disk']['physical_id']}"
    disk = world.served.call("GET", path, token=world.served.token("demo", "demo")).json["volume"]
    assert [row["server_id"] for row in disk["attachments"]] == [after["web"]["physical_id"]]
    assert disk["volume_type"] == "fast" and _restored(world) == 1
    assert (await world.delete("boot"))["status"] == "COMPLETE"
    assert saved(world) == {"images": [], "backups": []}


async def test_a_backup_in_the_template_replaces_a_volume_that_a_server_boots_from(world: World) -> None:
    """Without a snapshot, the volume's update finds out."""
    await world.create("boot", template(**NET, web=booted(), disk=volume(image="cirros")))
    before = await world.resources("boot")
    backup = (await take(world, "boot"))["data"]["resources"]["disk"]["resource_data"]["backup_id"]
    definition = template(**NET, web=booted(), disk=volume(image="cirros", backup_id=backup))
    stack = await world.update("boot", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    after = await world.resources("boot")
    assert all(after[name]["physical_id"] != before[name]["physical_id"] for name in ("web", "disk"))
    stack = await world.update("boot", template(**NET, web=booted(), disk=volume(image="cirros", read_only=True)))
    assert stack["status"] == "FAILED"
    assert f"server {after['web']['physical_id']} boots from the volume" in stack["status_reason"]
    assert (await world.delete("boot"))["status"] == "COMPLETE"


async def test_restored_content_is_kept_by_later_updates(world: World) -> None:
    await world.create("keep", template(**NET, web=server()))
    snapshot = await take(world, "keep")
    await restore(world, "keep", snapshot)
    image = snapshot["data"]["resources"]["web"]["resource_data"]["snapshot_image_id"]
    await world.update("keep", template(**NET, web=server(), word=value("x")))
    assert _server(world, (await world.resources("keep"))["web"])["image"]["id"] == image
    other = world.served.call("GET", "/image/v2/images?name=cirros", token=world.served.token()).json["images"][0]["id"]
    await world.update("keep", template(**NET, web=server(image=other), word=value("x")))
    assert _server(world, (await world.resources("keep"))["web"])["image"]["id"] == other


async def test_a_snapshot_can_be_restored_again_and_brings_the_contents_back_each_time(world: World) -> None:
    await world.create("again", template(disk=volume()))
    snapshot = await take(world, "again")
    for _ in range(2):
        stack = await restore(world, "again", snapshot)
        assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert _restored(world) == 2


async def test_restore_recreates_removed_resource_from_copy(world: World) -> None:
    await world.create("again", template(disk=volume(), word=value("x")))
    snapshot = await take(world, "again")
    await world.update("again", template(word=value("x")))
    stack = await restore(world, "again", snapshot)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert set(await world.resources("again")) == {"disk", "word"}
    assert _restored(world) == 1


async def test_snapshot_includes_nested_stacks(world: World) -> None:
    tree = template(nested={"type": "child.yaml"})
    await world.create("tree", tree, files=FILES)
    snapshot = await take(world, "tree")
    nested = snapshot["data"]["resources"]["nested"]
    assert nested["resources"]["disk"]["resource_data"]["backup_id"] == saved(world)["backups"][0]["id"]
    stack = await restore(world, "tree", snapshot)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert _restored(world) == 1
    await world.update("tree", template(word=value("x")))
    stack = await restore(world, "tree", snapshot)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert _restored(world) == 2
    await world.delete("tree")
    assert saved(world)["backups"] == []


async def test_restore_keeps_snapshot_copies(world: World) -> None:
    await world.create("less", template(disk=volume()))
    snapshot = await take(world, "less")
    kept = saved(world)["backups"]
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": value("x")}}
    for _ in range(2):
        grown = await world.update("less", template(disk=volume(), group=group))
        assert grown["status"] == "COMPLETE", grown["status_reason"]
        stack = await restore(world, "less", snapshot)
        assert stack["status"] == "COMPLETE", stack["status_reason"]
        assert [backup["id"] for backup in saved(world)["backups"]] == [backup["id"] for backup in kept]
    assert _restored(world) == 2


async def test_failed_copy_fails_the_snapshot_only(world: World) -> None:
    await world.create("sad", template(disk=volume(), word=value("x")))
    before = await world.resources("sad")
    cloud = world.served.cloud
    world.in_cloud(lambda: cloud.faults.add(Fault(on="POST /volume/v3/*/backups", do="fail", status=400)))
    failed = await take(world, "sad")
    assert (failed["status"], failed["data"]) == ("FAILED", None)
    with pytest.raises(NotSupported):
        await world.call("snapshot_restore", ref=ref("sad"), snapshot_id=failed["id"])
    stack = await world.update("sad", template(disk=volume(), word=value("y")))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert (await world.resources("sad"))["disk"]["physical_id"] == before["disk"]["physical_id"]
    await remove(world, "sad", failed)
    assert await world.call("snapshot_list", ref=ref("sad")) == []


async def test_refusals(world: World) -> None:
    await world.create("no", template(slow={"type": "OS::Heat::TestResource", "properties": {"value": "x"}}))
    with pytest.raises(SnapshotNotFound):
        await world.call("snapshot_show", ref=ref("no"), snapshot_id="nowhere")
    taken = await world.call("snapshot_create", ref=ref("no"), name=None)
    with pytest.raises(ActionInProgress):
        await world.call("snapshot_create", ref=ref("no"), name=None)
    with pytest.raises(NotSupported, match="still being created"):
        await world.call("snapshot_delete", ref=ref("no"), snapshot_id=taken["id"])
    with pytest.raises(NotSupported, match="complete"):
        await world.call("snapshot_restore", ref=ref("no"), snapshot_id=taken["id"])
    await world.settle(taken["stack_id"])
    await world.create("other", template(word=value("x")))
    with pytest.raises(SnapshotNotFound):
        await world.call("snapshot_show", ref=ref("other"), snapshot_id=taken["id"])
    await world.call("stack_action", ref=ref("no"), action="suspend")
    await world.settle(taken["stack_id"])
    with pytest.raises(NotSupported, match="resume"):
        await world.call("snapshot_create", ref=ref("no"), name=None)


async def test_snapshots_per_stack_are_limited(world: World) -> None:
    world.engine.services.settings = replace(world.engine.services.settings, max_snapshots_per_stack=1)
    await world.create("limit", template(word=value("x")))
    await take(world, "limit")
    with pytest.raises(RequestLimitExceeded, match="max_snapshots_per_stack"):
        await take(world, "limit")
    world.context = replace(world.context, is_admin=True)
    await take(world, "limit")
    assert len(await world.call("snapshot_list", ref=ref("limit"))) == 2


async def test_hidden_values_are_not_shown(world: World) -> None:
    hiding = {
        "heat_template_version": "2021-04-16",
        "parameters": {"word": {"type": "string", "hidden": True}},
        "resources": {"random": {"type": "OS::Heat::RandomString"}, "told": value("x")},
    }
    await world.create("hush", hiding, parameters={"word": "very secret"})
    shown = await take(world, "hush")
    assert shown["data"]["environment"]["parameters"] == {"word": "******"}
    assert shown["data"]["resources"]["random"]["resource_data"] == {"value": "******"}


def _server(world: World, row: dict[str, Any]) -> dict[str, Any]:
    path = f"/compute/v2.1/servers/{row['physical_id']}"
    found: dict[str, Any] = world.served.call("GET", path, token=world.served.token()).json["server"]
    return found


def _restored(world: World) -> int:
    """How many backups have been restored, and volumes been created from one."""
    cloud = world.served.cloud
    sent = world.in_cloud(lambda: cloud.journal.select({"method": "POST", "service": "cinder"}))
    volumes: list[str] = world.in_cloud(lambda: [str(row.content) for row in cloud.of(BlockStorage).volumes.rows])
    restored = sum(1 for entry in sent if entry["path"].endswith("/restore"))
    return restored + sum(1 for content in volumes if content.startswith("backup-"))


async def test_a_restore_that_fails_is_not_rolled_back(world: World) -> None:
    """Rollback was an option of the last update, not of the restore."""
    await world.create("stays", template(**NET, web=server()))
    snapshot = await take(world, "stays")
    await world.update("stays", template(**NET, web=server(name="other")), disable_rollback=False)
    refused = Fault(on="POST /compute/v2.1/servers/*/action", do="fail", status=400, message="This is refused.")
    world.in_cloud(lambda: world.served.cloud.faults.add(refused))
    stack = await restore(world, "stays", snapshot)
    assert (stack["action"], stack["status"]) == ("RESTORE", "FAILED")
    assert "This is refused." in stack["status_reason"]
    world.in_cloud(world.served.cloud.faults.clear)
    stack = await restore(world, "stays", snapshot)
    assert (stack["action"], stack["status"]) == ("RESTORE", "COMPLETE"), stack["status_reason"]
    assert stack["disable_rollback"] is False


async def test_a_new_server_is_created_from_the_template_and_the_plan_says_so(world: World) -> None:
    """What a snapshot restored belongs to the server that was restored; the snapshot may be deleted by then."""
    await world.create("later", template(**NET, web=server(user_data="one")))
    snapshot = await take(world, "later")
    await restore(world, "later", snapshot)
    image = snapshot["data"]["resources"]["web"]["resource_data"]["snapshot_image_id"]

    async def planned(**properties: Any) -> dict[str, Any]:
        definition = template(**NET, web=server(**properties))
        preview = await world.call("stack_update_preview", ref=ref("later"), template=definition)
        return next(step for step in preview["plan"]["steps"] if step["path"] == "web" and step["kind"] != "delete")

    step = await planned(user_data="one")
    assert (step["kind"], [reason["code"] for reason in step["reasons"]]) == ("keep", ["restored"])
    assert "image" in step["reasons"][0]["message"]
    step = await planned(user_data="one", name="other")
    assert (step["kind"], [reason["code"] for reason in step["reasons"]]) == ("update", ["changes", "restored"])
    step = await planned(user_data="two")
    assert step["kind"] == "replace"
    changes = {change["property"]: change for change in step["changes"]}
    assert (changes["image"]["before"], changes["image"]["after"]) == (image, "cirros")
    await world.call("snapshot_delete", ref=ref("later"), snapshot_id=snapshot["id"])
    await world.until(lambda: saved(world)["images"] == [])
    before = await world.resources("later")
    stack = await world.update("later", template(**NET, web=server(user_data="two")))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    after = await world.resources("later")
    assert after["web"]["physical_id"] != before["web"]["physical_id"]
    assert _server(world, after["web"])["image"]["id"] != image
    assert (await planned(user_data="two"))["reasons"] == []


async def test_restore_plan_examines_failed_resources(world: World) -> None:
    """A volume whose update was refused is still usable: it is updated, as the operation does, not replaced."""
    await world.create("failed", template(disk=volume(description="one")))
    refused = Fault(on="PUT /volume/v3/*/volumes/*", do="fail", status=400, message="This is refused.", times=1)
    world.in_cloud(lambda: world.served.cloud.faults.add(refused))
    definition = template(disk=volume(description="two"))
    before = await world.resources("failed")
    stack = await world.update("failed", definition, disable_rollback=True)
    assert stack["status"] == "FAILED"
    preview = await world.call("stack_update_preview", ref=ref("failed"), template=definition)
    assert [step["kind"] for step in preview["plan"]["steps"]] == ["update"]
    stack = await world.update("failed", definition, disable_rollback=True)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert (await world.resources("failed"))["disk"]["physical_id"] == before["disk"]["physical_id"]
