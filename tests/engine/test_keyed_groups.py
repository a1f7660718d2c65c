"""Groups with `for_each`: their members are named by keys, and keep their names whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BudgetExceeded, TemplateInvalid
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, World

TEST = "OS::Heat::TestResource"
TEXT = "%key% is %value%"


def group(for_each: Any, value: Any = TEXT, rolling: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    definition = {"type": TEST, "properties": {"value": value}}
    resource: dict[str, Any] = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"for_each": for_each, "resource_def": definition, **more},
    }
    if rolling is not None:
        resource["update_policy"] = {"rolling_update": rolling}
    shown = {"refs": ["refs"], "map": ["refs_map"], "by": ["attributes", "output"], "blue": ["resource.blue.output"]}
    outputs = {name: {"value": {"get_attr": ["group", *path]}} for name, path in shown.items()}
    return {"heat_template_version": "2021-04-16", "resources": {"group": resource}, "outputs": outputs}


def scaling(for_each: Any, value: Any = TEXT, **more: Any) -> dict[str, Any]:
    body = {"type": TEST, "properties": {"value": value}}
    properties = {"min_size": 1, "max_size": 9, "for_each": for_each, "resource": body, **more}
    up = {
        "auto_scaling_group_id": {"get_resource": "group"},
        "adjustment_type": "change_in_capacity",
        "scaling_adjustment": 1,
    }
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "group": {"type": "OS::Heat::AutoScalingGroup", "properties": properties},
            "up": {"type": "OS::Heat::ScalingPolicy", "properties": up},
            "down": {"type": "OS::Heat::ScalingPolicy", "properties": {**up, "scaling_adjustment": -1}},
        },
        "outputs": {
            "by": {"value": {"get_attr": ["group", "outputs", "output"]}},
            "blue": {"value": {"get_attr": ["group", "resource.blue", "output"]}},
        },
    }


async def members(world: World) -> dict[str, dict[str, Any]]:
    nested = (await world.resources("web"))["group"]["physical_id"]
    return {row["name"]: row for row in await world.listed({"name": None, "id": nested}, with_detail=True)}


async def problems(world: World, template: dict[str, Any]) -> str:
    with pytest.raises(TemplateInvalid) as caught:
        await world.create("web", template)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["OS::Heat::InstanceGroup", "AWS::AutoScaling::AutoScalingGroup"])
async def test_for_each_is_refused_for_unsupported_groups(world: World, kind: str) -> None:
    sizes = {"Size": 2} if kind == "OS::Heat::InstanceGroup" else {"MinSize": 2, "MaxSize": 2}
    properties = {"AvailabilityZones": [], "LaunchConfigurationName": "launch", **sizes, "for_each": ["a", "b"]}
    resources = {"group": {"type": kind, "properties": properties}}
    message = await problems(world, {"heat_template_version": "2021-04-16", "resources": resources})
    assert "unknown property 'for_each'" in message
    assert "OS::Heat::AutoScalingGroup" in message


async def signal(world: World, policy: str) -> dict[str, Any]:
    """Signal a policy; the stack's outputs afterwards."""
    await world.call("resource_signal", ref={"name": "web", "id": None}, name=policy, details=None)
    await world.settle((await world.resources("web"))["group"]["physical_id"])
    found = await world.call("stack_identify", ref={"name": "web", "id": None})
    return world.outputs(await world.settle(found["id"]))


async def test_members_are_named_by_keys(world: World) -> None:
    made = world.outputs(await world.create("web", group({"green": 2, "blue": 1})))
    assert made["by"] == {"green": "green is 2", "blue": "blue is 1"}
    assert made["map"].keys() == {"green", "blue"} and sorted(made["map"].values()) == sorted(made["refs"])
    assert made["blue"] == "blue is 1"
    assert (await members(world)).keys() == {"green", "blue"}


async def test_removing_a_key_removes_its_member_only(world: World) -> None:
    before = world.outputs(await world.create("web", group(["red", "green", "blue"])))
    rows = await members(world)
    after = world.outputs(await world.update("web", group(["white", "blue", "green"])))
    assert after["by"] == {name: f"{name} is {name}" for name in ("white", "blue", "green")}
    now = await members(world)
    assert all(now[name] == rows[name] for name in ("green", "blue"))
    assert after["map"]["blue"] == before["map"]["blue"]


