"""A stack returns to the template, files, environment and parameters that it had as of one of its operations."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stoker.base.errors import BadValue, EntityNotFound
from stoker_foundation.clock import ManualClock
from testing.harness import World

CHILD = """
heat_template_version: 2021-04-16
parameters: {given: {type: string}}
resources: {inner: {type: OS::Heat::Value, properties: {value: {get_param: given}}}}
outputs: {value: {value: {get_attr: [inner, value]}}}
"""


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


def template(names: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """Values of the parameter `word` under these names, with an output for each."""
    value = {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "word"}}}
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"word": {"type": "string", "default": "none"}, **more},
        "resources": dict.fromkeys(names or ["first"], value),
        "outputs": {name: {"value": {"get_attr": [name, "value"]}} for name in names or ["first"]},
    }


async def last_operation(world: World, name: str) -> str:
    """The ID of the newest operation on a stack."""
    newest = (await world.call("operation_list", ref=ref(name)))[0]
    return str(newest["id"])


async def returning(world: World, name: str, operation: str, **how: Any) -> dict[str, Any]:
    """The stack after its return to an operation."""
    view = await world.call("stack_patch", ref=ref(name), as_of=operation, **how)
    return await world.settle(view["id"])


async def plan_of(world: World, name: str, operation: str) -> dict[str, str]:
    """The kinds of the steps of the plan that returns to an operation, by path, without those that change nothing."""
    found = await world.call("stack_patch_preview", ref=ref(name), as_of=operation)
    return {step["path"]: step["kind"] for step in found["plan"]["steps"] if step["kind"] != "keep"}


async def test_return_restores_template_files_environment_and_parameters(world: World) -> None:
    nested = {"type": "child.yaml", "properties": {"given": {"get_param": "word"}}}
    first = template()
    first["resources"]["nested"] = {"type": "Mapped", "properties": nested["properties"]}
    first["outputs"]["inner"] = {"value": {"get_attr": ["nested", "value"]}}
    environment = {"resource_registry": {"Mapped": "child.yaml"}, "parameters": {"word": "from the environment"}}
    await world.create("web", first, environment=environment, files={"child.yaml": CHILD})
    created = await last_operation(world, "web")
    await world.update("web", template(["first", "second"]), parameters={"word": "two"})
    updated = await last_operation(world, "web")

    assert await plan_of(world, "web", created) == {
        "first": "update", "second": "delete", "nested": "create", "nested.inner": "create",
    }  # fmt: skip
    stack = await returning(world, "web", created)
    assert world.outputs(stack) == {"first": "from the environment", "inner": "from the environment"}
    assert await plan_of(world, "web", created) == {}
    stack = await returning(world, "web", updated)
    assert world.outputs(stack) == {"first": "two", "second": "two"}


async def test_given_parameters_change_the_former_definition(world: World) -> None:
    await world.create("web", template(), parameters={"word": "one"})
    created = await last_operation(world, "web")
    await world.update("web", template(["second"]), parameters={"word": "two"})
    stack = await returning(world, "web", created, parameters={"word": "three"})
    assert world.outputs(stack) == {"first": "three"}


async def test_tags_and_settings_are_kept(world: World) -> None:
    await world.create("web", template(), tags=["before"])
    created = await last_operation(world, "web")
    await world.update("web", template(["second"]), tags=["after"], disable_rollback=False)
    stack = await returning(world, "web", created)
    assert (stack["tags"], stack["disable_rollback"]) == (["after"], False)


async def test_return_reverts_moves_and_keeps_objects(world: World) -> None:
    def nets(*names: str) -> dict[str, Any]:
        return {
            "heat_template_version": "2021-04-16",
            "resources": {name: {"type": "OS::Neutron::Net"} for name in names},
        }

    await world.create("web", nets("a", "b"))
    created = await last_operation(world, "web")
    before = {name: row["physical_id"] for name, row in (await world.resources("web")).items()}
    await world.update("web", nets("a2", "b"), environment={"moved": [{"from": "a", "to": "a2"}]})
    moved = await last_operation(world, "web")
    await world.update("web", nets("a3", "b"), environment={"moved": [{"from": "a2", "to": "a3"}]})

    for operation, name in ((created, "a"), (moved, "a2"), (created, "a")):
        assert set((await plan_of(world, "web", operation)).values()) <= {"move"}
        await returning(world, "web", operation)
        after = {name: row["physical_id"] for name, row in (await world.resources("web")).items()}
        assert after == {name: before["a"], "b": before["b"]}


async def test_return_restores_hidden_values_without_showing_them(world: World) -> None:
    hidden = template(key={"type": "string", "hidden": True})
    hidden["resources"]["first"] = {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "key"}}}
    await world.create("web", hidden, parameters={"key": "correct-horse"}, files={"notes": "key: correct-horse"})
    created = await last_operation(world, "web")
    await world.update("web", template(), parameters={"word": "two"}, files={"notes": "none"})
    shown = [
        await world.call(method, ref=ref("web"), operation_id=created)
        for method in ("stack_template", "stack_environment", "stack_files")
    ]
    assert "key" in shown[0]["parameters"] and shown[1]["encrypted_param_names"] == ["key"]
    assert "correct-horse" not in str(shown) and "key: ***" in shown[2]["notes"]
    await returning(world, "web", created)
    [row] = (await world.resources("web")).values()
    attributes = await world.call("resource_show", ref=ref("web"), name=row["name"])
    assert "correct-horse" in str(attributes["attributes"]) or "***" in str(attributes["attributes"])
    assert await plan_of(world, "web", created) == {}


async def test_an_operation_of_another_stack_does_not_exist(world: World) -> None:
    await world.create("web", template())
    await world.create("other", template())
    other = await last_operation(world, "other")
    for operation in (other, "no-such-operation"):
        with pytest.raises(EntityNotFound, match="could not be found in Stack web"):
            await world.call("stack_patch", ref=ref("web"), as_of=operation)
        with pytest.raises(EntityNotFound, match="could not be found in Stack web"):
            await world.call("stack_template", ref=ref("web"), operation_id=operation)


async def test_the_rollback_of_a_creation_has_no_definition(world: World) -> None:
    broken = template()
    broken["resources"]["bad"] = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
    await world.create("web", broken, disable_rollback=False)
    rolled_back = await last_operation(world, "web")
    with pytest.raises(BadValue, match="had no definition"):
        await world.call("stack_patch", ref=ref("web"), as_of=rolled_back)


@pytest.mark.parametrize("seed", range(6))
async def test_return_after_random_history_leaves_no_changes(world: World, seed: int) -> None:
    """Of an operation that succeeded, the outputs also return; after one that failed, the plan says what is left."""
    chance = random.Random(seed)
    names = ["a", "b", "c", "d"]

    def definition() -> dict[str, Any]:
        found = template(chance.sample(names, chance.randint(1, 4)))
        if chance.random() < 0.3:
            found["resources"]["net"] = {"type": "OS::Neutron::Net", "properties": {"name": chance.choice(names)}}
        return found

    await world.create("web", definition(), parameters={"word": "zero"})
    history = {await last_operation(world, "web"): world.outputs(await world.call("stack_show", ref=ref("web")))}
    for _ in range(4):
        assert isinstance(world.clock, ManualClock)
        world.clock.advance(1)  # operations of the same moment have no order
        stack = await world.update("web", definition(), parameters={"word": chance.choice(names)})
        history[await last_operation(world, "web")] = world.outputs(stack)
    for operation in chance.sample(list(history), 3):
        stack = await returning(world, "web", operation)
        assert stack["status"] == "COMPLETE"
        assert world.outputs(stack) == history[operation]
        assert await plan_of(world, "web", operation) == {}
