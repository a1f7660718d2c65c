"""OS::Cinder::Volume on the emulated cloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import NotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources.cinder.backups import VolumeBackup
from stoker.resources.cinder.volume import Volume
from stoker.resources.cinder.volume_attachment import VolumeAttachment
from stoker.resources.nova.server.server import Server
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench, Resource

MakeBench = Callable[[type[ResourceType]], Bench]


async def shown(cloud: Cloud, volume: Resource) -> dict[str, Any]:
    """The volume as Cinder has it."""
    body: dict[str, Any] = await cloud.get("cinder", f"/volumes/{volume.physical_id}")
    return dict(body["volume"])


async def test_lifecycle_of_a_volume(bench: MakeBench, cloud: Cloud) -> None:
    volumes = bench(Volume)

    volume = await volumes.create({"size": 2, "description": "data", "metadata": {"a": "1"}})

    made = await shown(cloud, volume)
    assert (made["status"], made["size"], made["description"], made["metadata"]) == ("available", 2, "data", {"a": "1"})
    assert made["name"].startswith("web-thing-")
    await volumes.run("check", volume)
    await volumes.delete(volume)
    with pytest.raises(ActionFailed, match="does not exist"):
        await volumes.run("check", volume)


async def test_most_attributes_are_strings(bench: MakeBench) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 2, "name": "disk", "metadata": {"a": "1"}})

    names = ("size", "encrypted", "snapshot_id", "metadata", "metadata_values", "display_name", "attachments_list")
    values = await volumes.attributes(volume, [(name,) for name in names])

    assert [values[name,] for name in names] == ["2", "False", "None", '{"a": "1"}', {"a": "1"}, "disk", []]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "without a size"),
        ({"image": "cirros"}, "without a size"),
        ({"size": 1, "image": "cirros", "snapshot_id": "x"}, "at most one"),
        ({"image": "cirros", "imageRef": "cirros", "size": 1}, "older name"),
    ],
)
async def test_sources_that_cannot_be_combined(bench: MakeBench, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadProperties, match=problem):
        await bench(Volume).finalized(given)


async def test_a_volume_from_an_image(bench: MakeBench) -> None:
    volumes = bench(Volume)

    volume = await volumes.create({"size": 1, "image": "cirros"})

    assert await volumes.attribute(volume, "bootable") == "true"


@pytest.mark.parametrize("given", [{}, {"name": "disk", "volume_type": "lvmdriver-1", "metadata": {"a": "b"}}])
async def test_an_interrupted_creation_is_found(bench: MakeBench, cloud: Cloud, given: dict[str, Any]) -> None:
    volumes = bench(Volume)
    if "volume_type" in given:
        kinds = await cloud.list("cinder", "/types", "volume_types")
        given = {**given, "volume_type": kinds[0]["id"]}

    volume = await volumes.crash_after_create({"size": 1, **given})

    listed = await cloud.list("cinder", "/volumes", "volumes")
    assert [volume.physical_id] == [item["id"] for item in listed]


async def test_a_failed_volume_is_reported_and_replaced(bench: MakeBench, served: ServedCloud) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on="POST /volume/v3/*/volumes", do="error_state", times=1)))
    volumes = bench(Volume)
    volume = volumes.resource()
    volume.properties = await volumes.finalized({"size": 1})

    with pytest.raises(ActionFailed, match="status error") as caught:
        await volumes.run("create", volume)

    assert caught.value.failed.in_error
    assert await volumes.kind.needs_replacement_after_failure(volumes.call(volume, "UPDATE", volume.properties))


async def test_read_only_is_set_after_creation(bench: MakeBench, cloud: Cloud) -> None:
    volumes = bench(Volume)

    volume = await volumes.create({"size": 1, "read_only": True})
    assert (await shown(cloud, volume))["metadata"]["readonly"] == "True"

    await volumes.update(volume, {"size": 1, "read_only": False})
    assert (await shown(cloud, volume))["metadata"]["readonly"] == "False"


async def test_small_changes_are_one_request_each(bench: MakeBench, cloud: Cloud, calls: list[str]) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 1, "metadata": {"a": "1"}})
    calls.clear()

    await volumes.update(volume, {"size": 1, "name": "new", "description": "d", "metadata": {"b": "2"}})

    assert len(calls) == 2
    changed = await shown(cloud, volume)
    assert (changed["name"], changed["description"], changed["metadata"]) == ("new", "d", {"b": "2"})


async def test_extending_and_shrinking(bench: MakeBench, cloud: Cloud) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 1})

    await volumes.update(volume, {"size": 3})
    assert (await shown(cloud, volume))["size"] == 3

    with pytest.raises(NotSupported, match="cannot be decreased"):
        await volumes.update(volume, {"size": 2})


async def test_a_backup_creates_and_restores_a_volume(bench: MakeBench, cloud: Cloud, served: ServedCloud) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 1})
    body = {"backup": {"volume_id": volume.physical_id}}
    backup = (await cloud.post("cinder", "/backups", body))["backup"]["id"]
    volumes.advance(5)

    other = await volumes.create({"size": 1, "backup_id": backup, "name": "copy", "description": "again"}, "other")
    await volumes.update(volume, {"size": 1, "backup_id": backup})

    made = await shown(cloud, other)
    assert (made["name"], made["description"], made["status"]) == ("copy", "again", "available")
    assert (await shown(cloud, volume))["status"] == "available"


async def test_an_interrupted_creation_from_a_backup_is_found(bench: MakeBench, cloud: Cloud) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 1})
    backup = (await cloud.post("cinder", "/backups", {"backup": {"volume_id": volume.physical_id}}))["backup"]["id"]
    volumes.advance(5)

    other = await volumes.crash_after_create({"size": 1, "backup_id": backup}, "other")

    assert other.physical_id not in (None, volume.physical_id)


async def test_deletion_with_snapshot_leaves_a_backup(bench: MakeBench, cloud: Cloud) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 1})

    await volumes.run("snapshot_delete", volume)

    assert await cloud.list("cinder", "/volumes", "volumes") == []
    [backup] = await cloud.list("cinder", "/backups/detail", "backups")
    assert (backup["status"], backup["volume_id"]) == ("available", volume.physical_id)


async def test_deletion_waits_for_a_copy_in_progress(bench: MakeBench, cloud: Cloud) -> None:
    """Cinder deletes neither while one is being copied to the other."""
    volumes, backups = bench(Volume), bench(VolumeBackup)
    volume, copied = await volumes.create({"size": 1}), await volumes.create({"size": 1}, "copied")
    backup = backups.resource()
    made = (await cloud.post("cinder", "/backups", {"backup": {"volume_id": volume.physical_id}}))["backup"]
    await volumes.delete(volume)

    await cloud.post("cinder", f"/backups/{made['id']}/restore", {"restore": {"volume_id": copied.physical_id}})
    backup.physical_id = made["id"]
    await backups.delete(backup)
    await volumes.delete(copied)

    assert await cloud.list("cinder", "/backups", "backups") == []
    assert await cloud.list("cinder", "/volumes", "volumes") == []


@pytest.mark.parametrize("ready", [False, True])
async def test_deletion_waits_for_a_volume_that_is_being_created(
    bench: MakeBench, cloud: Cloud, served: ServedCloud, ready: bool
) -> None:
    """Also one that becomes ready while its status is asked for, after the deletion was refused."""
    volumes = bench(Volume)
    volume = volumes.resource()
    made = (await cloud.post("cinder", "/volumes", {"volume": {"size": 1}}))["volume"]
    volume.physical_id = made["id"]
    if ready:
        volumes.advance(60.0)
        refusal = Fault(on="DELETE /volume/v3/*/volumes/*", do="fail", status=400, times=1)
        served.do(lambda: served.cloud.faults.add(refusal))

    await volumes.delete(volume)

    assert await cloud.list("cinder", "/volumes", "volumes") == []


@pytest.mark.parametrize("busy", [True, False])
async def test_a_backup_that_has_just_begun_is_deleted(bench: MakeBench, cloud: Cloud, busy: bool) -> None:
    volumes, backups = bench(Volume), bench(VolumeBackup)
    volume, backup = await volumes.create({"size": 1}), backups.resource()
    made = (await cloud.post("cinder", "/backups", {"backup": {"volume_id": volume.physical_id}}))["backup"]
    backups.advance(0.0 if busy else 5.0)
    backup.physical_id = made["id"]

    await backups.delete(backup)
    assert await cloud.list("cinder", "/backups", "backups") == []
    await backups.delete(backup)


async def test_a_deletion_in_progress_is_waited_for(bench: MakeBench, cloud: Cloud) -> None:
    volumes = bench(Volume)
    volume = await volumes.create({"size": 1})
    await cloud.delete("cinder", f"/volumes/{volume.physical_id}")

    await volumes.delete(volume)

    assert await cloud.list("cinder", "/volumes", "volumes") == []


@pytest.fixture
async def pair(bench: MakeBench) -> tuple[Resource, Resource]:
    """Two servers."""
    servers = bench(Server)
    given = {"image": "cirros", "flavor": "m1.nano", "networks": [{"network": "private"}]}
    return await servers.create(given, "one"), await servers.create(given, "two")


async def test_attaching_moving_and_detaching(bench: MakeBench, cloud: Cloud, pair: tuple[Resource, Resource]) -> None:
    volume = await bench(Volume).create({"size": 1})
    attachments = bench(VolumeAttachment)
    given = {"instance_uuid": pair[0].physical_id, "volume_id": volume.physical_id}

    attachment = await attachments.create(given)
    assert [row["server_id"] for row in (await shown(cloud, volume))["attachments"]] == [pair[0].physical_id]
    again = await attachments.kind.find(attachments.call(attachment, "CREATE", attachment.properties))
    assert again == attachment.physical_id == volume.physical_id

    await attachments.update(attachment, {**given, "instance_uuid": pair[1].physical_id})
    assert [row["server_id"] for row in (await shown(cloud, volume))["attachments"]] == [pair[1].physical_id]

    await attachments.delete(attachment)
    assert (await shown(cloud, volume))["status"] == "available"


async def test_an_interrupted_attachment_is_found(bench: MakeBench, pair: tuple[Resource, Resource]) -> None:
    volume = await bench(Volume).create({"size": 1})
    given = {"instance_uuid": pair[0].physical_id, "volume_id": volume.physical_id}

    assert (await bench(VolumeAttachment).crash_after_create(given)).physical_id == volume.physical_id


async def test_attachment_given_up_by_nova_fails(
    bench: MakeBench, cloud: Cloud, pair: tuple[Resource, Resource]
) -> None:
    volume = await bench(Volume).create({"size": 1})
    attachments = bench(VolumeAttachment)
    attachment = attachments.resource()
    given = {"instance_uuid": pair[0].physical_id, "volume_id": volume.physical_id}
    attachment.properties, attachment.physical_id = await attachments.finalized(given), volume.physical_id

    with pytest.raises(ActionFailed, match="gave up") as caught:
        await attachments.run("create", attachment)

    assert caught.value.failed.in_error


async def test_changes_of_attached_volume_detach_and_reattach_it(
    bench: MakeBench, cloud: Cloud, pair: tuple[Resource, Resource]
) -> None:
    volumes, attachments = bench(Volume), bench(VolumeAttachment)
    volume = await volumes.create({"size": 1})
    given = {"instance_uuid": pair[0].physical_id, "volume_id": volume.physical_id}
    await attachments.create(given)

    await volumes.update(volume, {"size": 2, "read_only": True})

    changed = await shown(cloud, volume)
    assert (changed["size"], changed["metadata"]["readonly"], changed["status"]) == (2, "True", "in-use")
    assert [row["server_id"] for row in changed["attachments"]] == [pair[0].physical_id]


async def test_crashes_at_every_step_leave_nothing_behind(
    bench: MakeBench, cloud: Cloud, pair: tuple[Resource, Resource]
) -> None:
    volumes, attachments = bench(Volume), bench(VolumeAttachment)
    volume = volumes.resource()
    volume.properties = await volumes.finalized({"size": 1, "read_only": False})
    await run_crashing(volumes, "create", volume)
    attachment = attachments.resource()
    given = {"instance_uuid": pair[0].physical_id, "volume_id": volume.physical_id}
    attachment.properties = await attachments.finalized(given)
    await run_crashing(attachments, "create", attachment)

    await run_crashing(volumes, "update", volume, {"size": 2, "read_only": True})
    changed = await shown(cloud, volume)
    assert (changed["size"], changed["metadata"]["readonly"], changed["status"]) == (2, "True", "in-use")
    await run_crashing(attachments, "update", attachment, {**given, "instance_uuid": pair[1].physical_id})
    assert [row["server_id"] for row in (await shown(cloud, volume))["attachments"]] == [pair[1].physical_id]

    await run_crashing(attachments, "delete", attachment)
    await run_crashing(volumes, "snapshot_delete", volume)
    assert await cloud.list("cinder", "/volumes", "volumes") == []
    assert len(await cloud.list("cinder", "/backups", "backups")) == 1
