"""Nested stacks: made, updated and removed with their parent; checked with it; failing on the leaf's path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from testing.harness import World

CHILD = """
heat_template_version: 2021-04-16
parameters:
  word: {type: string}
  fail: {type: boolean, default: false}
resources:
  leaf:
    type: OS::Heat::TestResource
    properties: {value: {get_param: word}, fail: {get_param: fail}}
outputs:
  said: {value: {get_attr: [leaf, output]}}
"""


def parent(name: str = "child.yaml", **properties: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"nested": {"type": name, "properties": properties}},
        "outputs": {"said": {"value": {"get_attr": ["nested", "said"]}}},
    }


def group(count: int, **properties: Any) -> dict[str, Any]:
    definition = {"type": "child.yaml", "properties": {"word": "w%index%", **properties}}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "group": {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": definition}}
        },
        "outputs": {"all": {"value": {"get_attr": ["group", "said"]}}},
    }


FILES = {"child.yaml": CHILD}


async def test_values_pass_through_nested_parameters_and_outputs(world: World) -> None:
    stack = await world.create("tree", parent(word="one"), files=FILES)
    assert world.outputs(stack) == {"said": "one"}
    stack = await world.update("tree", parent(word="two"), files=FILES)
    assert world.outputs(stack) == {"said": "two"}
    listed = await world.call("stack_list", show_nested=True)
    assert len(listed["stacks"]) == 2
    await world.delete("tree")
    assert (await world.call("stack_list", show_nested=True))["stacks"] == []


async def test_a_change_in_the_file_alone_reaches_the_nested_stack(world: World) -> None:
    await world.create("tree", parent(word="one"), files=FILES)
    changed = CHILD.replace("value: {get_param: word}", "value: other")
    stack = await world.update("tree", parent(word="one"), files={"child.yaml": changed})
    assert world.outputs(stack) == {"said": "other"}


async def test_moved_template_file_keeps_nested_stack(world: World) -> None:
    await world.create("tree", parent("file:///a/child.yaml", word="one"), files={"file:///a/child.yaml": CHILD})
    before = await world.resources("tree", 1)
    await world.update("tree", parent("file:///b/child.yaml", word="one"), files={"file:///b/child.yaml": CHILD})
    after = await world.resources("tree", 1)
    assert {name: row["physical_id"] for name, row in after.items()} == {
        name: row["physical_id"] for name, row in before.items()
    }


PLAIN = {"heat_template_version": "2021-04-16", "resources": {"left": {"type": "OS::Heat::RandomString"}}}
PICKY = CHILD.replace("word: {type: string}", "word: {type: string, constraints: [{allowed_values: [never]}]}")
DEEP = """
heat_template_version: 2021-04-16
resources:
  inner: {type: child.yaml, properties: {word: deep}}
  members:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: child.yaml, properties: {word: shallow}}}
