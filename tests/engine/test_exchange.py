"""Values that one stack exports and another imports."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import StackValidationFailed, TemplateInvalid
from testing.harness import World

HEAD: dict[str, Any] = {"AWSTemplateFormatVersion": "2010-09-09"}


def exporter(value: str, name: str = "shared") -> dict[str, Any]:
    return {
        **HEAD,
        "Resources": {"v": {"Type": "OS::Heat::Value", "Properties": {"value": value}}},
        "Outputs": {"out": {"Value": {"Fn::GetAtt": ["v", "value"]}, "Export": {"Name": name}}},
    }


def plain(value: str) -> dict[str, Any]:
    """The same with a value that the template says."""
    return {**exporter(""), "Outputs": {"out": {"Value": value, "Export": {"Name": "shared"}}}}


def drawn(length: int) -> dict[str, Any]:
    """The same with a value that is known when it has been made."""
    template = exporter("")
    template["Resources"]["v"] = {"Type": "OS::Heat::RandomString", "Properties": {"length": length}}
    return template


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


async def test_a_value_that_another_stack_imports_is_not_changed(world: World) -> None:
    await world.create("source", plain("one"))
    await world.create("user", IMPORTER)
    with pytest.raises(StackValidationFailed, match="Export shared cannot be updated as it is in use by user"):
        await world.update("source", plain("two"))
    with pytest.raises(StackValidationFailed, match="in use by user"):
        await world.call(
            "change_set_create",
            stack_name="source",
            name="other",
            kind="UPDATE",
            description=None,
            body={"template": plain("two")},
            settings={},
        )
    source = await world.update("source", {**plain("one"), "Description": "Another text"})
    assert (source["status"], world.outputs(source)) == ("COMPLETE", {"out": "one"})


async def test_unused_export_may_be_changed(world: World) -> None:
    await world.create("source", exporter("one"))
    await world.create("user", IMPORTER)
    await world.delete("user")
    assert (await world.update("source", exporter("two")))["status"] == "COMPLETE"
    stack = await world.create("user", IMPORTER)
    assert world.outputs(stack) == {"seen": "two", "direct": "two"}


async def test_changed_export_in_use_fails_before_removals(world: World) -> None:
    await world.create("source", drawn(8))
    user = await world.create("user", IMPORTER)
    before = await world.resources("source")
    source = await world.update("source", drawn(9))
    assert (source["action"], source["status"]) == ("UPDATE", "FAILED")
    assert source["status_reason"] == "Export shared cannot be updated as it is in use by user."
    source = await world.update("source", drawn(8))
    assert (source["action"], source["status"]) == ("UPDATE", "COMPLETE")
    assert (await world.resources("source"))["v"]["physical_id"] == before["v"]["physical_id"]
    assert world.outputs(source) == {"out": world.outputs(user)["direct"]}


async def test_an_update_that_would_change_an_import_is_rolled_back(world: World) -> None:
    await world.create("source", exporter("one"), disable_rollback=False)
    await world.create("user", IMPORTER)
    source = await world.update("source", exporter("two"), disable_rollback=False)
    assert (source["action"], source["status"]) == ("ROLLBACK", "COMPLETE")
    assert world.outputs(source) == {"out": "one"}
    (exported,) = await world.call("export_list")
    assert exported["value"] == "one"


async def test_an_export_in_use_stays(world: World) -> None:
    await world.create("source", exporter("one"))
    await world.create("user", IMPORTER)
    with pytest.raises(StackValidationFailed, match="imported by user"):
        await world.delete("source")
    await world.create("another", IMPORTER)
    with pytest.raises(StackValidationFailed, match=r"\(imported by another, user\)"):
        await world.update("source", exporter("one", "other"))
    await world.delete("another")
    await world.delete("user")
    stack = await world.delete("source")
    assert stack["status"] == "COMPLETE"


async def test_two_stacks_cannot_export_one_name(world: World) -> None:
    await world.create("first", exporter("one"))
    with pytest.raises(StackValidationFailed, match="exports shared"):
        await world.create("second", exporter("two"))
    await world.delete("first")
    assert (await world.create("second", exporter("two")))["status"] == "COMPLETE"
