"""Lifecycle plug-ins and update policies of installed packages, in operations of a whole Stoker."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stoker.base.extensions import PluginInvalid
from stoker.plugins.registry import Registry
from testing.harness import World
from tests.plugins.conftest import Install

Begin = Callable[[], Awaitable[World]]

LIFECYCLE = """
import asyncio
from stoker.plugins.lifecycle import LifecyclePlugin, OperationRefused

CALLS = []
REFUSED = set()
FAILING = set()
STUCK = set()


class Witness(LifecyclePlugin):
    seconds = 0.2

    def __init__(self, name, order):
        self.name, self.order = name, order

    async def before(self, operation):
        CALLS.append(("before", self.name, operation))
        if (self.name, operation.action) in REFUSED:
            raise OperationRefused("The month is closed.")
        if self.name in FAILING:
            raise ZeroDivisionError("secret-of-the-plug-in")
        if self.name in STUCK:
            await asyncio.Event().wait()

    async def after(self, operation, status):
        CALLS.append(("after", self.name, status))
        if self.name in FAILING:
            raise ZeroDivisionError("afterwards")


PLUGINS = {"late": Witness("late", 10), "early": Witness("early", -10), "middle": Witness("middle", 0)}
"""
VALUE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {"word": {"type": "OS::Heat::TestResource", "properties": {"value": "one"}}},
}
REF = {"name": "words", "id": None}
ORDER = ["early", "middle", "late"]


def changed(value: str) -> dict[str, Any]:
    properties = {"value": value}
    return {**VALUE, "resources": {"word": {"type": "OS::Heat::TestResource", "properties": properties}}}


@pytest.fixture
def witness(install: Install) -> Any:
    install("witness", {"stoker.lifecycle": "witness:PLUGINS"}, LIFECYCLE)
    Registry.from_entry_points()
    return sys.modules["witness"]


async def test_plug_ins_are_called_in_order_before_and_in_reverse_after(witness: Any, begin: Begin) -> None:
    world = await begin()
    stack = await world.create("words", VALUE)
    assert stack["status"] == "COMPLETE"
    assert [call[:2] for call in witness.CALLS] == [
        *(("before", name) for name in ORDER),
        *(("after", name) for name in reversed(ORDER)),
    ]
    about = witness.CALLS[0][2]
    assert (about.action, about.stack_name, about.stack_id, about.parent_id) == ("CREATE", "words", stack["id"], None)
    assert [(step.name, step.kind) for step in about.steps] == [("word", "create")]
    assert about.template["resources"].keys() == {"word"}
    assert not about.resumed


@pytest.mark.parametrize("action", ["suspend", "check", "delete"])
async def test_every_action_has_its_calls(witness: Any, begin: Begin, action: str) -> None:
    world = await begin()
    stack = await world.create("words", VALUE)
    witness.CALLS.clear()
    if action == "delete":
        await world.delete("words")
    else:
        await world.call("stack_action", ref=REF, action=action)
        await world.settle(stack["id"])
    assert witness.CALLS[0][2].action == action.upper()
    assert [call[2] for call in witness.CALLS[3:]] == ["COMPLETE"] * 3


async def test_a_refused_update_changes_nothing_and_is_not_rolled_back(witness: Any, begin: Begin) -> None:
    world = await begin()
    await world.create("words", VALUE, disable_rollback=False)
    witness.CALLS.clear()
    witness.REFUSED.add(("middle", "UPDATE"))
    stack = await world.update("words", changed("two"), disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("UPDATE", "FAILED")
    assert stack["status_reason"] == "The plug-in middle refuses the operation: The month is closed."
    assert (await world.resources("words"))["word"]["action"] == "CREATE"
    assert [call[:2] for call in witness.CALLS] == [("before", "early"), ("before", "middle"), ("after", "early")]
    assert witness.CALLS[-1][2] == "FAILED"

    witness.REFUSED.clear()
    stack = await world.update("words", changed("two"))
    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    assert (await world.resources("words"))["word"]["action"] == "UPDATE"


async def test_failing_plug_in_stops_operation_without_its_message(
    witness: Any, begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    world = await begin()
    witness.FAILING.add("middle")
    stack = await world.create("words", VALUE)
    assert (
        stack["status_reason"] == "The plug-in middle failed with ZeroDivisionError; ask the operator of the service."
    )
    assert "secret-of-the-plug-in" in caplog.text


async def test_a_plug_in_that_takes_too_long_stops_the_operation(witness: Any, begin: Begin) -> None:
    world = await begin()
    witness.STUCK.add("late")
    stack = await world.create("words", VALUE)
    assert (stack["status"], stack["status_reason"][:50]) == (
        "FAILED",
        "The plug-in late has not answered within 0.2 secon",
    )


async def test_failure_after_operation_is_only_logged(
    witness: Any, begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    world = await begin()
    stack = await world.create("words", VALUE)
    witness.CALLS.clear()
    before = witness.Witness.before
    witness.FAILING.add("middle")
    witness.Witness.before = lambda self, operation: _nothing()
    try:
        stack = await world.update("words", changed("two"))
    finally:
        witness.Witness.before = before
    assert stack["status"] == "COMPLETE"
    assert [call[1] for call in witness.CALLS] == ["late", "middle", "early"]
    assert "plug-in middle failed after operation" in caplog.text


async def _nothing() -> None:
    return None


async def test_operations_on_nested_stacks_name_their_parents(witness: Any, begin: Begin) -> None:
    world = await begin()
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": {"type": "OS::Heat::None"}}}
    stack = await world.create("outer", {"heat_template_version": "2021-04-16", "resources": {"group": group}})
    parents = {call[2].parent_id for call in witness.CALLS if call[0] == "before"}
    assert parents == {None, stack["id"]}


POLICY = """
from stoker.plugins.update_policy import UpdatePolicy

