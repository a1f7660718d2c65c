"""The list of stacks: filters, tags, order, pages; and resources listed with their details."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import BadValue
from testing.harness import World

HEAD: dict[str, Any] = {"heat_template_version": "2021-04-16"}
GOOD = {**HEAD, "resources": {"v": {"type": "OS::Heat::Value", "properties": {"value": "x"}, "description": "An x"}}}
BAD = {**HEAD, "resources": {"t": {"type": "OS::Heat::TestResource", "properties": {"fail": True}}}}


async def names(world: World, **fields: Any) -> list[str]:
    return [stack["name"] for stack in (await world.call("stack_list", **fields))["stacks"]]


@pytest.fixture
async def three(world: World) -> World:
    """Stacks in three states: CREATE_COMPLETE, UPDATE_COMPLETE, CREATE_FAILED."""
    await world.create("made", GOOD, tags=["blue", "green"])
    await world.create("updated", GOOD, tags=["blue"])
    await world.update("updated", GOOD, tags=["blue"])
    await world.create("failed", BAD, tags=["red"])
    return world


@pytest.mark.parametrize("key", ["status", "stack_status"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["CREATE_COMPLETE"], ["made"]),
        (["UPDATE_COMPLETE"], ["updated"]),
        (["COMPLETE"], ["updated", "made"]),
        (["CREATE_COMPLETE", "CREATE_FAILED"], ["failed", "made"]),
        (["CREATE_IN_PROGRESS"], []),
        (["NONSENSE"], []),
    ],
)
async def test_states(three: World, key: str, values: list[str], expected: list[str]) -> None:
    assert await names(three, filters={key: values}) == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"status": ["COMPLETE"], "action": ["CREATE"]}, ["made"]),
        ({"status": ["COMPLETE"], "stack_status": ["UPDATE_COMPLETE"]}, ["updated"]),
        ({"name": ["made", "failed"], "stack_name": ["failed"]}, ["failed"]),
        ({"disable_rollback": ["true"]}, ["failed", "updated", "made"]),
        ({"disable_rollback": ["false"]}, []),
        ({"timeout_mins": ["5"]}, []),
        ({"username": ["demo"]}, ["failed", "updated", "made"]),
        ({"owner_id": ["nobody"]}, []),
    ],
)
async def test_filters(three: World, filters: dict[str, list[str]], expected: list[str]) -> None:
    assert await names(three, filters=filters) == expected


@pytest.mark.parametrize(("key", "value"), [("disable_rollback", "perhaps"), ("timeout_mins", "long")])
async def test_invalid_stack_filters(world: World, key: str, value: str) -> None:
    with pytest.raises(BadValue, match=key):
        await names(world, filters={key: [value]})


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ({"tags": ["blue"]}, ["updated", "made"]),
        ({"tags": ["blue", "green"]}, ["made"]),
        ({"tags_any": ["green", "red"]}, ["failed", "made"]),
        ({"not_tags": ["blue", "green"]}, ["failed", "updated"]),
        ({"not_tags_any": ["green", "red"]}, ["updated"]),
    ],
)
async def test_tags(three: World, search: dict[str, Any], expected: list[str]) -> None:
    assert await names(three, **search) == expected


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("key", ["stack_name", "stack_status", "creation_time", "updated_time"])
async def test_pages_in_every_order_show_each_stack_once(three: World, key: str, direction: str) -> None:
    whole = await names(three, sort_keys=[key], sort_dir=direction)
    assert sorted(whole) == ["failed", "made", "updated"]
    seen: list[str] = []
    marker = None
    for _ in whole:
        answer = await three.call(
            "stack_list", sort_keys=[key], sort_dir=direction, limit=1, marker=marker, with_count=True
        )
        (stack,) = answer["stacks"]
        assert answer["count"] == 3
        seen.append(stack["name"])
        marker = stack["id"]
    assert seen == whole


async def test_nested_stacks_are_listed_when_asked_for(world: World) -> None:
    group = {"count": 1, "resource_def": {"type": "OS::Heat::Value", "properties": {"value": "x"}}}
    root = await world.create(
        "tree", {**HEAD, "resources": {"group": {"type": "OS::Heat::ResourceGroup", "properties": group}}}
    )
    assert await names(world) == ["tree"]
    assert len(await names(world, show_nested=True)) == 2
    assert [name != "tree" for name in await names(world, filters={"owner_id": [root["id"]]})] == [True]


async def test_resources_with_details(world: World) -> None:
    await world.create("made", GOOD)
    ref = {"name": "made", "id": None}
    (plain,) = await world.listed(ref)
    (detailed,) = await world.listed(ref, with_detail=True)
    assert "attributes" not in plain
    assert (detailed["attributes"], detailed["description"]) == ({"value": "x"}, "An x")
