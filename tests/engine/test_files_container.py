"""Files of a template that lie in the object store."""

from __future__ import annotations

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import BadValue, CloudError, DownloadLimitExceeded, NotFound
from stoker.cloud.credentials import TokenCredential
from stoker.cloud.session import Cloud
from testing.harness import World

LIMIT = 100


@pytest.fixture
async def swift(world: World) -> Cloud:
    """The caller's object store, with a container of two files."""
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    await cloud.put("swift", "/files")
    await cloud.put("swift", "/files/child.yaml", data=b"heat_template_version: 2021-04-16\n")
    await cloud.put("swift", "/files/scripts/hello%20you.json", data=b'{"a": "\xc3\xa9"}')
    return cloud


async def test_files_are_unchanged(world: World, swift: Cloud) -> None:
    found = await world.call("container_files", container="files", limit=LIMIT)
    assert found == {"child.yaml": "heat_template_version: 2021-04-16\n", "scripts/hello you.json": '{"a": "é"}'}


async def test_too_large_documents_are_not_fetched(world: World, swift: Cloud) -> None:
    with pytest.raises(DownloadLimitExceeded, match="45 bytes; max_json_body_size allows 44"):
        await world.call("container_files", container="files", limit=44)


async def test_an_unknown_container(world: World) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await world.call("container_files", container="nowhere", limit=LIMIT)


async def test_an_object_store_that_cannot_answer_now(world: World, swift: Cloud) -> None:
    fault = Fault(on="GET /object-store/*", do="fail", status=503)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    with pytest.raises(CloudError) as refused:
        await world.call("container_files", container="files", limit=LIMIT)
    world.in_cloud(world.served.cloud.faults.clear)
    assert refused.value.transient


async def test_non_string_file_is_refused(world: World, swift: Cloud) -> None:
    await swift.put("swift", "/files/picture", data=b"\xff\xfe")
    with pytest.raises(BadValue, match="picture"):
        await world.call("container_files", container="files", limit=LIMIT)


@pytest.mark.parametrize("name", ["", "files/child.yaml"])
async def test_invalid_container_names(world: World, name: str) -> None:
    with pytest.raises(BadValue, match="files_container"):
        await world.call("container_files", container=name, limit=LIMIT)