CHANGES = []


class Guard(UpdatePolicy):
    def violation(self, change):
        CHANGES.append(change)
        if change.after.get("value") == "broken":
            raise ZeroDivisionError("secret-of-the-plug-in")
        if change.kind in ("replace", "delete") or change.after.get("value") == "forbidden":
            return f"{change.name} is in production"
        return None


POLICIES = {"guard": Guard()}
"""
TWO: dict[str, Any] = {
    **VALUE,
    "resources": {**VALUE["resources"], "other": {"type": "OS::Heat::TestResource", "properties": {"value": "two"}}},
}


@pytest.fixture
def guard(install: Install) -> Any:
    install("guard", {"stoker.update_policies": "guard:POLICIES"}, POLICY)
    Registry.from_entry_points()
    return sys.modules["guard"]


async def test_a_policy_lets_some_updates_pass(guard: Any, begin: Begin) -> None:
    world = await begin()
    await world.create("words", VALUE)
    assert guard.CHANGES == []  # nothing exists that could change
    stack = await world.update("words", changed("two"))
    assert stack["status"] == "COMPLETE"
    change = guard.CHANGES[0]
    assert (change.operation, change.stack_name, change.name, change.kind) == ("UPDATE", "words", "word", "update")
    assert (change.before, change.after) == ({"value": "one"}, {"value": "two"})


async def test_a_policy_forbids_an_update_and_the_resource_stays(guard: Any, begin: Begin) -> None:
    world = await begin()
    await world.create("words", VALUE)
    stack = await world.update("words", changed("forbidden"))
    assert stack["status"] == "FAILED"
    assert "the update policy guard forbids it: word is in production" in stack["status_reason"]
    row = (await world.resources("words"))["word"]
    assert (row["action"], row["status"]) == ("CREATE", "COMPLETE")


async def test_a_policy_forbids_a_deletion_before_anything_is_deleted(guard: Any, begin: Begin) -> None:
    world = await begin()
    await world.create("words", TWO)
    stack = await world.update("words", VALUE)
    assert stack["status"] == "FAILED"
    assert "other is in production" in stack["status_reason"]
    assert (await world.resources("words"))["other"]["status"] == "COMPLETE"
    stack = await world.delete("words")  # the deletion of a stack is no update
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE")


async def test_the_plan_shows_what_a_policy_forbids(guard: Any, begin: Begin) -> None:
    world = await begin()
    await world.create("words", TWO)
    plan = (await world.call("stack_update_preview", ref=REF, template=changed("forbidden")))["plan"]
    refused = {step["path"]: step["reasons"] for step in plan["steps"] if step["kind"] == "refuse"}
    assert refused.keys() == {"word", "other"}
    assert [reason["code"] for reasons in refused.values() for reason in reasons] == ["policy", "policy"]


async def test_failing_update_policy_refuses(guard: Any, begin: Begin, caplog: pytest.LogCaptureFixture) -> None:
    world = await begin()
    await world.create("words", VALUE)
    stack = await world.update("words", changed("broken"))
    assert "the policy failed with ZeroDivisionError" in stack["status_reason"]
    assert "secret-of-the-plug-in" not in stack["status_reason"]
    assert "secret-of-the-plug-in" in caplog.text


@pytest.mark.parametrize("group", ["lifecycle", "update_policies"])
def test_unloadable_plug_in_prevents_start(install: Install, group: str) -> None:
    install("broken", {f"stoker.{group}": "broken:OBJECTS"}, "import no_such_module\n")
    with pytest.raises(PluginInvalid, match=rf"broken \(stoker\.{group}"):
        Registry.from_entry_points()
