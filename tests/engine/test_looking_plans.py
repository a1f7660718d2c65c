"""Plans look at the cloud: at what a change touches and depends on, or at the whole stack; updates do what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.base.errors import BadValue
from stoker.engine.inspection.cloud_refresh import MOST_WITHOUT_CHANGE
from testing.harness import World

NETWORKS = "/network/v2.0/networks"
REF = {"name": "web", "id": None}


def net(**properties: Any) -> dict[str, Any]:
    return {"type": "OS::Neutron::Net", "properties": properties}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def nested(**resources: Any) -> dict[str, str]:
    return {"child.yaml": json.dumps(template(**resources))}


async def plan_of(world: World, made: Any, **arguments: Any) -> dict[str, Any]:
    found = await world.call("stack_update_preview", ref=REF, template=made, **arguments)
    return dict(found["plan"])


def reasons_of(plan: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    """The codes of the reasons of each step that changes something, by its path and kind."""
    return {
        (step["path"], step["kind"]): [reason["code"] for reason in step["reasons"]]
        for step in plan["steps"]
        if step["kind"] != "keep"
    }


async def object_of(world: World, name: str, depth: int = 0) -> str:
    return str((await world.resources("web", depth))[name]["physical_id"])


def change_outside(world: World, method: str, path: str, body: Any = None) -> Any:
    """Do something as a user of the cloud, not through Stoker."""
    answer = world.served.call(method, path, body, world.served.token("demo", "demo"))
    assert answer.status < 300
    return answer.json if method != "DELETE" else None


async def rename(world: World, name: str, depth: int = 0) -> None:
    """Rename the network of a resource outside Stoker."""
    path = f"{NETWORKS}/{await object_of(world, name, depth)}"
    change_outside(world, "PUT", path, {"network": {"name": "theirs"}})


def requests_of(world: World) -> list[str]:
    """The services that are asked from now on, one entry for each request."""
    seen: list[str] = []
    world.pool.transport.observe = lambda service, status: seen.append(service)
    return seen


SERVER: dict[str, Any] = {
    "type": "OS::Nova::Server",
    "properties": {"flavor": "m1.small", "image": "cirros-0.6.2-x86_64-disk", "networks": [{"network": "private"}]},
}


async def test_a_server_that_was_deleted_is_created_again_and_only_that(world: World) -> None:
    made = template(server=SERVER, net=net(name="mine"))
    await world.create("web", made)
    kept = await object_of(world, "net")
    change_outside(world, "DELETE", f"/compute/v2.1/servers/{await object_of(world, 'server')}")
    plan = await plan_of(world, made)
    assert reasons_of(plan) == {
        ("server", "create"): ["deleted-outside"],
        ("server", "delete"): ["replaced", "deleted-outside"],
    }
    assert plan["refresh"] == plan["compared"]["refresh"] == "all"
    assert plan["compared"]["at"].endswith("Z")
    stack = await world.update("web", made, plan_digest=plan["digest"])
    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    (operation, *_) = await world.call("operation_list", ref=REF)
    shown = await world.call("operation_show", ref=REF, operation_id=operation["id"])
    assert reasons_of(shown["plan"]) == reasons_of(plan)
    assert await object_of(world, "net") == kept
    assert reasons_of(await plan_of(world, made, refresh="all")) == {}


async def test_a_rule_that_was_added_is_shown_and_removed(world: World) -> None:
    group = {"type": "OS::Neutron::SecurityGroup", "properties": {"rules": [{"protocol": "icmp"}]}}
    made = template(group=group)
    await world.create("web", made)
    rule: dict[str, Any] = {
        "security_group_id": await object_of(world, "group"),
        "direction": "ingress",
        "protocol": "tcp",
    }
    rules = "/network/v2.0/security-group-rules"
    rule |= {"port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "0.0.0.0/0"}
    added = change_outside(world, "POST", rules, {"security_group_rule": rule})["security_group_rule"]["id"]
    plan = await plan_of(world, made)
    assert reasons_of(plan) == {("group", "update"): ["changed-outside"]}
    (step,) = (step for step in plan["steps"] if step["path"] == "group")
    assert {(change["property"], *change["path"][:1]) for change in step["changes"]} == {("rules", 1)}
    await world.update("web", made, plan_digest=plan["digest"])
    answer = world.served.call("GET", f"{rules}/{added}", None, world.served.token("demo", "demo"))
    assert answer.status == 404


async def test_refresh_reads_changed_resources_and_their_dependencies(world: World) -> None:
    port: dict[str, Any] = {
        "type": "OS::Neutron::Port",
        "properties": {"network": {"get_resource": "net"}, "name": "first"},
    }
    many = {f"other{number}": net(name=f"other{number}") for number in range(20)}
    await world.create("web", template(net=net(name="mine"), port=port, **many))
    await rename(world, "net")
    await rename(world, "other7")
    changed = {**port, "properties": {**port["properties"], "name": "second"}}
    made = template(net=net(name="mine"), port=changed, **many)
    seen = requests_of(world)
    plan = await plan_of(world, made, preflight=False)
    assert reasons_of(plan) == {("net", "update"): ["changed-outside"], ("port", "update"): ["changes"]}
    (step,) = (step for step in plan["steps"] if step["path"] == "net")
    assert [(change["before"], change["after"]) for change in step["changes"]] == [("theirs", "mine")]
    assert plan["refresh"] == "changes"
    assert plan["compared"]["resources"] == 2
    assert len(seen) < 8
    await world.update("web", made, plan_digest=plan["digest"])
    assert reasons_of(await plan_of(world, made, refresh="all")) == {("other7", "update"): ["changed-outside"]}


async def test_a_missing_dependency_is_created_again_with_its_dependents(world: World) -> None:
    """The plan touches more when it knows that the network is gone; what becomes touched is looked at, too."""
    port: dict[str, Any] = {"type": "OS::Neutron::Port", "properties": {"network": {"get_resource": "net"}}}
    before = template(net=net(), other=port, port=port)
    await world.create("web", before)
    for name in ("port", "other"):
        change_outside(world, "DELETE", f"/network/v2.0/ports/{await object_of(world, name)}")
    change_outside(world, "DELETE", f"{NETWORKS}/{await object_of(world, 'net')}")
    named = {**port, "properties": {**port["properties"], "name": "mine"}}
    plan = await plan_of(world, template(net=net(), other=port, port=named))
    assert {key: codes for key, codes in reasons_of(plan).items() if key[1] != "delete"} == {
        ("net", "create"): ["deleted-outside"],
        ("other", "create"): ["deleted-outside"],
        ("port", "create"): ["deleted-outside"],
    }


async def test_dependent_change_names_the_replaced_property_only(world: World) -> None:
    hints = {"group": {"get_resource": "group"}}
    named = {**SERVER["properties"], "name": "mine", "scheduler_hints": hints}
    attached = {"instance_uuid": {"get_resource": "server"}, "volume_id": {"get_resource": "disk"}}
    made = template(
        group={"type": "OS::Nova::ServerGroup", "properties": {"policies": ["soft-affinity"]}},
        server={**SERVER, "properties": named},
        disk={"type": "OS::Cinder::Volume", "properties": {"size": 1}},
        attachment={"type": "OS::Cinder::VolumeAttachment", "properties": attached},
    )
    await world.create("web", made)
    change_outside(world, "DELETE", f"/compute/v2.1/os-server-groups/{await object_of(world, 'group')}")
    server = await object_of(world, "server")
    change_outside(world, "PUT", f"/compute/v2.1/servers/{server}", {"server": {"name": "theirs"}})
    plan = await plan_of(world, made, refresh="all")
    assert reasons_of(plan)["server", "replace"][:2] == ["may-change", "changed-outside"]
    [attachment] = [step for step in plan["steps"] if step["path"] == "attachment"]
    assert "server, which is replaced because scheduler_hints may change" in attachment["reasons"][0]["message"]


async def test_missing_object_is_not_deleted_first(world: World) -> None:
    """The service allows one rule with these fields, so a replacement deletes the old one first, if there is one."""

    def rules(description: str) -> dict[str, Any]:
        fields = {"security_group": {"get_resource": "group"}, "port_range_min": 80, "port_range_max": 80}
        rule = {"type": "OS::Neutron::SecurityGroupRule", "properties": {**fields, "description": description}}
        return template(group={"type": "OS::Neutron::SecurityGroup"}, rule=rule)

    await world.create("web", rules("one"))
    assert "deleted-first" in reasons_of(await plan_of(world, rules("two")))["rule", "replace"]
    change_outside(world, "DELETE", f"/network/v2.0/security-group-rules/{await object_of(world, 'rule')}")
    plan = await plan_of(world, rules("two"))
    assert reasons_of(plan)["rule", "create"] == ["deleted-outside"]
    stack = await world.update("web", rules("two"), plan_digest=plan["digest"])
    assert stack["status"] == "COMPLETE"


async def test_refresh_reads_nested_stacks_if_needed(world: World) -> None:
    files = nested(inner=net(name="inner"))
    made = template(nested={"type": "child.yaml"}, user={**net(name="user"), "depends_on": "nested"})
    await world.create("web", made, files=files)
    await rename(world, "inner", 1)
    again = template(nested={"type": "child.yaml"}, user={**net(name="other"), "depends_on": "nested"})
    plan = await plan_of(world, again, files=files)
    assert reasons_of(plan) == {
        ("nested", "update"): ["nested-changes"],
        ("nested.inner", "update"): ["changed-outside"],
        ("user", "update"): ["changes"],
    }
    assert plan["refresh"] == "changes"
    await world.update("web", again, files=files, plan_digest=plan["digest"])
    assert reasons_of(await plan_of(world, again, files=files, refresh="all")) == {}


async def test_update_refreshes_only_on_request(world: World) -> None:
    made = template(net=net(name="mine"))
    await world.create("web", made)
    await rename(world, "net")
    tagged = template(net={**net(name="mine"), "metadata": {"a": 1}})
    await world.update("web", tagged)
    assert reasons_of(await plan_of(world, tagged, refresh="none")) == {}
    assert reasons_of(await plan_of(world, tagged, refresh="all")) == {("net", "update"): ["changed-outside"]}
    await world.update("web", template(net={**net(name="mine"), "metadata": {"a": 2}}), refresh="changes")
    assert (
        reasons_of(await plan_of(world, template(net={**net(name="mine"), "metadata": {"a": 2}}), refresh="all")) == {}
    )


async def test_unreadable_resources_are_unknown_and_others_compared(world: World) -> None:
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
    made = template(net=net(name="mine"), volume=volume)
    await world.create("web", made)
    await rename(world, "net")

    async def unknown(**fault: Any) -> list[tuple[str, str]]:
        world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on="GET /volume/*", **fault)))
        plan = await plan_of(world, made, preflight=False)
        world.in_cloud(world.served.cloud.faults.clear)
        assert reasons_of(plan) == {("net", "update"): ["changed-outside"]}
        return [(each["path"], each["cause"]) for each in plan["compared"]["not_compared"]]

    for fault in ({"do": "fail", "status": 503}, {"do": "fail", "status": 403}, {"do": "fail", "status": 404}):
        assert await unknown(**fault) == [("volume", "service")], fault


async def test_a_plan_without_changes_reads_no_large_stack(world: World) -> None:
    many = {f"thing{number}": {"type": "OS::Heat::TestResource"} for number in range(MOST_WITHOUT_CHANGE)}
    made = template(net=net(name="mine"), **many)
    await world.create("web", made)
    await rename(world, "net")
    plan = await plan_of(world, made)
    assert reasons_of(plan) == {}
    assert (plan["refresh"], plan["compared"]["resources"]) == ("changes", 0)
    assert reasons_of(await plan_of(world, made, refresh="all")) == {("net", "update"): ["changed-outside"]}


async def test_converge_and_a_smaller_refresh_contradict_each_other(world: World) -> None:
    made = template(net=net())
    await world.create("web", made)
    with pytest.raises(BadValue, match="give one of them"):
        await plan_of(world, made, converge=True, refresh="changes")


async def test_drift_remains_after_failed_correction(world: World) -> None:
    first: dict[str, Any] = {"type": "OS::Heat::TestResource", "properties": {"value": "a"}}
    second = {**net(name="mine"), "depends_on": "first"}
    await world.create("web", template(first=first, second=second, other=net(name="other")))
    await rename(world, "second")
    failing = template(
        first={**first, "properties": {"value": "b", "fail": True}}, second=second, other=net(name="other")
    )
    stack = await world.update("web", failing, refresh="all", disable_rollback=True)
    assert stack["status"] == "FAILED"
    assert (await world.resources("web"))["second"]["status"] == "COMPLETE", "the correction has not begun"
    found = await world.call("drift_detect_resource", ref=REF, name="second")
    assert found["status"] == "MODIFIED"
    assert [(each["path"], each["before"], each["after"]) for each in found["differences"]] == [
        (["name"], "mine", "theirs")
    ]
    for refresh in ("all", "none"):
        plan = await plan_of(world, failing, refresh=refresh)
        assert reasons_of(plan)["second", "update"] == ["changed-outside"]
    await world.call("drift_accept", ref=REF, resources=["second"])
    assert (await world.call("drift_detect_resource", ref=REF, name="second"))["status"] == "IN_SYNC"
    assert reasons_of(await plan_of(world, failing, refresh="all"))["second", "update"] == ["changes"]

    await rename(world, "other")
    working = template(first=first, second=net(name="theirs"), other=net(name="other"))
    stack = await world.update("web", working, refresh="all")
    assert stack["status"] == "COMPLETE"
    assert reasons_of(await plan_of(world, working, refresh="all")) == {}
    for name in ("second", "other"):
        assert (await world.call("drift_detect_resource", ref=REF, name=name))["status"] == "IN_SYNC"


async def test_failed_stack_is_not_in_sync(world: World) -> None:
    broken = {"type": "OS::Nova::KeyPair", "properties": {"name": "odd", "public_key": "ssh-rsa AAAA"}}
    later = {**net(), "depends_on": "broken"}
    inner = {"type": "child.yaml"}
    files = nested(net=net(), broken=broken, later=later)
    stack = await world.create("web", template(net=net(), inner=inner), files=files, disable_rollback=True)
    assert stack["status"] == "FAILED"
    for ref in (REF, {"name": None, "id": await object_of(world, "inner")}):
        detection = (await world.call("drift_detect", ref=ref))["id"]
        while (found := await world.call("drift_status", detection_id=detection))["status"] == "IN_PROGRESS":
            await world.turn()
        assert (found["drift"], found["drifted"]) == ("UNKNOWN", 0)
        reports = {each["name"]: each for each in await world.call("drift_list", ref=ref)}
        assert reports["net"]["status"] == "IN_SYNC"
        assert "last applied" in reports["net"]["reason"]
        (open_one,) = reports.keys() & {"inner", "broken"}
        assert reports[open_one]["status"] == "UNKNOWN" and reports[open_one]["reason"]


async def test_untouched_resources_of_failed_update_are_compared_with_applied_values(world: World) -> None:
    first: dict[str, Any] = {"type": "OS::Heat::TestResource", "properties": {"value": "a"}}
    await world.create("web", template(first=first, second={**net(name="old"), "depends_on": "first"}))
    failing = {**first, "properties": {"value": "b", "fail": True}}
    made = template(first=failing, second={**net(name="new"), "depends_on": "first"})
    assert (await world.update("web", made, disable_rollback=True))["status"] == "FAILED"
    found = await world.call("drift_detect_resource", ref=REF, name="second")
    assert (found["status"], found["expected"]["name"]) == ("IN_SYNC", "old")
    assert found["reason"] == "compared with what was last applied to it, as the last operation on the stack failed"
    await rename(world, "second")
    found = await world.call("drift_detect_resource", ref=REF, name="second")
    assert [(each["before"], each["after"]) for each in found["differences"]] == [("old", "theirs")]
    plan = await plan_of(world, made, refresh="all")
    (change,) = (change for step in plan["steps"] if step["path"] == "second" for change in step["changes"])
    assert (change["before"], change["after"]) == ("theirs", "new"), "the plan goes towards the template"


async def test_added_list_items_are_drift(world: World) -> None:
    """What is the same stays as the template writes it: the default group by its name, not by its ID."""
    properties = {**SERVER["properties"], "security_groups": ["default"]}
    made = template(server={**SERVER, "properties": properties}, group={"type": "OS::Neutron::SecurityGroup"})
    await world.create("web", made)
    server = await object_of(world, "server")
    (port,) = change_outside(world, "GET", f"/network/v2.0/ports?device_id={server}")["ports"]
    groups = [*port["security_groups"], await object_of(world, "group")]
    change_outside(world, "PUT", f"/network/v2.0/ports/{port['id']}", {"port": {"security_groups": groups}})
    plan = await plan_of(world, made, refresh="all")
    (step,) = (step for step in plan["steps"] if step["path"] == "server" and step["kind"] != "delete")
    assert [(each["property"], each["path"], each["after"]) for each in step["changes"]] == [
        ("security_groups", [1], None)
    ]
