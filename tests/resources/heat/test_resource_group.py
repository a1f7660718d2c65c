"""OS::Heat::ResourceGroup"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stoker.plugins.resource import Call, ResourceType
from stoker.resources.heat.groups.resource_group import ResourceGroup, member_definition
from stoker.schema.property import Finalizer
from stoker.schema.unknown import Unknown
from tests.resources.heat.nested_support import CHILD_ID, ChildInMemory
from tests.resources.resource_harness import ActionFailed, Bench, Resource


def of(value: Any = "v%index%", **rest: Any) -> dict[str, Any]:
    return {"resource_def": {"type": "OS::Heat::Value", "properties": {"value": value}}, **rest}


class GroupBench(Bench):
    """A bench for a group with a nested stack in memory and an update policy."""

    policy: dict[str, Any]
    child: ChildInMemory

    def call(self, *arguments: Any, **rest: Any) -> Call:
        call = super().call(*arguments, **rest)
        call.resource = replace(call.resource, update_policy=self.policy)
        return call

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """What the child's templates said in each round, as the members' values."""
        return [
            {name: entry["properties"]["value"] for name, entry in request.template["resources"].items()}
            for _, request in self.child.asked
            if request.template is not None
        ]

    async def updated(self, resource: Resource, properties: dict[str, Any]) -> list[dict[str, Any]]:
        """Update, and the rounds that it took."""
        self.child.next_action()
        await self.update(resource, properties)
        return self.rounds


@pytest.fixture
def group(local: Any) -> GroupBench:
    kind: type[ResourceType] = ResourceGroup
    made = local(kind)
    bench = GroupBench(kind, made.cloud, made.clock, child=ChildInMemory())
    bench.child = bench._services["child"]
    bench.policy = {}
    return bench


async def test_members_are_numbered(group: GroupBench) -> None:
    resource = await group.create(of(count=3))
    assert group.rounds == [{"0": "v0", "1": "v1", "2": "v2"}]
    assert resource.physical_id == CHILD_ID
    assert group.reference(resource) == CHILD_ID


def test_index_is_replaced_in_strings_only() -> None:
    properties = {
        "for_each": None,
        "index_var": "%i%",
        "resource_def": {
            "type": "T%i%",
            "properties": {"a": [{"%i%": "x%i%%i%"}, 3], "gone": None},
            "metadata": {"m": "%i%"},
        },
    }
    assert member_definition(properties, "7") == {
        "type": "T%i%",
        "properties": {"a": [{"%i%": "x77"}, 3]},
        "metadata": {"m": "%i%"},
    }


async def test_count_changes_in_one_request(group: GroupBench) -> None:
    resource = await group.create(of(count=1))
    assert await group.updated(resource, of(count=3)) == [{"0": "v0", "1": "v1", "2": "v2"}]
    assert await group.updated(resource, of(count=0)) == [{}]


async def test_unchanged_group_still_updates_its_child(group: GroupBench) -> None:
    resource = await group.create(of(count=1))
    assert await group.updated(resource, of(count=1)) == [{"0": "v0"}]


async def test_index_variable_is_not_changed_in_place() -> None:
    declared = ResourceGroup.properties["index_var"]
    assert declared.change.name == "REPLACE"


@pytest.mark.parametrize("entry", ["1", 1, "1-id"])
async def test_removed_member_leaves_a_gap(group: GroupBench, entry: Any) -> None:
    resource = await group.create(of(count=3))
    policies = [{"resource_list": [entry]}]
    assert await group.updated(resource, of(count=3, removal_policies=policies)) == [{"0": "v0", "2": "v2", "3": "v3"}]
    assert await group.attribute(resource, "removed_rsrc_list") == ["1"]
    assert await group.updated(resource, of(count=2)) == [{"0": "v0", "2": "v2"}]


async def test_removal_policies_replace_earlier_ones(group: GroupBench) -> None:
    resource = await group.create(of(count=3, removal_policies=[{"resource_list": ["0"]}]))
    assert group.rounds == [{"1": "v1", "2": "v2", "3": "v3"}]
    changed = of(count=3, removal_policies=[{"resource_list": ["2", "unknown"]}], removal_policies_mode="update")
    assert await group.updated(resource, changed) == [{"0": "v0", "1": "v1", "3": "v3"}]
    assert resource.data["name_blacklist"] == "2"


async def test_creation_in_batches(group: GroupBench) -> None:
    group.policy = {"batch_create": {"max_batch_size": 2, "pause_time": 10}}
    began = group.clock.now()
    await group.create(of(count=5))
    assert [(action, request.round) for action, request in group.child.asked] == [
        ("CREATE", 0),
        ("UPDATE", 1),
        ("UPDATE", 2),
        ("UPDATE", 3),
    ]
    assert [sorted(members) for members in group.rounds] == [
        [],
        ["0", "1"],
        ["0", "1", "2", "3"],
        ["0", "1", "2", "3", "4"],
    ]
    assert group.clock.now() == began + 20


async def test_new_definition_in_batches_highest_index_first(group: GroupBench) -> None:
    group.policy = {"rolling_update": {"max_batch_size": 2}}
    resource = await group.create(of("old", count=3))
    assert await group.updated(resource, of("new", count=3)) == [
        {"2": "new", "1": "new", "0": "old"},
        {"2": "new", "1": "new", "0": "new"},
    ]


async def test_new_definition_with_members_kept_in_service(group: GroupBench) -> None:
    group.policy = {"rolling_update": {"max_batch_size": 1, "min_in_service": 2}}
    resource = await group.create(of("old", count=2))
    rounds = await group.updated(resource, of("new", count=2))
    assert rounds == [
        {"1": "old", "0": "old", "2": "new"},
        {"1": "new", "0": "old", "2": "new"},
        {"1": "new", "0": "new", "2": "new"},
        {"1": "new", "0": "new"},
    ]


async def test_count_change_alone_is_not_batched(group: GroupBench) -> None:
    group.policy = {"rolling_update": {"max_batch_size": 1}}
    resource = await group.create(of(count=1))
    assert len(await group.updated(resource, of(count=3))) == 1


async def test_batch_pauses_longer_than_timeout_are_refused(group: GroupBench) -> None:
    resource = await group.create(of("old", count=3))
    group.policy = {"rolling_update": {"pause_time": 60}}
    group.stack = replace(group.stack, deadline=group.clock.now() + 100)
    with pytest.raises(ActionFailed, match="ValueError: the pauses between batches, 120 seconds"):
        await group.updated(resource, of("new", count=3))


async def test_batch_that_fails_ends_the_update(group: GroupBench) -> None:
    group.policy = {"rolling_update": {}}
    resource = await group.create(of("old", count=3))
    group.child.failing = {1: "resources[1]: no"}
    with pytest.raises(ActionFailed, match=r"resources\[1\]: no"):
        await group.updated(resource, of("new", count=3))
    assert len(group.rounds) == 2


async def test_removal_by_reference_is_idempotent(group: GroupBench) -> None:
    """The members to remove are determined once, since those named by reference ID do not exist later."""
    resource = await group.create(of(count=2))
    changed = of(count=2, removal_policies=[{"resource_list": ["0-id"]}], removal_policies_mode="update")
    assert await group.updated(resource, changed) == [{"1": "v1", "2": "v2"}]
    assert resource.data["name_blacklist"] == "0"


async def test_attributes(group: GroupBench) -> None:
    resource = await group.create(of(count=2))
    for name in ("0", "1"):
        group.child.attributes[(name, ("addr", "v4"))] = f"10.0.0.{name}"
    assert await group.attributes(
        resource,
        [
            ("refs",),
            ("refs", 1),
            ("refs_map",),
            ("attributes", "addr", "v4"),
            ("attributes",),
            ("addr", "v4"),
            ("resource.1",),
            ("resource.1.addr", "v4"),
            ("removed_rsrc_list",),
        ],
    ) == {
        ("refs",): ["0-id", "1-id"],
        ("refs", 1): "1-id",
        ("refs_map",): {"0": "0-id", "1": "1-id"},
        ("attributes", "addr", "v4"): {"0": "10.0.0.0", "1": "10.0.0.1"},
        ("attributes",): None,
        ("addr", "v4"): ["10.0.0.0", "10.0.0.1"],
        ("resource.1",): "1-id",
        ("resource.1.addr", "v4"): "10.0.0.1",
        ("removed_rsrc_list",): [],
    }


def finalized(properties: dict[str, Any]) -> dict[str, Any]:
    return Finalizer().properties(ResourceGroup.properties, properties)


def test_nested_stack_for_validation() -> None:
    unknown = Unknown.of("net")
    request = ResourceGroup().child_of(finalized(of(unknown, count=2, removal_policies=[{"resource_list": [0]}])))
    assert request is not None
    assert request.template == {
        "heat_template_version": "2015-04-30",
        "parameters": {"unknown_0": {"type": "json"}, "unknown_1": {"type": "json"}},
        "resources": {
            "1": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "unknown_0"}}},
            "2": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "unknown_1"}}},
        },
    }
    assert request.parameters == {"unknown_0": unknown, "unknown_1": unknown}


def test_one_member_suffices_for_validation() -> None:
    request = ResourceGroup().sample_of(finalized(of(count=1000)))
    assert request is not None
    assert request.template is not None
    assert list(request.template["resources"]) == ["0"]
    assert ResourceGroup().sample_of(finalized(of(count=0))) is None
    assert ResourceGroup().child_of(finalized({"resource_def": Unknown.of("x"), "count": 1})) is None
