"""What creations and removals that failed have left: it is found, makes room, and goes."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.store.tables import resources, stacks
from stoker_foundation.clock import ManualClock
from testing.harness import World

KEYS = "/compute/v2.1/os-keypairs"
NETWORKS = "/network/v2.0/networks"


def template(type_: str, **properties: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": {"thing": {"type": type_, "properties": properties}}}


KEY = template("OS::Nova::KeyPair", name="only-once")
NETWORK = template("OS::Neutron::Net", name="known")


def fails(served: ServedCloud, on: str, do: str = "fail", status: int = 403) -> Any:
    """Let calls fail until `works` accepts the answer."""
    return served.do(lambda: served.cloud.faults.add(Fault(on=on, do=do, status=status)))


def works(served: ServedCloud, *rules: Any) -> None:
    for rule in rules:
        served.do(partial(served.cloud.faults.remove, rule.id))


def there(served: ServedCloud, path: str) -> int:
    return served.call("GET", path, token=served.token("demo", "demo")).status


def named(served: ServedCloud, name: str) -> list[str]:
    """Ids of the networks of that name."""
    answer = served.call("GET", f"{NETWORKS}?name={name}", token=served.token("demo", "demo"))
    return [network["id"] for network in answer.json["networks"]]


def owned(served: ServedCloud) -> list[str]:
    """Ids of the networks whose name Stoker has chosen."""
    answer = served.call("GET", NETWORKS, token=served.token("demo", "demo"))
    return [network["id"] for network in answer.json["networks"] if network["name"].startswith("web-thing-")]


async def test_a_resource_whose_deletion_failed_is_deleted_before_its_name_is_reused(
    world: World, served: ServedCloud
) -> None:
    await world.create("web", KEY)
    refusal = fails(served, f"DELETE {KEYS}/*")
    gone = await world.update("web", {"heat_template_version": "2021-04-16"})
    assert gone["status"] == "FAILED"
    works(served, refusal)

    stack = await world.update("web", KEY)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert there(served, f"{KEYS}/only-once") == 200
    await world.delete("web")
    assert there(served, f"{KEYS}/only-once") == 404


async def test_an_object_of_a_creation_with_unknown_outcome_is_deleted_before_its_name_is_reused(
    world: World, served: ServedCloud
) -> None:
    """The keypair was made, Nova said that it had failed, and could not be asked about it, nor at the removal."""
    troubles = [fails(served, f"POST {KEYS}", "succeed_but_fail", 500), fails(served, f"GET {KEYS}/*")]
    assert (await world.create("web", KEY))["status"] == "FAILED"
    assert (await world.update("web", {"heat_template_version": "2021-04-16"}))["status"] == "FAILED"
    works(served, *troubles)

    stack = await world.update("web", KEY)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    await world.delete("web")
    assert there(served, f"{KEYS}/only-once") == 404


async def test_object_of_failed_creation_is_found_by_later_removal(world: World, served: ServedCloud) -> None:
    troubles = [fails(served, f"POST {NETWORKS}", "succeed_but_fail", 500), fails(served, f"GET {NETWORKS}")]
    assert (await world.create("web", NETWORK))["status"] == "FAILED"
    works(served, *troubles)
    assert len(named(served, "known")) == 1

    assert isinstance(world.clock, ManualClock)
    world.clock.advance(24 * 3600.0)
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert named(served, "known") == []


@pytest.mark.parametrize("definition", [KEY, NETWORK, template("OS::Heat::TestResource", fail=True)])
async def test_resource_without_object_is_removed(
    world: World, served: ServedCloud, definition: dict[str, Any]
) -> None:
    troubles = [fails(served, f"POST {path}", status=400) for path in (KEYS, NETWORKS)]
    assert (await world.create("web", definition))["status"] == "FAILED"
    if definition["resources"]["thing"]["type"] != "OS::Heat::TestResource":
        again = await world.update("web", definition)
        assert again["status"] == "FAILED", "what was never created is removed before it is created again"
        assert len(await world.resources("web")) == 1
        works(served, *troubles)
        assert (await world.update("web", definition))["status"] == "COMPLETE"
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert there(served, f"{KEYS}/only-once") == 404
    assert named(served, "known") == []


async def test_missing_collection_means_no_object(world: World, served: ServedCloud) -> None:
    absent = fails(served, f"* {NETWORKS}", status=404)
    created = await world.create("web", NETWORK)
    assert (created["action"], created["status"]) == ("CREATE", "FAILED")
    await world.delete("web")
    works(served, absent)
    assert named(served, "known") == []


async def test_a_mark_is_removed_when_the_replacement_cannot_be_made(world: World, served: ServedCloud) -> None:
    ref = {"name": "web", "id": None}
    await world.create("web", KEY)
    await world.call("resource_mark_unhealthy", ref=ref, name="thing", mark_unhealthy=True)
    refusal = fails(served, f"POST {KEYS}", status=400)
    assert (await world.update("web", KEY))["status"] == "FAILED"
    assert there(served, f"{KEYS}/only-once") == 404
    works(served, refusal)

    await world.call("resource_mark_unhealthy", ref=ref, name="thing", mark_unhealthy=False)
    assert (await world.update("web", KEY))["status"] == "COMPLETE"
    assert there(served, f"{KEYS}/only-once") == 200
    shown = await world.call("resource_show", ref=ref, name="thing")
    assert (shown["action"], shown["status"]) == ("CHECK", "COMPLETE"), "it is the one that was marked"


async def test_unhealthy_mark_keeps_search_for_interrupted_creation(world: World, served: ServedCloud) -> None:
    """The engine died before it recorded the object, and the operation was cancelled before another one resumed it."""
    definition = template("OS::Neutron::Net")
    await world.create("web", definition)
    begun = {"status": "IN_PROGRESS", "physical_id": None}
    with world.database.writing() as connection:
        connection.execute(update(resources).values(begun))
        connection.execute(update(stacks).values({"status": "FAILED"}))
    [made] = owned(served)
    await world.call("resource_mark_unhealthy", ref={"name": "web", "id": None}, name="thing", mark_unhealthy=True)
    assert (await world.update("web", definition))["status"] == "COMPLETE"
    [left] = owned(served)
    assert left == (await world.resources("web"))["thing"]["physical_id"] != made


async def test_an_object_prepared_for_replacement_is_restored_before_it_is_used_again(
    world: World, served: ServedCloud
) -> None:
    """Nothing came of the replacement, not even a record: its user has changed their mind in time."""
    await world.create("web", KEY)
    ref = {"name": "web", "id": None}
    await world.call("resource_mark_unhealthy", ref=ref, name="thing", mark_unhealthy=True)
    lost = fails(served, f"DELETE {KEYS}/*", "succeed_but_fail", 403)
    assert (await world.update("web", KEY))["status"] == "FAILED"
    works(served, lost)
    assert there(served, f"{KEYS}/only-once") == 404

    await world.call("resource_mark_unhealthy", ref=ref, name="thing", mark_unhealthy=False)
    assert (await world.update("web", KEY))["status"] == "COMPLETE"
    assert there(served, f"{KEYS}/only-once") == 200


SUBNETS = "/network/v2.0/subnets"
NET_AND_SUBNET = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "thing": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
        },
    },
}


async def test_a_failed_object_is_deleted_before_its_replacement_is_created_after_a_failed_deletion(
    world: World, served: ServedCloud
) -> None:
    """A network takes only one subnet of an address range, which is not found when it is to be removed."""
    trouble = fails(served, f"POST {SUBNETS}", "succeed_but_fail", 500), fails(served, f"GET {SUBNETS}", status=500)
    assert (await world.create("web", NET_AND_SUBNET))["status"] == "FAILED"
    assert (await world.update("web", NET_AND_SUBNET))["status"] == "FAILED"
    works(served, *trouble)

    stack = await world.update("web", NET_AND_SUBNET)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    found = served.call("GET", f"{SUBNETS}?cidr=10.9.0.0/24", token=served.token("demo", "demo"))
    assert len(found.json["subnets"]) == 1


async def test_removal_repeats_failed_object_search(world: World, served: ServedCloud) -> None:
    trouble = fails(served, f"POST {NETWORKS}", "succeed_but_fail", 500), fails(served, f"GET {NETWORKS}", status=500)
    assert (await world.create("web", NETWORK))["status"] == "FAILED"
    assert (await world.delete("web"))["status"] == "FAILED"
    works(served, *trouble)
    assert len(named(served, "known")) == 1

    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert named(served, "known") == []


def renamed(name: str) -> dict[str, Any]:
    return template("OS::Neutron::Net", name=name)


@pytest.mark.parametrize("do", ["fail", "succeed_but_fail"])
async def test_failed_update_is_remembered_across_other_actions(world: World, served: ServedCloud, do: str) -> None:
    ref = {"name": "web", "id": None}
    await world.create("web", renamed("first"))
    trouble = fails(served, f"PUT {NETWORKS}/*", do, 500)
    stack = await world.update("web", renamed("second"))
    assert stack["status"] == "FAILED"
    works(served, trouble)
    await world.call("stack_action", ref=ref, action="check")
    assert (await world.settle(stack["id"]))["status"] == "COMPLETE"

    assert (await world.update("web", renamed("second")))["status"] == "COMPLETE"
    assert (len(named(served, "first")), len(named(served, "second"))) == (0, 1)


@pytest.mark.parametrize("do", ["fail", "succeed_but_fail"])
async def test_properties_of_failed_update_are_restored(world: World, served: ServedCloud, do: str) -> None:
    await world.create("web", renamed("first"), disable_rollback=False)
    served.do(lambda: served.cloud.faults.add(Fault(on=f"PUT {NETWORKS}/*", do=do, status=500, times=1)))

    stack = await world.update("web", renamed("second"))

    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE")
    assert (len(named(served, "first")), len(named(served, "second"))) == (1, 0)


async def test_user_project_is_recreated_after_uncertain_removal(world: World, served: ServedCloud) -> None:
    handle = template("OS::Heat::WaitConditionHandle", signal_transport="NO_SIGNAL")
    made = await world.create("web", handle)
    former = (await world.call("stack_show", ref={"name": "web", "id": None}))["stack_user_project_id"]
    trouble = fails(served, "DELETE /identity/v3/projects/*", "succeed_but_fail", 500)
    await world.call("stack_delete", ref={"name": "web", "id": None})
    assert (await world.settle(made["id"]))["status"] == "FAILED"
    works(served, trouble)
    await world.call("stack_action", ref={"name": "web", "id": None}, action="check")
    await world.settle(made["id"])

    stack = await world.update("web", handle)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert stack["stack_user_project_id"] != former


HANDLE = template("OS::Heat::WaitConditionHandle")
PROJECTS = "DELETE /identity/v3/projects/*"


@pytest.mark.parametrize(("do", "status"), [("fail", 503), ("rate_limit", 429), ("fail", 409), ("fail", 502)])
async def test_the_removal_of_the_project_of_a_stacks_users_is_repeated(
    world: World, served: ServedCloud, do: str, status: int
) -> None:
    made = await world.create("web", HANDLE)
    project = (await world.call("stack_show", ref={"name": "web", "id": None}))["stack_user_project_id"]
    served.do(lambda: served.cloud.faults.add(Fault(on=PROJECTS, do=do, status=status, times=3)))
    assert (await world.delete("web"))["status"] == "COMPLETE", made
    answer = served.call("GET", f"/identity/v3/projects/{project}", token=served.token("admin", "admin"))
    assert answer.status == 404


async def test_deletion_times_out_during_user_project_removal(world: World, served: ServedCloud) -> None:
    made = await world.create("web", HANDLE, timeout_mins=1)
    fails(served, PROJECTS, status=503)
    gone = await world.delete("web")
    assert (gone["status"], gone["status_reason"]) == ("FAILED", "Timed out"), made


async def test_lasting_conflict_fails_deletion_with_service_message(world: World, served: ServedCloud) -> None:
    await world.create("web", HANDLE)
    fails(served, PROJECTS, status=409)
    gone = await world.delete("web")
    assert gone["status"] == "FAILED"
    assert "HTTP 409" in gone["status_reason"]


def subnet(cidr: str) -> dict[str, Any]:
    """A network with a subnet; Neutron refuses two subnets of a network whose addresses overlap."""
    net = {"type": "OS::Neutron::Net"}
    thing = {"type": "OS::Neutron::Subnet", "properties": {"network": {"get_resource": "net"}, "cidr": cidr}}
    return {"heat_template_version": "2021-04-16", "resources": {"net": net, "thing": thing}}


WITHOUT_SUBNET = {"heat_template_version": "2021-04-16", "resources": {"net": {"type": "OS::Neutron::Net"}}}


def ranges(served: ServedCloud) -> list[str]:
    """The address ranges of the project's subnets."""
    answer = served.call("GET", SUBNETS, token=served.token("demo", "demo"))
    return sorted(found["cidr"] for found in answer.json["subnets"] if found["cidr"].startswith("10.9."))


