"""Software configurations of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from email import message_from_string
from email.message import Message
from typing import Any

import pytest
import yaml

from stoker.base.ids import new_id
from stoker.plugins.resource import ResourceType
from stoker.resources.heat.software.cloud_config import CloudConfig
from stoker.resources.heat.software.multipart_mime import MultipartMime
from stoker.resources.heat.software.software_component import SoftwareComponent
from stoker.resources.heat.software.software_config import SoftwareConfig
from stoker.resources.heat.software.structured_config import StructuredConfig
from tests.resources.resource_harness import BadProperties, Bench


class ConfigsInMemory:
    """See plugins.resource.SoftwareConfigs."""

    def __init__(self) -> None:
        self.stored: dict[str, Mapping[str, Any]] = {}

    async def create(self, identifier: str, body: Mapping[str, Any]) -> None:
        self.stored.setdefault(identifier, body)

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        return self.stored.get(identifier)

    async def delete(self, identifier: str) -> None:
        self.stored.pop(identifier, None)


@pytest.fixture
def configs() -> ConfigsInMemory:
    return ConfigsInMemory()


@pytest.fixture
def make(local: Any, configs: ConfigsInMemory) -> Any:
    def bench(kind: type[ResourceType]) -> Bench:
        made: Bench = local(kind, configs=configs)
        return made

    return bench


async def test_config_lifecycle(make: Any, configs: ConfigsInMemory) -> None:
    bench: Bench = make(SoftwareConfig)
    resource = await bench.create({"config": "echo", "group": "script", "options": {"a": 1}})
    (stored,) = configs.stored.values()
    assert stored["config"] == "echo"
    assert stored["group"] == "script"
    assert stored["options"] == {"a": 1}
    assert stored["name"] == bench.call(resource, "READ", {}).physical_name
    assert bench.reference(resource) == resource.physical_id == next(iter(configs.stored))
    assert await bench.attribute(resource, "config") == "echo"
    await bench.run("create", resource)
    assert len(configs.stored) == 1
    await bench.delete(resource)
    assert configs.stored == {}
    assert await bench.attribute(resource, "config") is None
    await bench.delete(resource)


@pytest.mark.parametrize(
    ("kind", "default", "stored"),
    [
        ("Number", "5", 5),
        ("Boolean", "yes", True),
        ("Json", '{"a": 1}', {"a": 1}),
        ("CommaDelimitedList", "a,b", ["a", "b"]),
        ("Number", "", ""),
    ],
)
async def test_input_default_is_of_its_type(
    make: Any, configs: ConfigsInMemory, kind: str, default: Any, stored: Any
) -> None:
    await make(SoftwareConfig).create({"inputs": [{"name": "a", "type": kind, "default": default}]})
    (body,) = configs.stored.values()
    assert body["inputs"][0]["default"] == stored


async def test_input_default_of_another_type(make: Any) -> None:
    with pytest.raises(BadProperties, match=r"inputs\.0: the default 'x' is not a number"):
        await make(SoftwareConfig).create({"inputs": [{"name": "a", "type": "Number", "default": "x"}]})


async def test_structured_config_keeps_its_shape(make: Any) -> None:
    bench: Bench = make(StructuredConfig)
    resource = await bench.create({"config": {"a": [1, 2]}})
    assert await bench.attribute(resource, "config") == {"a": [1, 2]}
    assert await bench.attribute(resource, "config", "a", 1) == 2


async def test_component(make: Any, configs: ConfigsInMemory) -> None:
    await make(SoftwareComponent).create({"configs": [{"tool": "script", "config": "x"}]})
    (body,) = configs.stored.values()
    assert body["group"] == "component"
    assert body["config"] == {"configs": [{"tool": "script", "config": "x", "actions": ["CREATE", "UPDATE"]}]}


async def test_component_with_an_action_twice(make: Any) -> None:
    with pytest.raises(BadProperties, match="the action 'UPDATE' is in more than one"):
        await make(SoftwareComponent).create({"configs": [{"tool": "a"}, {"tool": "b", "actions": ["UPDATE"]}]})


async def test_cloud_config(make: Any) -> None:
    bench: Bench = make(CloudConfig)
    resource = await bench.create({"cloud_config": {"packages": ["a"], "x": {"y": "é"}}})
    text = await bench.attribute(resource, "config")
    assert text.startswith("#cloud-config\n")
    assert yaml.safe_load(text) == {"packages": ["a"], "x": {"y": "é"}}


async def test_mime_message(make: Any, configs: ConfigsInMemory) -> None:
    script = new_id()
    configs.stored[script] = {"config": "#!/bin/sh\n"}
    missing = new_id()
    bench: Bench = make(MultipartMime)
    inner = await bench.create({"parts": [{"config": "one"}, {"config": "zwö"}]}, "inner")
    resource = await bench.create(
        {
            "parts": [
                {"config": script, "filename": "x-shellscript.sh"},
                {"config": missing, "subtype": "cloud-config"},
                {"config": inner.physical_id, "type": "multipart"},
            ]
        }
    )
    message = message_from_string(await bench.attribute(resource, "config"))
    payload = message.get_payload()
    assert isinstance(payload, list)
    parts = [part for part in payload if isinstance(part, Message)]
    found = [
        (part.get_content_type(), part.get_content_charset(), bytes(part.get_payload(decode=True)).decode())
        for part in parts
    ]
    assert found == [
        ("text/x-shellscript", "us-ascii", "#!/bin/sh\n"),
        ("text/cloud-config", "us-ascii", missing),
        ("text/plain", "us-ascii", "one"),
        ("text/plain", "utf-8", "zwö"),
    ]
    assert parts[0].get_filename() == "x-shellscript.sh"
    assert parts[1].get_filename() is None