async def test_parts_of_values_are_filled_in_as_they_are(world: World) -> None:
    template = group({"blue": {"n": [4, {"x": True}], "name": "b"}}, "%value.n.0% %value.n.1.x% %value.name% %value.n%")
    assert world.outputs(await world.create("web", template))["blue"] == '4 True b [4, {"x": true}]'
    template["resources"]["group"]["properties"]["resource_def"]["metadata"] = {"all": "%value%", "of": "%key%"}
    await world.update("web", template)
    nested = (await world.resources("web"))["group"]["physical_id"]
    found = await world.call("resource_metadata", ref={"name": None, "id": nested}, name="blue")
    assert found == {"all": {"n": [4, {"x": True}], "name": "b"}, "of": "blue"}


async def test_values_may_depend_on_other_resources(world: World) -> None:
    template = group({"blue": {"of": {"get_attr": ["other", "output"]}}, "red": {"of": "r"}}, "<%value.of%>")
    template["resources"]["other"] = {"type": TEST, "properties": {"value": "later"}}
    assert world.outputs(await world.create("web", template))["by"] == {"blue": "<later>", "red": "<r>"}


async def test_names_come_from_parameters_and_variables_may_have_other_names(world: World) -> None:
    template = group({"get_param": "names"}, "{k} <v> %key%", key_var="{k}", value_var="<v>", index_var="{i}")
    template["parameters"] = {"names": {"type": "comma_delimited_list", "default": "blue,red"}}
    made = world.outputs(await world.create("web", template))
    assert made["by"] == {"blue": "blue blue %key%", "red": "red red %key%"}
    less = world.outputs(await world.update("web", template, parameters={"names": "blue"}))
    assert less["map"] == {"blue": made["map"]["blue"]}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (group(["a"], count=1), "'for_each' excludes 'count'"),
        (group(3), "must be a map from names to values, or a list of names"),
        (group(["a", "a"]), "the name 'a' occurs more than once"),
        (group(["a", 7]), "a member's name must be a string, not 7"),
        (group(["a.b"]), "'a.b' cannot be the name of a member, which consists of 1 to 64 letters"),
        (group({"x" * 65: 1}), "cannot be the name of a member"),
        (group({"a": {"b": 1}}, "%value.c%"), "the value of a has no c"),
        (group(["a"], value_var="vvv"), "value_var"),
        (scaling(["a", "b"], min_size=3), "min_size (3) is more than the number of names in for_each (2)"),
        (scaling(["a", "b"], desired_capacity=3), "desired_capacity (3) is more than the number of names"),
        (scaling({"a": 1}, "%value.c%"), "the value of a has no c"),
    ],
)
async def test_invalid_for_each_is_refused_before_changes(
    world: World, template: dict[str, Any], expected: str
) -> None:
    assert expected in await problems(world, template)


async def test_as_many_members_as_resources_are_allowed(world: World) -> None:
    with pytest.raises(BudgetExceeded, match="5000 members; at most 1000"):
        await world.create("web", group([f"n{number}" for number in range(5000)]))


async def test_null_for_each_uses_count(world: World) -> None:
    made = world.outputs(await world.create("web", group(None, "m%index%", count=2)))
    assert made["by"] == {"0": "m0", "1": "m1"}


async def test_group_changes_from_indexes_to_names(world: World) -> None:
    before = await world.create("web", group(None, "same", count=2))
    after = await world.update("web", group({"blue": 1, "0": 2}, "same"))
    assert list(world.outputs(after)["map"]) == ["blue", "0"]
    assert world.outputs(after)["map"]["0"] == world.outputs(before)["map"]["0"]


async def test_removal_policies_name_keys(world: World) -> None:
    before = world.outputs(await world.create("web", group(["red", "blue"])))
    removal = [{"resource_list": ["red"]}]
    after = world.outputs(await world.update("web", group(["red", "blue"], removal_policies=removal)))
    assert after["map"] == {"blue": before["map"]["blue"]}
    again = group(["red", "blue"], removal_policies=[], removal_policies_mode="update")
    assert world.outputs(await world.update("web", again))["map"].keys() == {"red", "blue"}


# -- batches -----------------------------------------------------------------------------------------------------------


async def batches(world: World, template: dict[str, Any]) -> int:
    """Update, and the number of updates of the nested stack."""
    nested = (await world.resources("web"))["group"]["physical_id"]
    last = (await world.call("event_list", ref={"name": None, "id": nested}))[-1]["id"]
    stack = await world.update("web", template)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    events = await world.call("event_list", ref={"name": None, "id": nested}, marker=last)
    starts = [event for event in events if event["status"] == "IN_PROGRESS"]
    return sum(event["physical_id"] == nested for event in starts)


