"""Accepting differences: the record gets the values of the cloud in one transaction, and the cloud is not written."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import ActionInProgress, ResourceNotFound
from testing.harness import World
from tests.engine.test_looking_plans import NETWORKS, REF, change_outside, nested, net, object_of, plan_of, template


async def accept(world: World, *resources: str) -> list[dict[str, Any]]:
    found = await world.ended(world.call("drift_accept", ref=REF, resources=list(resources) or None))
    return list(found)


async def rename(world: World, resource: str, depth: int = 0, name: str = "theirs") -> None:
    path = f"{NETWORKS}/{await object_of(world, resource, depth)}"
    change_outside(world, "PUT", path, {"network": {"name": name}})


async def status(world: World, resource: str) -> str:
    found = await world.ended(world.call("drift_detect_resource", ref=REF, name=resource))
    return str(found["status"])


async def acceptances(world: World) -> list[str]:
    """The reasons of the events about what was accepted."""
    events = await world.call("event_list", ref=REF)
    reasons = [str(event["status_reason"]) for event in events]
    return [reason for reason in reasons if "were accepted" in reason]


def kinds(plan: dict[str, Any]) -> dict[str, str]:
    return {step["path"]: step["kind"] for step in plan["steps"] if step["kind"] != "keep"}


async def test_accepted_drift_becomes_the_recorded_values(world: World) -> None:
    made = template(net=net(name="mine"), other=net(name="other"))
    await world.create("web", made)
    await rename(world, "net")
    (found,) = await accept(world)
    assert (found["path"], found["accepted"], found["values"]) == ("net", True, {"name": "theirs"})
    assert found["definition"]["path"] == ["resources", "net", "properties"]
    assert await status(world, "net") == "IN_SYNC"
    assert change_outside(world, "GET", f"{NETWORKS}/{await object_of(world, 'net')}")["network"]["name"] == "theirs"
    kept = template(net=net(name="theirs"), other=net(name="other"))
    assert kinds(await plan_of(world, kept, refresh="all")) == {}
    assert kinds(await plan_of(world, made, refresh="none")) == {"net": "update"}
    assert await acceptances(world) == ["Its values in the cloud were accepted: name"]
    assert await accept(world) == []


async def test_only_selected_drift_is_accepted(world: World) -> None:
    await world.create("web", template(one=net(name="one"), two=net(name="two")))
    await rename(world, "one")
    await rename(world, "two")
    assert [each["path"] for each in await accept(world, "two")] == ["two"]
    assert (await status(world, "one"), await status(world, "two")) == ("MODIFIED", "IN_SYNC")


async def test_resources_of_nested_stacks_are_accepted_by_their_paths(world: World) -> None:
    root, files = template(child={"type": "child.yaml"}, net=net(name="mine")), nested(net=net(name="inner"))
    await world.create("web", root, files=files)
    await rename(world, "net", depth=1)
    await rename(world, "net")
    (found,) = await accept(world, "child")
    assert (found["path"], found["definition"]["template"]) == ("child.net", "child.yaml")
    assert found["definition"]["line"] == 1
    assert await status(world, "child") == "IN_SYNC"
    kept = nested(net=net(name="theirs"))
    assert kinds(await plan_of(world, root, files=kept, refresh="none")) == {}
    assert kinds(await plan_of(world, root, files=files, refresh="none")) == {
        "child": "update",
        "child.net": "update",
    }


async def test_missing_object_cannot_be_accepted(world: World) -> None:
    await world.create("web", template(net=net(name="mine")))
    change_outside(world, "DELETE", f"{NETWORKS}/{await object_of(world, 'net')}")
    (found,) = await accept(world)
    assert (found["status"], found["accepted"]) == ("DELETED", False)
    assert "does not exist" in found["reason"]


async def test_drift_that_the_template_ignores_is_not_accepted(world: World) -> None:
    await world.create("web", template(net={**net(name="mine"), "ignore_drift": ["name"]}))
    await rename(world, "net")
    assert await accept(world) == []


async def test_an_unknown_resource_is_refused_and_nothing_is_recorded(world: World) -> None:
    await world.create("web", template(net=net(name="mine")))
    await rename(world, "net")
    with pytest.raises(ResourceNotFound, match="nobody"):
        await accept(world, "net", "nobody")
    assert await status(world, "net") == "MODIFIED"


async def test_acceptance_is_refused_after_concurrent_operation(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.create("web", template(one=net(name="one"), two=net(name="two")))
    await rename(world, "one")
    await rename(world, "two")
    await accept(world, "two")
    changed = world.engine.services.journal.commit

    async def late(batch: Any) -> None:
        monkeypatch.undo()
        await world.call("stack_action", ref=REF, action="check")
        await changed(batch)

    monkeypatch.setattr(world.engine.services.journal, "commit", late)
    with pytest.raises(ActionInProgress):
        await world.call("drift_accept", ref=REF, resources=None)
    await world.settle((await world.call("stack_show", ref=REF))["id"])
    assert await status(world, "one") == "MODIFIED"
    assert len(await acceptances(world)) == 1


async def test_hidden_values_are_accepted_without_being_shown(world: World) -> None:
    made = template(net=net(name={"get_param": "word"}))
    made["parameters"] = {"word": {"type": "string", "hidden": True}}
    await world.create("web", made, parameters={"word": "swordfish"})
    await rename(world, "net", name="barracuda")
    (found,) = await accept(world)
    assert "swordfish" not in str(found)
    assert "barracuda" not in str(found)
    assert found["values"] == {"name": "******"}


async def test_rules_that_others_have_added_are_accepted_as_templates_write_them(world: World) -> None:
    """What was opened to everybody is shown with its values, and recorded with them."""
    rule = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "ro"}
    share = {"share_protocol": "NFS", "size": 1, "share_type": "default", "access_rules": [rule]}
    subnet = {"network": {"get_resource": "net"}, "cidr": "10.7.0.0/24"}
    pools = [{"start": "10.7.0.10", "end": "10.7.0.20"}]
    made = template(
        share={"type": "OS::Manila::Share", "properties": share},
        net=net(),
        subnet={"type": "OS::Neutron::Subnet", "properties": {**subnet, "allocation_pools": pools}},
    )
    await world.create("web", made)
    opened = {"access_type": "ip", "access_to": "0.0.0.0/0", "access_level": "rw"}
    action = f"/share/v2/shares/{await object_of(world, 'share')}/action"
    change_outside(world, "POST", action, {"allow_access": opened})
    wider = [*pools, {"start": "10.7.0.30", "end": "10.7.0.40"}]
    path = f"/network/v2.0/subnets/{await object_of(world, 'subnet')}"
    change_outside(world, "PUT", path, {"subnet": {"allocation_pools": wider}})
    plan = await plan_of(world, made, refresh="all")
    changes = {step["path"]: step["changes"] for step in plan["steps"]}
    assert {(*each["path"],) for each in changes["subnet"]} == {(1, "start"), (1, "end")}
    assert {each["path"][0] for each in changes["share"]} == {1}
    found = {each["path"]: each for each in await accept(world)}
    assert found["share"]["values"] == {"access_rules": [rule, opened]}
    assert found["subnet"]["values"] == {"allocation_pools": wider}
    assert await status(world, "share") == await status(world, "subnet") == "IN_SYNC"


async def test_inexpressible_drift_is_not_accepted(world: World) -> None:
    """A value in a form of the service only would be recorded as absent, and never be compared again."""
    secret = {"type": "OS::Barbican::Secret", "properties": {"name": "key", "payload": "swordfish"}}
    secrets = [{"name": "a", "ref": {"get_resource": "one"}}]
    box = {"type": "OS::Barbican::GenericContainer", "properties": {"name": "box", "secrets": secrets}}
    await world.create("web", template(one=secret, two=secret, box=box))
    number = (await object_of(world, "box")).rpartition("/")[2]
    added = {"name": "b", "secret_ref": await object_of(world, "two")}
    change_outside(world, "POST", f"/key-manager/v1/containers/{number}/secrets", added)
    (found,) = await accept(world)
    assert (found["path"], found["accepted"]) == ("box", False)
    assert "secrets in a form that templates do not have" in found["reason"]
    assert await status(world, "box") == "MODIFIED"