@pytest.mark.parametrize("again", ["10.9.0.0/24", "10.9.0.0/23"])
async def test_a_resource_whose_deletion_failed_is_deleted_before_a_conflicting_one_is_created(
    world: World, served: ServedCloud, again: str
) -> None:
    await world.create("web", subnet("10.9.0.0/24"))
    refusal = fails(served, f"DELETE {SUBNETS}/*")
    assert (await world.update("web", WITHOUT_SUBNET))["status"] == "FAILED"
    works(served, refusal)

    stack = await world.update("web", subnet(again))

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert ranges(served) == [again]
    assert len(await world.resources("web")) == 2


async def test_creation_with_failed_rollback_can_be_repeated(world: World, served: ServedCloud) -> None:
    definition = subnet("10.9.0.0/24")
    definition["resources"]["key"] = {"type": "OS::Nova::KeyPair", "properties": {"name": "only-once"}}
    definition["resources"]["key"]["depends_on"] = "thing"
    trouble = fails(served, f"POST {KEYS}", status=400), fails(served, f"DELETE {SUBNETS}/*")
    stack = await world.create("web", definition, disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "FAILED")
    works(served, *trouble)

    stack = await world.update("web", definition)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert ranges(served) == ["10.9.0.0/24"]


async def test_rollback_reuses_resource_whose_removal_failed(world: World, served: ServedCloud) -> None:
    """The former subnet is neither the one that serves now, nor one that anybody could go back to."""
    await world.create("web", subnet("10.9.0.0/24"), disable_rollback=False)
    served.do(lambda: served.cloud.faults.add(Fault(on=f"DELETE {SUBNETS}/*", do="fail", status=403, times=1)))

    stack = await world.update("web", subnet("10.9.1.0/24"))

    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE"), stack["status_reason"]
    assert ranges(served) == ["10.9.0.0/24"]


