"""What templates ignore (`ignore_drift`) is no drift, no part of a plan, and is not corrected; and answers say so."""

from __future__ import annotations

from typing import Any

from testing.harness import World
from tests.engine.test_looking_plans import (
    NETWORKS,
    REF,
    SERVER,
    change_outside,
    nested,
    net,
    object_of,
    plan_of,
    template,
)

IGNORED = {"path": "name", "differs": True, "reason": "IGNORED_IN_TEMPLATE"}


def ignoring(resource: dict[str, Any], *paths: str) -> dict[str, Any]:
    return {**resource, "ignore_drift": list(paths)}


async def drift(world: World, name: str) -> dict[str, Any]:
    found = await world.ended(world.call("drift_detect_resource", ref=REF, name=name))
    return dict(found)


async def change(world: World, resource: str, depth: int = 0, **values: Any) -> str:
    path = f"{NETWORKS}/{await object_of(world, resource, depth)}"
    change_outside(world, "PUT", path, {"network": values})
    return path


def shown(world: World, path: str) -> dict[str, Any]:
    return dict(change_outside(world, "GET", path)["network"])


def kinds(plan: dict[str, Any]) -> dict[str, str]:
    return {step["path"]: step["kind"] for step in plan["steps"] if step["kind"] not in ("keep", "delete")}


async def test_an_ignored_difference_is_no_drift_and_is_named(world: World) -> None:
    made = template(net=ignoring(net(name="mine", tags=["a"]), "name", "tags"))
    await world.create("web", made)
    path = await change(world, "net", name="theirs")
    found = await drift(world, "net")
    assert (found["status"], found["differences"]) == ("IN_SYNC", [])
    assert found["ignored"] == [IGNORED, {"path": "tags", "differs": False, "reason": "IGNORED_IN_TEMPLATE"}]
    plan = await plan_of(world, made, refresh="all")
    assert kinds(plan) == {}
    counts = {name: plan["compared"][name] for name in ("in_sync", "differing")}
    assert counts == {"in_sync": 1, "differing": 0}
    (ignored,) = plan["compared"]["ignored"]
    assert (ignored["path"], ignored["properties"]) == ("net", found["ignored"])
    await world.update("web", made, converge=True)
    assert shown(world, path)["name"] == "theirs"


async def test_another_difference_of_the_object_is_corrected_alone(world: World) -> None:
    made = template(net=ignoring(net(name="mine", admin_state_up=True), "name"))
    await world.create("web", made)
    path = await change(world, "net", name="theirs", admin_state_up=False)
    found = await drift(world, "net")
    assert found["status"] == "MODIFIED"
    assert [each["path"] for each in found["differences"]] == [["admin_state_up"]]
    plan = await plan_of(world, made, refresh="all")
    assert [each["property"] for step in plan["steps"] for each in step["changes"]] == ["admin_state_up"]
    await world.update("web", made, converge=True)
    after = shown(world, path)
    assert (after["name"], after["admin_state_up"]) == ("theirs", True)


async def test_missing_object_is_always_drift(world: World) -> None:
    made = template(net=ignoring(net(name="mine"), "name"))
    await world.create("web", made)
    change_outside(world, "DELETE", f"{NETWORKS}/{await object_of(world, 'net')}")
    assert (await drift(world, "net"))["status"] == "DELETED"
    assert kinds(await plan_of(world, made, refresh="all"))["net"] == "create"


async def test_ignored_drift_follows_the_new_template(world: World) -> None:
    before, after = template(net=net(name="mine")), template(net=ignoring(net(name="mine"), "name"))
    await world.create("web", before)
    path = await change(world, "net", name="theirs")
    plan = await plan_of(world, after, refresh="all")
    (step,) = (step for step in plan["steps"] if step["kind"] != "keep")
    assert (step["kind"], step["changes"]) == ("update", [])
    assert [part["property"] for part in step["definition"]] == ["ignore_drift"]
    assert plan["compared"]["differing"] == 0
    await world.update("web", after, converge=True)
    assert shown(world, path)["name"] == "theirs"
    assert (await drift(world, "net"))["status"] == "IN_SYNC"
    assert kinds(await plan_of(world, before, refresh="all")) == {"net": "update"}
    await world.update("web", before, converge=True)
    assert shown(world, path)["name"] == "mine"


async def test_a_change_of_the_template_is_applied_to_an_ignored_property(world: World) -> None:
    await world.create("web", template(net=ignoring(net(name="mine"), "name")))
    path = await change(world, "net", name="theirs")
    await world.update("web", template(net=ignoring(net(name="ours"), "name")), converge=True)
    assert shown(world, path)["name"] == "ours"


async def test_nested_templates_declare_their_ignored_drift(world: World) -> None:
    root = template(child={"type": "child.yaml"})
    await world.create("web", root, files=nested(net=net(name="mine")))
    path = await change(world, "net", depth=1, name="theirs")
    files = nested(net=ignoring(net(name="mine"), "name"))
    plan = await plan_of(world, root, files=files, refresh="all")
    assert [each for step in plan["steps"] for each in step["changes"] if step["path"] == "child.net"] == []
    await world.update("web", root, files=files, converge=True)
    assert shown(world, path)["name"] == "theirs"
    assert kinds(await plan_of(world, root, files=files, refresh="all")) == {}


async def test_ignored_unreadable_value_is_not_reported(world: World) -> None:
    properties: dict[str, Any] = dict(SERVER["properties"])
    server = {**SERVER, "properties": {**properties, "user_data": "words", "metadata": {"a": "b"}}}
    await world.create("web", template(net=ignoring(net(name="mine"), "name"), server=server))
    before = await drift(world, "server")
    assert before["status"] == "UNKNOWN"
    assert "user_data" in before["reason"]
    ignoring_data = ignoring(server, "user_data")
    await world.update("web", template(net=net(name="mine"), server=ignoring_data))
    after = await drift(world, "server")
    assert (after["status"], after["reason"]) == ("IN_SYNC", "")