async def test_only_members_whose_definition_changes_are_in_batches(world: World) -> None:
    rolling = {"max_batch_size": 1, "pause_time": 10}
    names = {"a": 1, "b": 2, "c": 3, "d": 4}
    await world.create("web", group(names, rolling=rolling))
    before = await members(world)
    assert await batches(world, group({**names, "b": 7, "d": 8}, rolling=rolling)) == 2
    now = await members(world)
    assert [name for name in names if now[name] != before[name]] == ["b", "d"]


async def test_members_stay_in_service_without_additional_ones(world: World) -> None:
    rolling = {"max_batch_size": 3, "min_in_service": 2}
    await world.create("web", group(["a", "b", "c"], rolling=rolling))
    assert await batches(world, group(["a", "b", "c"], "new %key%", rolling=rolling)) == 3
    assert (await members(world)).keys() == {"a", "b", "c"}


async def test_a_minimum_that_leaves_no_member_to_change_is_refused(world: World) -> None:
    rolling = {"min_in_service": 2}
    await world.create("web", group(["a", "b"], rolling=rolling))
    stack = await world.update("web", group(["a", "b"], "new", rolling=rolling))
    assert stack["status"] == "FAILED" and "min_in_service (2) leaves none of 2 members" in stack["status_reason"]
    before = await members(world)
    added = await world.update("web", group(["a", "b", "c"], rolling=rolling))
    assert added["status"] == "COMPLETE"
    now = await members(world)
    assert now.keys() == {"a", "b", "c"} and now["a"] == before["a"]


# -- groups that scale -------------------------------------------------------------------------------------------------


async def test_scaling_takes_the_first_free_names_and_removes_the_last(world: World) -> None:
    made = world.outputs(await world.create("web", scaling(["blue", "red", "green"], desired_capacity=1)))
    assert made == {"by": {"blue": "blue is blue"}, "blue": "blue is blue"}
    before = (await members(world))["blue"]
    await signal(world, "up")
    assert (await members(world)).keys() == {"blue", "red"}
    await signal(world, "up")
    assert (await members(world)).keys() == {"blue", "red", "green"}
    await signal(world, "down")
    assert (await members(world)).keys() == {"blue", "red"}
    assert (await members(world))["blue"] == before


async def test_a_name_that_is_listed_no_longer_is_replaced_by_a_free_one(world: World) -> None:
    await world.create("web", scaling(["a", "b", "c", "d"], min_size=3))
    before = await members(world)
    assert before.keys() == {"a", "b", "c"}
    await world.update("web", scaling(["a", "c", "d"], min_size=3))
    now = await members(world)
    assert now.keys() == {"a", "c", "d"} and all(now[name] == before[name] for name in "ac")


# -- any change --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedWorld]:
    with ServedCloud(new_cloud(clock=SystemClock())) as served:
        world = ThreadedWorld(tmp_path_factory.mktemp("keys"), served)
        yield world
        world.stop()


NAMES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)
WANTED = NAMES.flatmap(lambda names: st.fixed_dictionaries({name: st.integers(1, 2) for name in names}))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.permutations("abcdef"), WANTED), min_size=2, max_size=4), st.booleans())
def test_only_members_whose_name_or_value_changes_are_touched(
    beside: ThreadedWorld, states: list[tuple[list[str], dict[str, int]]], in_batches: bool
) -> None:
    """Whatever the order in which names are listed."""
    rolling = {"max_batch_size": 2} if in_batches else None
    former: dict[str, int] | None = None
    rows: dict[str, dict[str, Any]] = {}
    for order, expected in states:
        template = group({name: expected[name] for name in order if name in expected}, rolling=rolling)
        work = beside.world.create if former is None else beside.world.update
        stack = beside.run(work("web", template))
        assert stack["status"] == "COMPLETE", stack["status_reason"]
        now = beside.run(members(beside.world))
        assert now.keys() == expected.keys()
        for name in (former or {}).keys() & expected.keys():
            if former is not None and former[name] == expected[name]:
                assert now[name] == rows[name]
            else:
                assert now[name]["physical_id"] == rows[name]["physical_id"]
        former, rows = expected, now
    beside.run(beside.world.delete("web"))
