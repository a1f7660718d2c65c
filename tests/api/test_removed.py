"""Resources that leave a stack without their objects: `removed` in the environment of an update, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.rest_stacks import Stacks, moves, template

NET = {"type": "OS::Neutron::Net"}
SUBNET = {"type": "OS::Neutron::Subnet", "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"}}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
MEMBER = {
    "type": "OS::Heat::ResourceGroup",
    "properties": {"count": 2, "resource_def": {"type": "OS::Cinder::Volume", "properties": {"size": 1}}},
}
FAILING = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}


def removes(*names: str) -> dict[str, Any]:
    return {"removed": [{"from": name, "destroy": False} for name in names]}


def volumes(stacks: Stacks) -> set[str]:
    answer = stacks.served.call("GET", "/volume/v3/volumes?all_tenants=1", token=stacks.served.token())
    return {volume["id"] for volume in answer.json["volumes"]}


def test_removed_entry_makes_no_cloud_writes(stacks: Stacks) -> None:
    stacks.create(template(net=NET, old=VOLUME))
    had, before = stacks.objects(), stacks.writes()
    definition, environment = template(net=NET), removes("old")

    plan = stacks.plan(definition, environment)
    assert plan["summary"] == {"keep": 1, "forget": 1}
    assert [reason["code"] for reason in plan["steps"][-1]["reasons"]] == ["not-in-template", "forgotten"]
    assert stacks.update(definition, environment)["stack_status"] == "UPDATE_COMPLETE"

    assert stacks.objects() == {"net": had["net"]}
    assert stacks.writes() == before
    assert had["old"] in volumes(stacks)
    assert stacks.plan(definition, environment)["summary"] == {"keep": 1}  # the entry can stay


def test_another_resource_can_have_the_object_afterwards(stacks: Stacks) -> None:
    stacks.create(template(net=NET, old=VOLUME))
    had = stacks.objects()["old"]
    stacks.update(template(net=NET), removes("old"))
    document = {"template": template(v=VOLUME), "resources": {"v": {"resource_id": had, "name": "v"}}}
    adopted = stacks.send("POST", "", {"stack_name": "heir", "adopt_stack_data": json.dumps(document)})
    assert adopted.status_code == 201, adopted.text
    stacks.world.settle(adopted.json()["stack"]["id"])
    assert stacks.shown("/heir")["stack"]["stack_status"] == "ADOPT_COMPLETE"


def test_a_group_leaves_all_its_objects(stacks: Stacks) -> None:
    stacks.create(template(net=NET, group=MEMBER))
    made, before = volumes(stacks), stacks.writes()
    stacks.update(template(net=NET), removes("group"))
    assert list(stacks.objects()) == ["net"]
    assert (volumes(stacks), stacks.writes()) == (made, before)
    assert stacks.shown("?show_nested=true")["stacks"][1:] == []


def test_removed_resource_is_released_only_by_successful_update(stacks: Stacks) -> None:
    stacks.create(template(net=NET, sub=SUBNET, old=VOLUME, more=VOLUME))
    had = stacks.objects()
    plan = stacks.plan(template(net=NET, old=VOLUME), removes("more"))
    assert [(step["kind"], step["path"]) for step in plan["steps"][-2:]] == [("delete", "sub"), ("forget", "more")]
    failed = stacks.update(template(net=NET, sub=SUBNET, bad=FAILING), removes("old", "more"), disable_rollback=False)
    assert failed["stack_status"] == "ROLLBACK_COMPLETE"
    assert stacks.objects() == had


def test_rollback_ignores_earlier_removed_entries(stacks: Stacks) -> None:
    stacks.create(template(net=NET, old=VOLUME))
    stacks.update(template(net=NET), removes("old"))
    before = volumes(stacks)
    done = stacks.update(template(net=NET, old=VOLUME, bad=FAILING), None, disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE"
    assert volumes(stacks) == before


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (removes("net"), "the template has the resource net"),
        (removes("net.0"), "net is no nested stack: it has the type OS::Neutron::Net"),
        ({**removes("old"), **moves(old="net2")}, "the resource old is also moved to net2"),
        ({"removed": [{"from": "old"}]}, "the key 'destroy' is missing"),
        ({"removed": [{"from": "old", "destroy": True}]}, "removed[0].destroy: must be false"),
        ({"removed": [{"from": {"stack": "a"}, "destroy": False}]}, "must be the name of a resource of this stack"),
    ],
)
def test_impossible_removed_entries_are_refused(stacks: Stacks, environment: dict[str, Any], message: str) -> None:
    stacks.create(template(net=NET, old=VOLUME))
    assert message in stacks.refused(template(net=NET), environment)


def test_a_stack_policy_against_deletions_holds(stacks: Stacks) -> None:
    stacks.create(template(net=NET, old=VOLUME))
    statement = {"Effect": "Deny", "Action": "Update:Delete", "Principal": "*", "Resource": "*"}
    allowed = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
    call = stacks.world.world.call
    policy = {"Statement": [statement, allowed]}
    stacks.world.run(call("stack_settings_change", ref={"name": "web", "id": None}, changes={"policy": policy}))
    refused = stacks.send("PUT", stacks.path, {"template": template(net=NET), "environment": removes("old")})
    assert (refused.status_code, "Update:Delete of old" in refused.text) == (403, True)


def test_moved_resource_can_be_released_later(stacks: Stacks) -> None:
    stacks.create(template(net=NET, old=VOLUME))
    made = volumes(stacks)
    stacks.update(template(net=NET, older=VOLUME), moves(old="older"))
    both = {**moves(old="older"), **removes("older")}
    for _ in range(2):
        stacks.update(template(net=NET), both)
        assert (list(stacks.objects()), volumes(stacks)) == (["net"], made)
