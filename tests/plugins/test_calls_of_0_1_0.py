"""A package that was written for 0.1.0, whose type reads all of a call as its own fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from testing.harness import World
from tests.plugins.conftest import Install

GROUPS = {
    "resource": "name uuid type created_at started_at update_policy creation_policy adopted replacement",
    "engine": "child neighbours configs deployments sources unrecorded",
    "report": "announced",
}
"""The fields that have been moved into groups since 0.1.0."""

SOURCE = """
from stoker.plugins.outcome import Done
from stoker.plugins.resource import ResourceType, ScalingNotice
from stoker.schema.property import Attribute, Property, Type

class Former(ResourceType):
    type_name = "Former::Resource"
    local = True
    properties = {"greeting": Property(Type.STRING, "What it says.")}
    attributes = {"contents": Attribute("What the call said.", Type.MAP)}
    update_policy = {"pause": Property(Type.INTEGER, "Seconds.")}

    async def create(self, call):
        neighbour = await call.neighbours.by_name("other")
        call.announced.append(ScalingNotice("start", {}))
        call.data["contents"] = {
            "name": call.name,
            "type": call.type,
            "has_uuid": len(call.uuid) > 30,
            "in_order": call.created_at <= call.started_at <= call.now,
            "policies": [call.update_policy, call.creation_policy],
            "neighbour": neighbour.type,
            "nested": await call.child.template(),
            "config": await call.configs.get("none"),
            "deployment": await call.deployments.get("none"),
            "files": dict(call.sources.files),
            "parameters": call.sources.parameters(),
            "unrecorded": sorted(await call.unrecorded(["1", "2"])),
            "announced": len(call.announced),
            "adopted": [call.adopted, call.replacement],
            "unknown": hasattr(call, "neighbors"),
        }
        return Done(call.uuid)

    async def read_attributes(self, call, keys):
        return {key: call.data["contents"] for key in keys}

TYPES = (Former,)
"""

TEMPLATE = """
heat_template_version: 2021-04-16
parameters:
  who: {type: string, default: world}
resources:
  other:
    type: OS::Heat::Value
    properties: {value: 1}
  former:
    type: Former::Resource
    depends_on: other
    properties: {greeting: hello}
    update_policy: {pause: 3}
outputs:
  contents: {value: {get_attr: [former, contents]}}
"""


async def test_type_reads_the_fields_of_groups_as_its_own_with_warnings(
    install: Install, begin: Callable[[], Awaitable[World]]
) -> None:
    install("former", {"stoker.resources": "former:TYPES"}, SOURCE)
    world = await begin()
    with pytest.warns(DeprecationWarning, match=r"`call\..*` is `call\.") as warned:
        stack = await world.create("formers", TEMPLATE)
    assert (stack["action"], stack["status"]) == ("CREATE", "COMPLETE")
    assert world.outputs(stack)["contents"] == {
        "name": "former",
        "type": "Former::Resource",
        "has_uuid": True,
        "in_order": True,
        "policies": [{"pause": 3}, {}],
        "neighbour": "OS::Heat::Value",
        "nested": None,
        "config": None,
        "deployment": None,
        "files": {},
        "parameters": {"who": "world"},
        "unrecorded": ["1", "2"],
        "announced": 1,
        "adopted": [{}, None],
        "unknown": False,
    }
    expected = {
        f"`call.{name}` is `call.{group}.{name}` since 0.2.0."
        for group, names in GROUPS.items()
        for name in names.split()
    }
    assert {str(each.message) for each in warned} == expected
    assert {each.filename.rsplit("/", 1)[-1] for each in warned} == {"former.py"}
