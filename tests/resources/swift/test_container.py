"""OS::Swift::Container on the emulated object store."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from stoker.base.errors import ResourceActionNotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, InProgress
from stoker.resources.swift.container import Container
from tests.resources.resource_harness import ActionFailed, Bench


@pytest.fixture
def containers(bench: Any) -> Bench:
    made: Bench = bench(Container)
    return made


async def head(cloud: Cloud, path: str) -> dict[str, str] | None:
    answer = await cloud.request("HEAD", "swift", path, ok=(404,))
    return None if answer.status == 404 else {key.lower(): value for key, value in answer.headers.items()}


async def test_container_is_created_by_one_request(containers: Bench, cloud: Cloud, calls: list[str]) -> None:
    container = await containers.create(
        {"name": "logs of may", "X-Container-Read": ".r:*", "X-Container-Meta": {"Colour": "blue", "n": 3}}
    )
    assert [call.split()[0] for call in calls] == ["PUT"]
    assert containers.entries == [Done(physical_id="logs of may")]
    assert containers.reference(container) == "logs of may"
    assert containers.reference(containers.resource()) == "None"
    headers = await head(cloud, "/logs%20of%20may")
    assert headers is not None
    assert (headers["x-container-read"], headers["x-container-meta-colour"]) == (".r:*", "blue")
    assert headers["x-container-meta-n"] == "3"


async def test_metadata_of_the_account(containers: Bench, cloud: Cloud) -> None:
    await containers.create({"X-Account-Meta": {"Owner": "us"}})
    headers = await head(cloud, "/")
    assert headers is not None
    assert headers["x-account-meta-owner"] == "us"


async def test_attributes(containers: Bench, cloud: Cloud, calls: list[str]) -> None:
    container = await containers.create({"name": "logs"})
    await cloud.put("swift", "/logs/one", data=b"12345")
    calls.clear()
    root = cloud.endpoint("swift").rstrip("/")
    names = ("DomainName", "RootURL", "WebsiteURL", "ObjectCount", "BytesUsed")
    values = await containers.attributes(container, [(name,) for name in names])
    assert list(values.values()) == ["127.0.0.1", root, f"{root}/logs", "1", "5"]
    assert len(calls) == 1
    assert await containers.attribute(container, "HeadContainer", "x-container-object-count") == "1"
    assert await containers.attribute(container, "show", "x-container-bytes-used") == "5"
    assert await containers.attribute(containers.resource(), "RootURL") is None


async def test_non_empty_container_is_not_deleted(containers: Bench, cloud: Cloud) -> None:
    container = await containers.create({"name": "logs"})
    await cloud.put("swift", "/logs/one", data=b"1")
    with pytest.raises(ResourceActionNotSupported, match="PurgeOnDelete"):
        await containers.delete(container)
    await cloud.delete("swift", "/logs/one")
    await containers.delete(container)
    await containers.delete(container)
    assert await head(cloud, "/logs") is None


async def test_purge_on_delete_deletes_objects(containers: Bench, cloud: Cloud) -> None:
    container = await containers.create({"name": "logs", "PurgeOnDelete": True})
    names = ["a b/c?d#e", "100%", "ü", *(f"n{number}" for number in range(60))]
    for name in names:
        await cloud.put("swift", f"/logs/{quote(name)}", data=b"1")
    await containers.delete(container)
    assert containers.entries == [InProgress(after=0.0), InProgress(after=0.0), Done()]
    assert await head(cloud, "/logs") is None


async def test_checking(containers: Bench, cloud: Cloud) -> None:
    container = await containers.create({"name": "logs"})
    assert await containers.run("check", container) == Done()
    await cloud.delete("swift", "/logs")
    with pytest.raises(ActionFailed, match="does not exist"):
        await containers.run("check", container)


async def test_an_interrupted_creation_is_found(containers: Bench) -> None:
    assert str((await containers.crash_after_create({})).physical_id).startswith("web-thing-")
    assert (await containers.crash_after_create({"name": "logs"})).physical_id == "logs"
    missing = containers.call(containers.resource(), "CREATE", await containers.finalized({"name": "none"}))
    assert await Container().find(missing) is None


async def test_an_existing_container_is_not_taken(containers: Bench, cloud: Cloud) -> None:
    await cloud.put("swift", "/logs")
    containers.advance(600)
    call = containers.call(containers.resource(), "CREATE", await containers.finalized({"name": "logs"}))
    assert await Container().find(call) is None
