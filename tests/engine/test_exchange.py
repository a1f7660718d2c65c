"""Values that one stack exports and another imports."""

from __future__ import annotations

from typing import Any

import pytest
from world import World

from stoker.base.errors import StackValidationFailed, TemplateInvalid

HEAD: dict[str, Any] = {"AWSTemplateFormatVersion": "2010-09-09"}


def exporter(value: str, name: str = "shared") -> dict[str, Any]:
    return {
        **HEAD,
        "Resources": {"v": {"Type": "OS::Heat::Value", "Properties": {"value": value}}},
        "Outputs": {"out": {"Value": {"Fn::GetAtt": ["v", "value"]}, "Export": {"Name": name}}},
    }


IMPORTER: dict[str, Any] = {
    **HEAD,
    "Resources": {"v": {"Type": "OS::Heat::Value", "Properties": {"value": {"Fn::ImportValue": "shared"}}}},
    "Outputs": {
        "seen": {"Value": {"Fn::GetAtt": ["v", "value"]}},
        "direct": {"Value": {"Fn::ImportValue": "shared"}},
    },
}


async def test_an_exported_value_reaches_the_stack_that_imports_it(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="shared"):
        await world.create("user", IMPORTER)
    await world.create("source", exporter("one"))
    stack = await world.create("user", IMPORTER)
    assert world.outputs(stack) == {"seen": "one", "direct": "one"}
    await world.update("source", exporter("two"))
    stack = await world.update("user", IMPORTER)
    assert world.outputs(stack) == {"seen": "two", "direct": "two"}


async def test_an_export_in_use_stays(world: World) -> None:
    await world.create("source", exporter("one"))
    await world.create("user", IMPORTER)
    with pytest.raises(StackValidationFailed, match="imported by user"):
        await world.delete("source")
    with pytest.raises(StackValidationFailed, match="imported by user"):
        await world.update("source", exporter("one", "other"))
    await world.delete("user")
    stack = await world.delete("source")
    assert stack["status"] == "COMPLETE"


async def test_two_stacks_cannot_export_one_name(world: World) -> None:
    await world.create("first", exporter("one"))
    with pytest.raises(StackValidationFailed, match="exports shared"):
        await world.create("second", exporter("two"))
    await world.delete("first")
    assert (await world.create("second", exporter("two")))["status"] == "COMPLETE"
