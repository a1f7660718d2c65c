"""The service in another region reports what is wrong with a stack there, before anything is created."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import TemplateInvalid
from stoker_foundation.clock import SystemClock
from testing.harness import World

REF = {"name": "outer", "id": None}


@dataclass
class OtherRegion:
    """An orchestration service that finds templates without resources invalid; what it was `asked`, and its `url`."""

    asked: list[Any] = field(default_factory=list)
    url: str = ""

    async def validate(self, request: web.Request) -> web.Response:
        self.asked.append(await request.json())
        if "resources:" in self.asked[-1]["template"]:
            return web.json_response({"Description": "", "Parameters": {}})
        return web.json_response({"error": {"message": "there is no section resources"}}, status=400)


@pytest.fixture
async def other() -> AsyncIterator[OtherRegion]:
    region, application = OtherRegion(), web.Application()
    application.router.add_post("/v1/{project}/validate", region.validate)
    async with TestServer(application) as server:
        region.url = str(server.make_url("/v1"))
        yield region


@pytest.fixture
def served(other: OtherRegion) -> Iterator[ServedCloud]:
    endpoints = {"orchestration": f"{other.url}/%(project_id)s"}
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=endpoints)) as served:
        yield served


def template(inner: Any, region: str = "RegionOne") -> dict[str, Any]:
    properties = {"template": inner, "context": {"region_name": region}, "parameters": {"size": 3}}
    return {
        "heat_template_version": "2018-08-31",
        "resources": {"far": {"type": "OS::Heat::Stack", "properties": properties}},
    }


@pytest.mark.parametrize("operation", ["stack_create", "stack_preview"])
async def test_an_unknown_region(world: World, operation: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        await world.call(operation, name="outer", template=template("resources: {}", "DARKHOLE"))
    (found,) = caught.value.diagnostics
    assert found.path == ("resources", "far", "properties")
    assert found.message.startswith("context: the orchestration service of region 'DARKHOLE' cannot be used: ")


@pytest.mark.parametrize("operation", ["stack_create", "stack_preview"])
async def test_template_refused_by_service(world: World, other: OtherRegion, operation: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        await world.call(operation, name="outer", template=template("outputs: {}"), files={"a.txt": "text"})
    (found,) = caught.value.diagnostics
    assert found.message == "template: region 'RegionOne' finds it invalid: there is no section resources"
    assert other.asked == [
        {"template": "outputs: {}", "files": {"a.txt": "text"}, "environment": {"parameters": {"size": 3}}}
    ]


async def test_unknown_values_are_not_checked(world: World, other: OtherRegion) -> None:
    definition = template({"get_attr": ["made", "value"]})
    definition["resources"]["made"] = {"type": "OS::Heat::RandomString"}
    preview = await world.call("stack_preview", name="outer", template=definition)
    assert {resource["name"] for resource in preview["resources"]} == {"far", "made"}
    assert other.asked == []


async def test_update_checks_with_services(world: World, other: OtherRegion) -> None:
    empty = {"heat_template_version": "2018-08-31"}
    stack = await world.create("outer", empty)
    for operation in ("stack_update", "stack_update_preview"):
        with pytest.raises(TemplateInvalid):
            await world.call(operation, ref=REF, template=template("outputs: {}"))
    assert len(other.asked) == 2
    assert (await world.settle(stack["id"]))["action"] == "CREATE"