"""


@pytest.mark.parametrize(
    ("name", "files", "properties", "made"),
    [
        ("child.yaml", FILES, {"word": "one"}, "COMPLETE"),
        ("child.yaml", FILES, {"word": "one", "fail": True}, "FAILED"),
        ("child.yaml", {"child.yaml": PICKY}, {"word": {"get_attr": ["source", "output"]}}, "FAILED"),
        ("deep.yaml", {"deep.yaml": DEEP, "child.yaml": CHILD}, {}, "COMPLETE"),
    ],
    ids=["made", "made and failed", "never made", "with more below"],
)
async def test_nested_stack_is_deleted_without_its_files(
    world: World, name: str, files: dict[str, str], properties: dict[str, Any], made: str
) -> None:
    """Clients send the files that the new template names, and no others."""
    source = {"type": "OS::Heat::TestResource", "properties": {"value": "some"}}
    definition = {
        "heat_template_version": "2021-04-16",
        "resources": {"source": source, "nested": {"type": name, "properties": properties}},
    }
    assert (await world.create("tree", definition, files=files))["status"] == made

    stack = await world.update("tree", PLAIN)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert set(await world.resources("tree", 5)) == {"left"}
    assert len((await world.call("stack_list", show_nested=True))["stacks"]) == 1


async def test_a_snapshot_is_restored_over_a_nested_stack_that_it_does_not_know(world: World) -> None:
    await world.create("tree", PLAIN)
    taken = await world.call("snapshot_create", ref={"name": "tree", "id": None}, name=None)
    await world.settle(taken["stack_id"])
    await world.update("tree", parent(word="one"), files=FILES)

    await world.call("snapshot_restore", ref={"name": "tree", "id": None}, snapshot_id=taken["id"])

    stack = await world.settle(taken["stack_id"])
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert set(await world.resources("tree", 5)) == {"left"}


async def test_nested_events_name_the_root_stack(world: World) -> None:
    root = await world.create("tree", parent(word="one"), files=FILES)
    nested = next(row["nested_id"] for row in (await world.resources("tree")).values() if row["nested_id"])

    for ref in ({"name": "tree", "id": None}, {"name": None, "id": nested}):
        events = await world.call("event_list", ref=ref, nested_depth=1)
        assert {(event["root_stack_id"], event["root_stack_name"]) for event in events} == {(root["id"], "tree")}
        assert nested in {event["stack_id"] for event in events}


async def test_a_failure_is_reported_on_the_path_of_the_leaf(world: World) -> None:
    stack = await world.create("tree", group(2, fail=True), files=FILES)
    assert stack["status"] == "FAILED"
    assert ": resources.group.resources[" in stack["status_reason"]
    assert "].resources.leaf: " in stack["status_reason"]


async def test_events_of_failures_have_the_path_of_the_leaf(world: World) -> None:
    await world.create("tree", group(1, fail=True), files=FILES)
    events = await world.call("event_list", ref={"name": "tree", "id": None}, nested_depth=2)
    failed = [event for event in events if event["status"] == "FAILED"]
    assert {tuple(event["within"]) for event in failed} == {(), ("group",), ("group", "0")}
    assert {(*event["within"], *event["cause"]) for event in failed} == {("group", "0", "leaf")}
    assert {event["cause"] for event in events if event["status"] != "FAILED"} == {None}

    nested = next(row["nested_id"] for row in (await world.resources("tree")).values() if row["nested_id"])
    below = await world.call("event_list", ref={"name": None, "id": nested}, nested_depth=1)
    assert {tuple(event["within"]) for event in below} == {(), ("0",)}


async def test_group_resize_keeps_other_members(world: World) -> None:
    stack = await world.create("tree", group(2), files=FILES)
    assert world.outputs(stack) == {"all": ["w0", "w1"]}
    before = await world.resources("tree", 2)
    stack = await world.update("tree", group(4), files=FILES)
    assert world.outputs(stack) == {"all": ["w0", "w1", "w2", "w3"]}
    grown = await world.resources("tree", 2)
    assert grown["0"]["physical_id"] == before["0"]["physical_id"]
    stack = await world.update("tree", group(1), files=FILES)
    assert world.outputs(stack) == {"all": ["w0"]}
    await world.delete("tree")


@pytest.mark.parametrize(
    ("properties", "message"), [({}, "word"), ({"word": "x", "fail": "maybe"}, "maybe"), ({"wrod": "x"}, "wrod")]
)
async def test_a_nested_stack_is_checked_with_its_parent(
    world: World, properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(TemplateInvalid, match=message):
        await world.create("tree", parent(**properties), files=FILES)
    assert (await world.call("stack_list"))["stacks"] == []


async def test_a_template_that_nests_itself_is_refused(world: World) -> None:
    endless = parent("endless.yaml")
    with pytest.raises((RequestLimitExceeded, TemplateInvalid)):
        await world.create("tree", endless, files={"endless.yaml": str(endless).replace("'", '"')})


async def test_the_resources_of_the_whole_tree_are_counted(world: World) -> None:
    with pytest.raises(RequestLimitExceeded, match="max_resources_per_stack"):
        await world.create("tree", group(600), files=FILES)


async def test_error_in_nested_output_is_reported(world: World) -> None:
    head = {"heat_template_version": "2021-04-16"}
    inner = {**head, "resources": {}, "outputs": {"wrong": {"value": {"get_param": "nobody"}}}}
    outer = {**head, "resources": {"inner": {"type": "inner.yaml"}}}
    outer["outputs"] = {"shown": {"value": {"get_attr": ["inner", "wrong"]}}}
    stack = await world.create("outer", outer, files={"inner.yaml": json.dumps(inner)})
    (output,) = stack["outputs"]
    assert output["output_value"] is None
    assert output["output_error"] == "Error in inner output wrong: The Parameter (nobody) was not provided."