async def test_a_resource_that_cannot_be_deleted_does_not_prevent_another_creation(
    world: World, served: ServedCloud
) -> None:
    await world.create("web", subnet("10.9.0.0/24"))
    refusal = fails(served, f"DELETE {SUBNETS}/*")
    assert (await world.update("web", WITHOUT_SUBNET))["status"] == "FAILED"

    assert (await world.update("web", subnet("10.9.1.0/24")))["status"] == "FAILED"
    assert ranges(served) == ["10.9.0.0/24", "10.9.1.0/24"]

    works(served, refusal)
    assert (await world.update("web", subnet("10.9.1.0/24")))["status"] == "COMPLETE"
    assert ranges(served) == ["10.9.1.0/24"]


async def test_leftover_removal_waits_for_resource_of_the_same_name(world: World, served: ServedCloud) -> None:
    """If it is created again after all, what is left is removed first; the two never remove it at the same time."""
    await world.create("web", subnet("10.9.0.0/24"))
    refusal = fails(served, f"DELETE {SUBNETS}/*")
    assert (await world.update("web", subnet("10.9.1.0/24")))["status"] == "FAILED"
    works(served, refusal)

    answer = await world.call("stack_update_preview", ref={"name": "web", "id": None}, template=subnet("10.9.1.0/24"))

    steps = {step["kind"]: step for step in answer["plan"]["steps"] if step["path"] == "thing"}
    assert sorted(steps) == ["delete", "keep"]
    assert steps["keep"]["key"] in steps["delete"]["after"]


