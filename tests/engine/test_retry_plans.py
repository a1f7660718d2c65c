"""Plans of retries: what is left of the failed operation, with what the cloud has, and what is skipped."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.authoring.plan_steps import changes, shown_kind
from stoker.base.errors import BadValue, NotSupported, PlanOutdated
from testing.harness import World
from tests.engine.test_looking_plans import REF, SERVER, change_outside, net, object_of, reasons_of, rename, template
from tests.engine.test_looking_returns import failed, name_of, preview
from tests.engine.test_skipping import act, ref, stuck


def kinds_of(plan: dict[str, Any]) -> dict[str, str]:
    return {step["path"]: shown_kind(step) for step in changes(plan)}


async def planned(world: World, name: str, **how: Any) -> dict[str, Any]:
    answer = await world.call("stack_action_preview", ref=ref(name), action="retry", **how)
    return dict(answer["plan"])


async def test_retry_plan_shows_remaining_steps_and_drift(world: World) -> None:
    await failed(world)
    assert kinds_of(await preview(world, "retry", refresh="none")) == {"broken": "replace"}
    await rename(world, "net")
    plan = await preview(world, "retry")
    assert kinds_of(plan) == {"broken": "replace", "net": "update"}
    assert reasons_of(plan)["net", "update"] == ["changed-outside"]
    assert (plan["action"], plan["refresh"]) == ("UPDATE", "changes")


async def test_a_retry_corrects_what_its_plan_shows_and_nothing_else(world: World) -> None:
    stack = await failed(world)
    await rename(world, "net")
    await world.call("stack_action", ref=REF, action="retry")
    await world.settle(stack["id"])
    assert await name_of(world, "net") == "theirs", "the failed update has not compared it"
    plan = await preview(world, "retry")
    await world.call("stack_action", ref=REF, action="retry", plan_digest=plan["digest"])
    await world.settle(stack["id"])
    assert await name_of(world, "net") == "mine"
    with pytest.raises(PlanOutdated):
        await world.call("stack_action", ref=REF, action="retry", plan_digest=plan["digest"])


async def test_a_plan_of_a_retry_names_what_is_skipped_now_and_before(world: World) -> None:
    await stuck(world, "web")
    whole = await planned(world, "web")
    assert kinds_of(whole) == {**_REST, "net": "update"}
    assert whole["action"] == "ROLLBACK" and "skipped" not in whole
    part = await planned(world, "web", skip=["net"])
    assert (kinds_of(part), part["skipped"]) == (_REST, ["net"])
    assert kinds_of(await planned(world, "web", skip=["nested.inner"])) == {**_AROUND, "net": "update"}
    assert (await act(world, "web", "retry", skip=["net"]))["status"] == "FAILED"
    again = await planned(world, "web", skip=["nested.inner"])
    assert (kinds_of(again), again["skipped"]) == (_AROUND, ["net", "nested.inner"])
    with pytest.raises(PlanOutdated):
        await world.call("stack_action", ref=ref("web"), action="retry", plan_digest=again["digest"])
    ended = await act(world, "web", "retry", skip=["nested.inner"], plan_digest=again["digest"])
    assert ended["status"] == "COMPLETE", ended["status_reason"]


async def test_a_retry_plan_is_of_the_failed_action(world: World) -> None:
    created = await world.create("web", template(net=net(), broken={**_BROKEN, "depends_on": "net"}))
    assert created["status"] == "FAILED"
    plan = await preview(world, "retry")
    assert (plan["action"], kinds_of(plan)) == ("CREATE", {"broken": "replace"})
    assert plan["preflight"]["results"] == []
    change_outside(world, "POST", "/network/v2.0/ports", {"port": {"network_id": await object_of(world, "net")}})
    await world.call("stack_delete", ref=REF)
    assert (await world.settle(created["id"]))["status"] == "FAILED"
    plan = await preview(world, "retry")
    assert (plan["action"], kinds_of(plan)) == ("DELETE", {"net": "delete"})


async def test_missing_retry_plan_is_reported(world: World) -> None:
    stack = await world.create("web", template(net=net(), server=SERVER))
    with pytest.raises(NotSupported, match="Only failed operations"):
        await preview(world, "retry")
    change_outside(world, "DELETE", f"/compute/v2.1/servers/{await object_of(world, 'server')}")
    await world.call("stack_action", ref=REF, action="check")
    assert (await world.settle(stack["id"]))["status"] == "FAILED"
    for how in ({}, {"refresh": "all"}):
        with pytest.raises(BadValue, match="The retry of the action CHECK of stack web has no plan"):
            await preview(world, "retry", **how)
    with pytest.raises(BadValue, match="has no plan"):
        await world.call("stack_action", ref=REF, action="retry", refresh="all")
    with pytest.raises(BadValue, match="Only a retry can skip"):
        await preview(world, "rollback", skip=["net"])
    await world.call("stack_action", ref=REF, action="retry")
    assert (await world.settle(stack["id"]))["action"] == "CHECK"


_AROUND = {"nested": "update", "broken": "delete"}
_REST = {**_AROUND, "nested.inner": "update"}
_BROKEN = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
