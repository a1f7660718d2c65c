"""OS::Glance::WebImage and OS::Glance::Image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Replace
from stoker.plugins.resource import ResourceType
from stoker.resources.glance.image import Image
from stoker.resources.glance.web_image import WebImage
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import BadProperties, Bench, Resource

MakeBench = Callable[[type[ResourceType]], Bench]
GIVEN = {"location": "http://images.example.com/small.qcow2", "disk_format": "qcow2", "container_format": "bare"}


@pytest.fixture
def images(bench: MakeBench) -> Bench:
    """A bench for images."""
    return bench(WebImage)


async def shown(cloud: Cloud, image: Resource) -> dict[str, Any]:
    """The image as Glance has it."""
    body: dict[str, Any] = await cloud.get("glance", f"/v2/images/{image.physical_id}")
    return body


async def test_lifecycle_of_an_image(images: Bench, cloud: Cloud) -> None:
    given = {**GIVEN, "name": "small", "tags": ["a", "b"], "extra_properties": {"one": 1, "two": "2"}, "min_ram": 64}

    image = await images.create({**given, "os_distro": "debian"})

    made = await shown(cloud, image)
    assert (made["status"], made["name"], made["min_ram"]) == ("active", "small", 64)
    assert (made["one"], made["two"], made["os_distro"], sorted(made["tags"])) == ("1", "2", "debian", ["a", "b"])
    assert (await images.attribute(image, "show"))["id"] == image.physical_id

    changed = {"tags": ["b", "c"], "extra_properties": {"two": "zwei", "three/x": "3"}, "protected": True}
    await images.update(image, {**given, **changed})

    after = await shown(cloud, image)
    assert (after["id"], sorted(after["tags"]), after["protected"]) == (made["id"], ["b", "c"], True)
    assert (after["two"], after["three/x"], "one" in after, "os_distro" in after) == ("zwei", "3", False, False)

    with pytest.raises(CloudError, match="protected"):
        await images.delete(image)
    await images.update(image, given)
    await images.delete(image)
    await images.delete(image)


async def test_an_update_of_tags_sends_no_other_request(images: Bench, calls: list[str]) -> None:
    image = await images.create({**GIVEN, "tags": ["a"]})
    calls.clear()

    await images.update(image, {**GIVEN, "tags": ["b"]})

    assert [call.partition(" ")[0] for call in calls] == ["PUT", "DELETE"]


async def test_an_inactive_image(images: Bench, cloud: Cloud, admin: Cloud) -> None:
    images.cloud = admin
    image = await images.create({**GIVEN, "active": False})
    assert (await shown(admin, image))["status"] == "deactivated"

    await images.update(image, GIVEN)
    assert (await shown(admin, image))["status"] == "active"

    await images.update(image, {**GIVEN, "active": False})
    assert (await shown(admin, image))["status"] == "deactivated"


async def test_members(images: Bench, cloud: Cloud, admin: Cloud) -> None:
    given = {**GIVEN, "visibility": "shared"}

    image = await images.create({**given, "members": [admin.project_id]})

    async def members() -> list[str]:
        body = await cloud.get("glance", f"/v2/images/{image.physical_id}/members")
        return [row["member_id"] for row in body["members"]]

    assert await members() == [admin.project_id]
    await images.update(image, {**given, "members": ["p2"]})
    assert await members() == ["p2"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"container_format": "ami"}, "same disk_format"),
        ({"members": ["p"]}, "visibility is shared"),
        ({"kernel_id": "vmlinuz"}, "vmlinuz"),
    ],
)
async def test_values_that_cannot_be_combined(images: Bench, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadProperties, match=problem):
        await images.finalized({**GIVEN, **change})


@pytest.mark.parametrize(
    "more", [{}, {"name": "small"}, {"id": "11111111-2222-3333-4444-555555555555"}], ids=["nameless", "name", "id"]
)
async def test_an_interrupted_creation_is_found(images: Bench, more: dict[str, str]) -> None:
    image = await images.crash_after_create({**GIVEN, **more, "extra_properties": {"a": "b"}})

    assert image.physical_id is not None


async def test_another_image_is_not_taken(images: Bench) -> None:
    await images.create({**GIVEN, "extra_properties": {"a": "b"}})
    other = images.resource()
    other.properties = await images.finalized({**GIVEN, "extra_properties": {"a": "c"}})

    assert await images.kind.find(images.call(other, "CREATE", other.properties)) is None


async def test_crashes_at_every_step(images: Bench, cloud: Cloud, admin: Cloud) -> None:
    images.cloud = admin
    before = {item["id"] for item in await admin.list("glance", "/v2/images", "images")}
    image = images.resource()
    image.properties = await images.finalized({**GIVEN, "active": False, "tags": ["a"]})

    await run_crashing(images, "create", image)

    assert {item["id"] for item in await admin.list("glance", "/v2/images", "images")} - before == {image.physical_id}
    assert (await shown(admin, image))["status"] == "deactivated"


OLDER = {
    **GIVEN,
    "name": "older",
    "is_public": False,
    "tags": ["a"],
    "extra_properties": {"hw_disk_bus": "scsi"},
    "architecture": "x86_64",
    "os_distro": "debian",
    "kernel_id": "11111111-2222-3333-4444-555555555555",
}


async def test_lifecycle_of_an_image_of_the_older_type(bench: MakeBench, cloud: Cloud) -> None:
    images = bench(Image)

    image = await images.create(OLDER)

    made = await shown(cloud, image)
    assert (made["status"], made["name"], made["visibility"]) == ("active", "older", "private")
    assert (made["hw_disk_bus"], made["architecture"], made["os_distro"]) == ("scsi", "x86_64", "debian")
    assert (made["kernel_id"], made["tags"]) == (OLDER["kernel_id"], ["a"])
    assert (await images.attribute(image, "show"))["id"] == image.physical_id

    await images.update(
        image, {**OLDER, "tags": ["b"], "extra_properties": {"hw_disk_bus": "ide"}, "os_distro": "arch"}
    )

    after = await shown(cloud, image)
    assert (after["id"], after["tags"], after["hw_disk_bus"]) == (made["id"], ["b"], "ide")
    assert after["os_distro"] == "arch"
    await images.delete(image)
    assert "older" not in [item["name"] for item in await cloud.list("glance", "/v2/images", "images")]


async def test_an_image_of_the_older_type_is_public_or_private(bench: MakeBench, admin: Cloud) -> None:
    images = bench(Image)
    images.cloud = admin
    image = await images.create({**OLDER, "is_public": True})
    assert (await shown(admin, image))["visibility"] == "public"
    call = images.call(image, "CHECK", image.properties)
    assert await images.kind.observe(call) == {}
    headers = {"Content-Type": "application/openstack-images-v2.1-json-patch"}
    patch = [{"op": "replace", "path": "/visibility", "value": "private"}]
    await admin.request("PATCH", "glance", f"/v2/images/{image.physical_id}", json=patch, headers=headers)
    assert await images.kind.observe(call) == {"is_public": False}


async def test_an_interrupted_creation_of_the_older_type_is_found(bench: MakeBench) -> None:
    image = await bench(Image).crash_after_create(OLDER)

    assert image.physical_id is not None


async def test_a_resource_of_the_older_type_that_has_no_image_gets_one(bench: MakeBench) -> None:
    images = bench(Image)
    image = images.resource()
    image.physical_id, image.data = "11111111-2222-3333-4444-555555555555", {"is_placeholder": "True"}
    image.properties = await images.finalized(OLDER)

    assert isinstance(await images.kind.update(images.call(image, "UPDATE", image.properties)), Replace)
    await images.delete(image)