async def test_check_keeps_failed_and_marked_resource_unhealthy(world: World, served: ServedCloud) -> None:
    group = template("OS::Nova::ServerGroup", policies=["affinity"])
    refusal = fails(served, "POST /compute/v2.1/os-server-groups")
    made = await world.create("web", group)
    assert made["status"] == "FAILED"
    works(served, refusal)
    ref = {"name": "web", "id": None}
    await world.call("resource_mark_unhealthy", ref=ref, name="thing", mark_unhealthy=True)

    await world.call("stack_action", ref=ref, action="check")

    assert (await world.settle(made["id"]))["status"] == "FAILED"
    assert (await world.update("web", group))["status"] == "COMPLETE"
    assert (await world.resources("web"))["thing"]["physical_id"] is not None


async def test_missing_nested_stack_is_unhealthy_and_recreated(world: World) -> None:
    """The removal of a group continued in its own stack when its parent could not continue."""
    group = template("OS::Heat::ResourceGroup", count=2, resource_def={"type": "OS::Heat::RandomString"})
    made = await world.create("web", group)
    nested = (await world.resources("web"))["thing"]["physical_id"]
    await world.call("stack_delete", ref={"name": None, "id": nested})
    await world.until(lambda: not world.engine.runs)

    await world.call("stack_action", ref={"name": "web", "id": None}, action="check")

    checked = await world.settle(made["id"])
    assert (checked["status"], "does not exist" in checked["status_reason"]) == ("FAILED", True)
    assert (await world.update("web", group))["status"] == "COMPLETE"
    assert len(await world.resources("web", 1)) == 3
