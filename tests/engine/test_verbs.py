"""Verbs on running and failed stacks: going on, going back, calling off; what is under way is never forgotten."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ActionInProgress, BadValue, EntityNotFound, NotSupported, PlanOutdated
from stoker.engine.running.actions import takes_part
from stoker.operations.lookup import guard
from stoker.operations.stacks import requested_operation
from stoker.store import queries
from stoker.store.records import Stack
from testing.harness import World

NETWORKS = "/network/v2.0/networks"


def thing(value: Any = "x", *after: str, **properties: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"type": "OS::Heat::TestResource", "properties": {"value": value, **properties}}
    return {**body, "depends_on": list(after)} if after else body


def net(**properties: Any) -> dict[str, Any]:
    return {"type": "OS::Neutron::Net", "properties": properties}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def nested_file(**resources: Any) -> dict[str, str]:
    return {"child.yaml": json.dumps(template(**resources))}


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


async def act(world: World, name: str, action: str) -> dict[str, Any]:
    await world.call("stack_action", ref=ref(name), action=action)
    return await world.settle((await world.call("stack_identify", ref=ref(name)))["id"])


def fail(world: World, on: str, status: int = 400, **rule: Any) -> Fault:
    added: Fault = world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on=on, do="fail", status=status, **rule)))
    return added


def mend(world: World, fault: Fault) -> None:
    world.in_cloud(lambda: world.served.cloud.faults.remove(fault.id))


def state(stack: dict[str, Any]) -> str:
    return f"{stack['action']}_{stack['status']}"


# -- trying again --------------------------------------------------------------------------------------------------


async def test_retry_resumes_from_what_failed(world: World) -> None:
    fault = fail(world, f"POST {NETWORKS}")
    stack = await world.create("web", template(a=thing(), net=net(), after=thing("x", "net")))
    assert state(stack) == "CREATE_FAILED"
    before = (await world.resources("web"))["a"]
    mend(world, fault)
    assert state(await act(world, "web", "retry")) == "CREATE_COMPLETE"
    rows = await world.resources("web")
    assert rows["a"] == before
    assert set(rows) == {"a", "net", "after"}


async def test_a_failed_deletion_is_tried_again(world: World) -> None:
    await world.create("web", template(net=net()))
    fault = fail(world, f"DELETE {NETWORKS}/*", 403)
    stack = await world.delete("web")
    assert state(stack) == "DELETE_FAILED"
    mend(world, fault)
    await world.call("stack_action", ref=ref("web"), action="retry")
    assert state(await world.settle(stack["id"])) == "DELETE_COMPLETE"


async def test_retry_keeps_resources_that_have_not_failed(world: World) -> None:
    await world.create("web", template(a=thing()))
    for action in ("retry", "rollback", "cancel_update", "cancel_without_rollback"):
        with pytest.raises(NotSupported, match="CREATE_COMPLETE"):
            await world.call("stack_action", ref=ref("web"), action=action)


# -- going back ----------------------------------------------------------------------------------------------------


async def test_rollback_can_be_requested_after_failure(world: World) -> None:
    first = template(a=thing("old"))
    await world.create("web", first)
    stack = await world.update("web", template(a=thing("new"), b=thing("x", "a", fail=True)))
    assert state(stack) == "UPDATE_FAILED"
    assert state(await act(world, "web", "rollback")) == "ROLLBACK_COMPLETE"
    assert set(await world.resources("web")) == {"a"}
    assert await world.call("stack_template", ref=ref("web")) == first


async def test_a_rollback_of_a_failed_creation_removes_all_resources(world: World) -> None:
    await world.create("web", template(a=thing(), b=thing(fail=True)))
    assert state(await act(world, "web", "rollback")) == "ROLLBACK_COMPLETE"
    assert await world.resources("web") == {}


async def test_a_stack_that_was_never_complete_is_rolled_back_to_its_first_definition(world: World) -> None:
    """Undoing a failed repair of a failed creation must not remove everything."""
    await world.create("web", template(a=thing(), b=thing(fail=True)))
    await world.update("web", template(a=thing("new"), b=thing("other", fail=True)))
    await act(world, "web", "rollback")
    assert "a" in await world.resources("web")


async def test_a_failed_rollback_is_tried_again(world: World) -> None:
    await world.create("web", template(a=thing("old")))
    await world.update("web", template(a=thing("new"), net=net(), b=thing("x", "net", fail=True)))
    fault = fail(world, f"DELETE {NETWORKS}/*", 403)
    assert state(await act(world, "web", "rollback")) == "ROLLBACK_FAILED"
    mend(world, fault)
    assert state(await act(world, "web", "retry")) == "ROLLBACK_COMPLETE"
    assert set(await world.resources("web")) == {"a"}


async def test_cancel_rolls_back_even_if_rollback_is_disabled(world: World) -> None:
    await world.create("web", template(a=thing("old")))
    await world.call("stack_update", ref=ref("web"), template=template(a=thing("new", wait_secs=60), b=thing("x", "a")))
    await world.turn()
    stack = await act(world, "web", "cancel_update")
    assert state(stack) == "ROLLBACK_COMPLETE"
    assert set(await world.resources("web")) == {"a"}


# -- calling off ---------------------------------------------------------------------------------------------------


async def test_cancel_without_rollback_finishes_running_steps(world: World) -> None:
    made = template(slow=thing(wait_secs=30), never=thing("x", "slow"))
    view = await world.call("stack_create", name="web", template=made, disable_rollback=False)
    await world.until(lambda: bool(world.engine.runs[view["id"]].states))
    await world.call("stack_action", ref=ref("web"), action="cancel_without_rollback")
    assert state(await world.call("stack_show", ref=ref("web"))) == "CREATE_FAILED"
    assert view["id"] in world.engine.runs
    stack = await world.settle(view["id"])
    assert state(stack) == "CREATE_FAILED"
    rows = await world.resources("web")
    assert {name: row["status"] for name, row in rows.items()} == {"slow": "COMPLETE"}
    assert state(await act(world, "web", "retry")) == "CREATE_COMPLETE"


async def test_a_deployment_that_is_canceled_expects_no_answer_any_more(world: World) -> None:
    config = {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}}
    values = {"config": {"get_resource": "config"}, "server": "elsewhere", "signal_transport": "HEAT_SIGNAL"}
    applied = {"type": "OS::Heat::SoftwareDeployment", "properties": values}
    view = await world.call("stack_create", name="web", template=template(config=config, applied=applied))
    while [row["status"] for row in await world.call("software_deployment_list")] != ["IN_PROGRESS"]:
        await world.turn()
    await world.call("stack_action", ref=ref("web"), action="cancel_without_rollback")
    assert state(await world.settle(view["id"])) == "CREATE_FAILED"
    [deployment] = await world.call("software_deployment_list")
    assert (deployment["status"], deployment["status_reason"]) == ("FAILED", "cancelled")
    assert (await world.resources("web"))["applied"]["status_reason"].endswith("Deployment to server failed: cancelled")
    assert state(await world.delete("web")) == "DELETE_COMPLETE"


async def test_nested_stacks_are_cancelled(world: World) -> None:
    files = nested_file(slow=thing(wait_secs=30), never=thing("x", "slow"))
    view = await world.call("stack_create", name="web", template=template(nested={"type": "child.yaml"}), files=files)
    await world.until(lambda: len(world.engine.runs) == 2 and all(run.states for run in world.engine.runs.values()))
    await world.call("stack_action", ref=ref("web"), action="cancel_without_rollback")
    await world.settle(view["id"])
    rows = await world.resources("web", 1)
    assert rows["nested"]["status"] == "FAILED"
    assert rows["slow"]["status"] == "COMPLETE"
    assert "never" not in rows


async def test_suspended_resources_are_resumed_by_next_update(world: World, served: ServedCloud) -> None:
    """One resource is unhealthy, so that the stack can neither be suspended nor resumed as a whole."""
    given = {"image": "cirros", "flavor": "m1.nano", "networks": [{"network": "private"}]}
    server = {"type": "OS::Nova::Server", "properties": given}
    files = nested_file(server=server)
    after: dict[str, Any] = {"depends_on": "ill"}
    definition = template(ill=net(), well={**server, **after}, nested={"type": "child.yaml", **after})
    await world.create("web", definition, files=files)
    await world.call("resource_mark_unhealthy", ref=ref("web"), name="ill", mark_unhealthy=True)
    assert state(await act(world, "web", "suspend")) == "SUSPEND_FAILED"
    resumed = await act(world, "web", "resume")
    assert state(resumed) == "RESUME_FAILED"
    assert resumed["status_reason"].startswith("Resource RESUME failed: NotSupported: resources.ill: resume")
    assert statuses(served) == ["SUSPENDED", "SUSPENDED"]

    assert state(await world.update("web", definition, files=files)) == "UPDATE_COMPLETE"
    assert statuses(served) == ["ACTIVE", "ACTIVE"]


def statuses(served: ServedCloud) -> list[str]:
    """Those of all servers."""
    listed = served.call("GET", "/compute/v2.1/servers/detail", token=served.token("demo", "demo")).json["servers"]
    return [server["status"] for server in listed]


# -- several at once -----------------------------------------------------------------------------------------------


async def test_two_updates_sent_at_once_have_one_outcome(world: World) -> None:
    await world.create("web", template(a=thing("0")))
    updates = [template(a=thing(str(number), wait_secs=5), **{f"only{number}": thing()}) for number in (1, 2)]
    views = await asyncio.gather(*(world.call("stack_update", ref=ref("web"), template=update) for update in updates))
    stack = await world.settle(views[0]["id"])
    assert state(stack) == "UPDATE_COMPLETE"
    history = await world.call("operation_list", ref=ref("web"))
    assert sorted(entry["status"] for entry in history) == ["COMPLETE", "COMPLETE", "SUPERSEDED"]
    assert set(await world.resources("web")) in ({"a", "only1"}, {"a", "only2"})


async def test_update_does_not_revive_deleted_stack(world: World) -> None:
    await world.create("web", template(a=thing(wait_secs=5)))
    found = await world.call("stack_identify", ref=ref("web"))
    before: Stack | None = await world.engine.services.database.read(queries.stack_by_id, found["id"])
    assert before is not None
    await world.call("stack_delete", ref=ref("web"))
    late = requested_operation(world.engine.services, world.context, before, "UPDATE", before.inputs)
    with pytest.raises(NotSupported, match="DELETE_IN_PROGRESS"):
        await world.engine.submissions.submit(before, late, guard=guard("update"))
    assert state(await world.settle(found["id"])) == "DELETE_COMPLETE"
    (deletion, _creation) = await world.call("operation_list", ref={"name": None, "id": found["id"]})
    assert deletion["action"] == "DELETE"


async def test_actions_are_refused_during_operation(world: World) -> None:
    view = await world.call("stack_create", name="web", template=template(a=thing(wait_secs=20)))
    for action in ("suspend", "resume", "check"):
        with pytest.raises(ActionInProgress, match="CREATE"):
            await world.call("stack_action", ref=ref("web"), action=action)
    assert state(await world.settle(view["id"])) == "CREATE_COMPLETE"


async def test_an_interrupted_change_of_a_nested_stack_gives_way_to_the_newer_one(world: World) -> None:
    def child(value: str, wait: int) -> dict[str, str]:
        return nested_file(leaf=thing(value, wait_secs=wait))

    parent = template(nested={"type": "child.yaml"})
    await world.create("web", parent, files=child("old", 0))
    await world.call("stack_update", ref=ref("web"), template=parent, files=child("slow", 500))
    runs = world.engine.runs
    await world.until(lambda: len(runs) == 2 and all(run.planning.plan for run in runs.values()))
    began = world.clock.now()
    stack = await world.update("web", parent, files=child("newest", 1))
    assert state(stack) == "UPDATE_COMPLETE"
    nested = (await world.resources("web"))["nested"]
    shown = await world.call("stack_template", ref={"name": None, "id": nested["nested_id"]})
    assert shown["resources"]["leaf"]["properties"]["value"] == "newest"
    leaf = await world.call("resource_show", ref={"name": None, "id": nested["nested_id"]}, name="leaf")
    assert leaf["attributes"]["output"] == "newest"
    assert world.clock.now() - began < 1000


# -- health --------------------------------------------------------------------------------------------------------


async def test_check_reports_missing_objects(world: World) -> None:
    await world.create("web", template(a=thing(fail=True), b=thing("x", "a")))
    stack = await act(world, "web", "check")
    assert state(stack) == "CHECK_FAILED"
    assert "resources.b: it has not been created" in stack["status_reason"]


async def test_a_check_of_a_creation_that_was_refused_tells_that_nothing_was_made(world: World) -> None:
    subnet = {"type": "OS::Neutron::Subnet", "properties": {"network": {"get_resource": "net"}, "cidr": "10.7.0.0/24"}}
    await world.create("web", template(net=net(), first=subnet, second=subnet))
    assert await world.resources("web") == {}
    stack = await act(world, "web", "check")
    assert state(stack) == "CHECK_FAILED"
    assert "resources.net: it has not been created" in stack["status_reason"]


async def test_a_resource_whose_creation_failed_stays_failed_after_checks(world: World) -> None:
    subnet: dict[str, Any] = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.7.0.0/24"},
    }
    made = template(net=net(), first=subnet, second={**subnet, "depends_on": "first"})
    await world.create("web", made, preflight=False)
    stack = await act(world, "web", "check")
    assert state(stack) == "CHECK_FAILED"
    assert "resources.second: its creation has not finished: " in stack["status_reason"]
    assert state((await world.resources("web"))["second"]) == "CREATE_FAILED"
    await world.call("resource_mark_unhealthy", ref=ref("web"), name="second", mark_unhealthy=True)
    with pytest.raises(BadValue, match="The resource second has no object"):
        await world.call("resource_mark_unhealthy", ref=ref("web"), name="second", mark_unhealthy=False)
    made["resources"]["second"]["properties"] = {**subnet["properties"], "cidr": "10.8.0.0/24"}
    assert state(await world.update("web", made)) == "UPDATE_COMPLETE"
    assert (await world.resources("web"))["second"]["physical_id"]


async def test_a_check_keeps_a_resource_failed_whose_deletion_failed(world: World) -> None:
    subnet: dict[str, Any] = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.7.0.0/24"},
    }
    await world.create("web", template(net=net(), gone=subnet))
    trouble = fail(world, "DELETE /network/v2.0/subnets/*", status=500)
    assert state(await world.update("web", template(net=net()))) == "UPDATE_FAILED"
    mend(world, trouble)
    stack = await act(world, "web", "check")
    assert state(stack) == "CHECK_FAILED"
    assert "resources.gone: its deletion has begun: " in stack["status_reason"]
    assert state(await world.update("web", template(net=net()))) == "UPDATE_COMPLETE"
    assert set(await world.resources("web")) == {"net"}


async def test_snapshot_excludes_incomplete_resources(world: World) -> None:
    view = await world.call("stack_create", name="web", template=template(slow=thing(wait_secs=500)))
    await world.until(lambda: any(run.waiting.paused for run in world.engine.runs.values()))
    [slow] = world.engine.runs[view["id"]].states.values()
    assert slow.in_progress
    assert (takes_part("SNAPSHOT", slow), takes_part("CHECK", slow)) == (False, True)


async def test_check_names_uncheckable_resources(world: World) -> None:
    config = {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}}
    word = {"type": "OS::Heat::RandomString"}  # nothing but a record
    files = {"child.yaml": json.dumps(template(config=config))}
    await world.create("web", template(a=thing(), word=word, config=config, nested={"type": "child.yaml"}), files=files)
    stack = await act(world, "web", "check")
    assert state(stack) == "CHECK_COMPLETE"
    assert stack["status_reason"].endswith(
        "but 2 of 2 resources were not checked, since their types have no check: "
        "config (OS::Heat::SoftwareConfig), nested.config (OS::Heat::SoftwareConfig)"
    )
    await world.update("web", template(a=thing(), word=word))
    assert (await act(world, "web", "check"))["status_reason"] == "Stack CHECK completed successfully"


async def test_unhealthy_nested_resource_is_replaced_by_root_update(world: World) -> None:
    files = nested_file(leaf=thing(), well=thing())
    made = template(nested={"type": "child.yaml"})
    await world.create("web", made, files=files)
    before = await world.resources("web", 1)
    inner = {"name": None, "id": before["nested"]["nested_id"]}
    await world.call("resource_mark_unhealthy", ref=inner, name="leaf", mark_unhealthy=True)
    await world.update("web", made, files=files)
    after = await world.resources("web", 1)
    assert after["nested"]["physical_id"] == before["nested"]["physical_id"]
    assert after["well"]["physical_id"] == before["well"]["physical_id"]
    assert after["leaf"]["physical_id"] != before["leaf"]["physical_id"]


async def test_a_nested_stack_that_is_marked_itself_is_replaced_whole(world: World) -> None:
    files = nested_file(leaf=thing())
    made = template(nested={"type": "child.yaml"})
    await world.create("web", made, files=files)
    before = (await world.resources("web"))["nested"]["physical_id"]
    await world.call("resource_mark_unhealthy", ref=ref("web"), name="nested", mark_unhealthy=True)
    stack = await world.update("web", made, files=files)
    assert state(stack) == "UPDATE_COMPLETE"
    assert (await world.resources("web"))["nested"]["physical_id"] != before


# -- the cloud as it is --------------------------------------------------------------------------------------------


async def converge(world: World, name: str, made: Any, **arguments: Any) -> dict[str, Any]:
    return await world.update(name, made, converge=True, **arguments)


async def test_refreshing_update_reverts_drift_and_recreates_objects(world: World) -> None:
    made = template(kept=net(name="kept"), drifted=net(name="mine"), lost=net())
    await world.create("web", made)
    before = await world.resources("web")
    served, token = world.served, world.served.token("demo", "demo")
    path = f"{NETWORKS}/{before['drifted']['physical_id']}"
    assert served.call("PUT", path, {"network": {"name": "yours"}}, token).status == 200
    assert served.call("DELETE", f"{NETWORKS}/{before['lost']['physical_id']}", None, token).status == 204
    await world.update("web", made)
    assert await world.resources("web") == before
    stack = await converge(world, "web", made)
    assert state(stack) == "UPDATE_COMPLETE"
    after = await world.resources("web")
    assert after["kept"] == before["kept"]
    assert after["drifted"]["physical_id"] == before["drifted"]["physical_id"]
    assert after["lost"]["physical_id"] != before["lost"]["physical_id"]
    assert served.call("GET", path, None, token).json["network"]["name"] == "mine"


async def test_refreshing_preview_equals_the_update(world: World) -> None:
    files = nested_file(inner=net(name="inner"))
    made = template(drifted=net(name="mine"), lost=net(), nested={"type": "child.yaml"})
    await world.create("web", made, files=files)
    before = await world.resources("web", 1)
    served, token = world.served, world.served.token("demo", "demo")
    for name in ("drifted", "inner"):
        path = f"{NETWORKS}/{before[name]['physical_id']}"
        assert served.call("PUT", path, {"network": {"name": "yours"}}, token).status == 200

    async def plan(**arguments: Any) -> dict[str, Any]:
        asked = {"ref": ref("web"), "template": made, "files": files, "show_nested": True, **arguments}
        return dict((await world.call("stack_update_preview", **asked))["plan"])

    def kinds(found: dict[str, Any]) -> dict[str, str]:
        return {step["path"]: step["kind"] for step in found["steps"] if step["kind"] != "keep"}

    assert kinds(await plan(refresh="none")) == {}
    found = await plan(converge=True)
    assert kinds(found) == {"drifted": "update", "nested": "update", "nested.inner": "update"}
    (change,) = next(step for step in found["steps"] if step["path"] == "drifted")["changes"]
    assert (change["before"], change["after"]) == ("yours", "mine")
    assert served.call("DELETE", f"{NETWORKS}/{before['lost']['physical_id']}", None, token).status == 204
    assert await world.resources("web", 1) == before
    with pytest.raises(PlanOutdated, match="objects in the cloud have changed"):
        await converge(world, "web", made, files=files, plan_digest=found["digest"])
    found = await plan(converge=True)
    assert {"create", "delete"} == {step["kind"] for step in found["steps"] if step["path"] == "lost"}
    stack = await converge(world, "web", made, files=files, plan_digest=found["digest"])
    assert state(stack) == "UPDATE_COMPLETE"
    assert kinds(await plan(converge=True)) == {}


async def test_refreshing_preview_lists_uncompared_resources(world: World) -> None:
    """An object of another owner, a service that does not answer, a type and properties without comparison."""
    served, token = world.served, world.served.token("demo", "demo")
    external = served.call("POST", NETWORKS, {"network": {"name": "theirs"}}, token).json["network"]["id"]
    given = {"flavor": "m1.small", "image": "cirros-0.6.2-x86_64-disk", "networks": [{"allocate_network": "none"}]}
    server = {"type": "OS::Nova::Server", "properties": given}
    files = nested_file(inner=server, random={"type": "OS::Heat::RandomString"})
    made = template(
        net=net(name="mine"),
        theirs={"type": "OS::Neutron::Net", "external_id": external},
        volume={"type": "OS::Cinder::Volume", "properties": {"size": 1}},
        nested={"type": "child.yaml"},
        key={"type": "OS::Nova::KeyPair", "properties": {"name": "k", "save_private_key": True}},
        secret={"type": "OS::Barbican::Secret", "properties": {"payload": "swordfish"}},
        signed={"type": "AWS::IAM::User"},
    )
    await world.create("web", made, files=files)

    async def plan(**arguments: Any) -> dict[str, Any]:
        asked = {"ref": ref("web"), "template": made, "files": files, **arguments}
        return dict((await world.call("stack_update_preview", **asked))["plan"])

    def omitted(found: dict[str, Any]) -> set[tuple[Any, ...]]:
        return {
            (each["path"], each["type"], each["cause"], *each["properties"])
            for each in found["compared"]["not_compared"]
        }

    assert "compared" not in await plan(refresh="none")
    found = await plan(converge=True)
    counted = {name: found["compared"][name] for name in ("resources", "in_sync", "differing")}
    # Neither the nested stack nor the random string counts.
    assert counted == {"resources": 7, "in_sync": 4, "differing": 0}
    expected = {
        ("theirs", "OS::Neutron::Net", "external"),
        ("signed", "AWS::IAM::User", "type"),
        ("secret", "OS::Barbican::Secret", "properties", "payload"),
    }
    assert omitted(found) == expected
    world.in_cloud(lambda: served.cloud.faults.add(Fault(on="GET /volume/*", do="fail", status=503)))
    assert omitted(await plan(converge=True)) == {*expected, ("volume", "OS::Cinder::Volume", "service")}


async def test_refresh_includes_nested_stacks(world: World) -> None:
    files = nested_file(inner=net())
    made = template(nested={"type": "child.yaml"})
    await world.create("web", made, files=files)
    before = await world.resources("web", 1)
    token = world.served.token("demo", "demo")
    world.served.call("DELETE", f"{NETWORKS}/{before['inner']['physical_id']}", None, token)
    await converge(world, "web", made, files=files)
    after = await world.resources("web", 1)
    assert after["inner"]["physical_id"] != before["inner"]["physical_id"]
    assert after["nested"]["physical_id"] == before["nested"]["physical_id"]


# -- conflicts -----------------------------------------------------------------------------------------------------


async def test_a_refused_deletion_names_what_uses_the_object(world: World) -> None:
    pool = {"type": "OS::Neutron::SubnetPool", "properties": {"prefixes": ["10.77.0.0/16"], "default_prefixlen": 24}}
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
    await world.create("web", template(volume=volume, pool=pool))
    await world.create("other", template(net=net()))
    owned = await world.resources("web")
    token = world.served.token("demo", "demo")

    def made(path: str, member: str, **fields: Any) -> str:
        answer = world.served.call("POST", path, {member: fields}, token)
        identifier: str = answer.json[member]["id"]
        return identifier

    held = owned["volume"]["physical_id"]
    snapshot = made("/volume/v3/snapshots", "snapshot", volume_id=held, name="foreign")
    network = (await world.resources("other"))["net"]["physical_id"]
    fields = {"network_id": network, "subnetpool_id": owned["pool"]["physical_id"], "ip_version": 4}
    subnet = made("/network/v2.0/subnets", "subnet", **fields)
    stack = await world.delete("web")
    assert state(stack) == "DELETE_FAILED"
    reasons = {name: each["status_reason"] for name, each in (await world.resources("web")).items()}
    assert reasons["volume"].endswith(f"; it is in use by snapshot 'foreign' {snapshot}")
    assert reasons["pool"].endswith(f"; it is in use by subnet {subnet}")


async def test_a_deletion_waits_for_what_uses_the_object_and_names_it(world: World) -> None:
    await world.create("web", template(net=net()))
    network = (await world.resources("web"))["net"]["physical_id"]
    token = world.served.token("demo", "demo")
    body = {"port": {"network_id": network, "name": "foreign"}}
    port = world.served.call("POST", "/network/v2.0/ports", body, token).json["port"]["id"]
    stack = await world.delete("web")
    assert state(stack) == "DELETE_FAILED"
    assert f"it is in use by port 'foreign' {port}" in stack["status_reason"]
    assert "of project" not in stack["status_reason"]
    events = await world.call("event_list", ref=ref("web"), resource_name="net")
    waiting = [event for event in events if event["status_reason"].startswith("waiting until it is free")]
    assert len(waiting) == 1
    await world.call("stack_delete", ref=ref("web"))
    await world.until(lambda: stack["id"] in world.engine.runs)
    world.served.call("DELETE", f"/network/v2.0/ports/{port}", None, token)
    assert state(await world.settle(stack["id"])) == "DELETE_COMPLETE"


async def test_object_preventing_deletion_is_named_with_project(world: World) -> None:
    """A stack of another project is not."""
    await world.create("web", template(net=net()))
    network = (await world.resources("web"))["net"]["physical_id"]
    token = world.served.token("admin", "admin")
    body = {"port": {"network_id": network, "name": "foreign"}}
    port = world.served.call("POST", "/network/v2.0/ports", body, token).json["port"]
    stack = await world.delete("web")
    assert f"port 'foreign' {port['id']} of project {port['project_id']}" in stack["status_reason"]
    own = (await world.call("stack_show", ref=ref("web")))["project_id"]
    assert await world.database.read(queries.resources_behind, [network], own) == {network: ("web", "net")}
    assert await world.database.read(queries.resources_behind, [network], port["project_id"]) == {}


async def test_object_in_error_is_retried_and_first_failure_reported(world: World) -> None:
    first = fail(world, f"POST {NETWORKS}", 409, times=1, message="first")
    later = fail(world, f"POST {NETWORKS}", 409, message="later")
    stack = await world.create("web", template(net=net()))
    assert state(stack) == "CREATE_FAILED"
    assert "first" in stack["status_reason"] and "later" not in stack["status_reason"]
    assert (first.hits, later.hits) == (1, world.settings.action_retry_limit)


# -- history -------------------------------------------------------------------------------------------------------


async def test_the_history_has_callers_actions_and_results(world: World) -> None:
    await world.create("web", template(a=thing("old")))
    await world.update("web", template(a=thing("new"), b=thing(fail=True)))
    second, first = await world.call("operation_list", ref=ref("web"))
    assert (first["action"], first["status"], second["action"], second["status"]) == (
        "CREATE", "COMPLETE", "UPDATE", "FAILED",
    )  # fmt: skip
    assert second["user_name"] == "demo" and second["request_id"] == world.context.request_id
    assert second["duration"] is not None and "resources.b" in second["reason"]
    shown = await world.call("operation_show", ref=ref("web"), operation_id=second["id"])
    assert {(step["kind"], step["path"]) for step in shown["plan"]["steps"]} == {("update", "a"), ("create", "b")}
    page = await world.call("operation_list", ref=ref("web"), limit=1)
    assert [entry["id"] for entry in page] == [second["id"]]
    rest = await world.call("operation_list", ref=ref("web"), limit=1, marker=second["id"])
    assert [entry["id"] for entry in rest] == [first["id"]]
    with pytest.raises(EntityNotFound):
        await world.call("operation_show", ref=ref("web"), operation_id="nothing")


async def test_the_stored_plan_shows_no_secrets(world: World) -> None:
    made = template(a=thing({"get_param": "password"}))
    made["parameters"] = {"password": {"type": "string", "hidden": True}}
    await world.create("web", made, parameters={"password": "s3cr3t-w0rd"})
    (entry,) = await world.call("operation_list", ref=ref("web"))
    shown = await world.call("operation_show", ref=ref("web"), operation_id=entry["id"])
    assert "s3cr3t-w0rd" not in str(shown)
    assert shown["plan"]["summary"] == {"create": 1}


# -- time ----------------------------------------------------------------------------------------------------------


async def test_a_nested_stack_has_no_more_time_than_its_parent(world: World) -> None:
    files = nested_file(leaf=thing(wait_secs=1000))
    stack = await world.create("web", template(nested={"type": "child.yaml"}), files=files, timeout_mins=1)
    assert state(stack) == "CREATE_FAILED"
    rows = await world.resources("web", 1)
    assert {row["status"] for row in rows.values()} == {"FAILED"}
