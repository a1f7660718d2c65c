"""What clients that were written for Heat rely on: messages, names and forms that its functional tests compare."""

from __future__ import annotations

from typing import Any

from testing.harness import World

REF = {"name": "habits", "id": None}
HOT = {"heat_template_version": "2018-08-31"}


async def test_a_test_resource_fails_as_its_properties_say(world: World) -> None:
    """An update of `fail` alone fails, in place; a check examines the object, not the last action."""

    def template(**properties: Any) -> dict[str, Any]:
        resources = {"res": {"type": "OS::Heat::TestResource", "properties": {"value": "a", **properties}}}
        return {**HOT, "resources": resources, "outputs": {"o": {"value": {"get_attr": ["res", "output"]}}}}

    failed = "Resource UPDATE failed: ValueError: resources.res: Test Resource failed res"
    await world.create("habits", template())
    for change in ({"fail": True}, {"fail": True, "value": "b"}):
        stack = await world.update("habits", template(**change))
        assert (stack["status"], stack["status_reason"]) == ("FAILED", failed)
        shown = await world.call("resource_show", ref=REF, name="res")
        assert (shown["action"], shown["status"], shown["attributes"]["output"]) == ("UPDATE", "FAILED", "a")
        await world.call("stack_action", ref=REF, action="check")
        stack = await world.settle(stack["id"])
        assert (stack["action"], stack["status"]) == ("CHECK", "COMPLETE")
    stack = await world.update("habits", template(value="b"))
    assert (stack["status"], world.outputs(stack)) == ("COMPLETE", {"o": "b"})


ONE = "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::RandomString}}\n"
TWO = f"{ONE[:-2]}, s: {{type: OS::Heat::RandomString}}}}\n"


def group(member: str, **policy: Any) -> dict[str, Any]:
    properties = {"count": 2, "resource_def": {"type": member}}
    return {**HOT, "resources": {"g": {"type": "OS::Heat::ResourceGroup", "properties": properties, **policy}}}


def single(type_name: str) -> dict[str, Any]:
    return {**HOT, "resources": {"x": {"type": type_name}}}


async def test_a_member_may_have_no_resources(world: World) -> None:
    for text in ("heat_template_version: 2018-08-31\nresources:\n", "heat_template_version: 2018-08-31\n"):
        stack = await world.create("habits", group("empty.yaml"), files={"empty.yaml": text})
        assert stack["status"] == "COMPLETE", stack["status_reason"]
        await world.delete("habits")


async def test_a_rolling_update_needs_no_files_and_mappings_of_the_former_type(world: World) -> None:
    """Members that the update has not reached yet keep their type, which the new request does not describe."""
    rolling = {"update_policy": {"rolling_update": {"max_batch_size": 1}}}
    await world.create("habits", group("a.yaml", **rolling), files={"a.yaml": ONE})
    stack = await world.update("habits", group("b.yaml", **rolling), files={"b.yaml": TWO})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    mapped = {"resource_registry": {"My::C": "c.yaml"}}
    stack = await world.update("habits", group("My::C", **rolling), files={"c.yaml": ONE}, environment=mapped)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    stack = await world.update("habits", group("b.yaml", **rolling), files={"b.yaml": TWO})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    listed = await world.listed(REF, nested_depth=2)
    assert sorted(row["name"] for row in listed if row["type"] == "OS::Heat::RandomString") == ["r", "r", "s", "s"]


async def test_a_resource_has_the_type_that_the_template_names(world: World) -> None:
    """Also when another name leads to the same file or type, so that nothing else is updated."""
    for target, files in (("a.yaml", {"a.yaml": ONE}), ("OS::Heat::RandomString", {})):
        await world.create("habits", single("My::A"), files=files, environment={"resource_registry": {"My::A": target}})
        before = (await world.resources("habits"))["x"]
        for name, mapped in (("My::B", {"My::B": target}), (target, {})):
            await world.update("habits", single(name), files=files, environment={"resource_registry": mapped})
            after = (await world.resources("habits"))["x"]
            assert (after["type"], after["physical_id"]) == (name, before["physical_id"])
        await world.delete("habits")


async def test_a_preview_names_the_parent_of_nested_resources(world: World) -> None:
    await world.create("habits", single("a.yaml"), files={"a.yaml": TWO})
    request = {"ref": REF, "template": single("a.yaml"), "files": {"a.yaml": ONE}, "show_nested": True}
    changes = (await world.call("stack_update_preview", **request))["resource_changes"]
    parents = {row["name"]: row["parent_resource"] for rows in changes.values() for row in rows}
    assert parents == {"x": None, "r": "x", "s": "x"}
