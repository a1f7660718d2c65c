"""Settings of stacks apply to every caller: protection from deletion, and which updates are allowed."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import BadValue, Conflict, Forbidden
from testing.harness import World

REF = {"name": "kept", "id": None}
FIXED = {
    "Statement": [
        {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
        {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/fixed"},
    ]
}


def template(value: str) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"fixed": {"type": "OS::Heat::TestResource", "properties": {"value": value}}},
    }


async def test_a_protected_stack_is_not_deleted(world: World) -> None:
    await world.create("kept", template("a"))
    await world.call("stack_settings_change", ref=REF, changes={"protected": True})
    with pytest.raises(Conflict, match="termination protection"):
        await world.call("stack_delete", ref=REF)
    await world.call("stack_settings_change", ref=REF, changes={"protected": False})
    assert (await world.delete("kept"))["status"] == "COMPLETE"


async def test_a_policy_holds_for_updates_and_for_restores(world: World) -> None:
    stack = await world.create("kept", template("a"))
    snapshot = await world.call("snapshot_create", ref=REF, name=None)
    await world.settle(stack["id"])
    await world.update("kept", template("b"))
    await world.call("stack_settings_change", ref=REF, changes={"policy": FIXED})
    with pytest.raises(Forbidden, match="Update:Modify of fixed"):
        await world.call("stack_update", ref=REF, template=template("c"))
    with pytest.raises(Forbidden, match="Update:Modify of fixed"):
        await world.call("snapshot_restore", ref=REF, snapshot_id=snapshot["id"])
    await world.call("stack_settings_change", ref=REF, changes={"policy": None})
    assert (await world.update("kept", template("c")))["status"] == "COMPLETE"


@pytest.mark.parametrize("policy", [[], {"Statement": []}, {"Statement": [5]}, {"Statement": [{"Effect": "Allow"}]}])
async def test_a_policy_that_makes_no_sense_is_refused(world: World, policy: Any) -> None:
    await world.create("kept", template("a"))
    with pytest.raises(BadValue):
        await world.call("stack_settings_change", ref=REF, changes={"policy": policy})
