"""What protects stacks from changes, over HTTP: locks, termination protection, stack policies."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from tests.api.rest_stacks import Stacks, template

NET = {"type": "OS::Neutron::Net"}
GROUP = {
    "type": "OS::Heat::AutoScalingGroup",
    "properties": {"min_size": 1, "max_size": 3, "resource": {"type": "OS::Heat::TestResource"}},
}
POLICY = {
    "type": "OS::Heat::ScalingPolicy",
    "properties": {
        "auto_scaling_group_id": {"get_resource": "group"},
        "adjustment_type": "change_in_capacity",
        "scaling_adjustment": 1,
    },
}
FAILING = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
LOCK = "/settings/lock"
DENIES = {
    "Statement": [
        {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
        {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/net"},
    ]
}


def lock(stacks: Stacks, reason: str = "the release of Friday") -> dict[str, Any]:
    answer = stacks.send("PUT", stacks.path + LOCK, {"reason": reason})
    assert answer.status_code == 200, answer.text
    locked: dict[str, Any] = answer.json()["locked"]
    return locked


def unlock(stacks: Stacks) -> None:
    assert stacks.send("DELETE", stacks.path + LOCK).status_code == 204


def test_locked_stack_refuses_changes_and_names_the_user(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    locked = lock(stacks)
    assert locked["reason"] == "the release of Friday" and locked["user_name"] == "demo"
    assert stacks.stack()["locked"] == locked
    [listed] = stacks.shown("")["stacks"]
    assert listed["locked"] == locked
    path, definition = stacks.path, {"template": template(net=NET, more=NET)}
    refused = [
        stacks.send("PUT", path, definition),
        stacks.send("PATCH", path, definition),
        stacks.send("DELETE", path),
        stacks.send("POST", f"{path}/actions", {"suspend": None}),
        stacks.send("POST", f"{path}/actions", {"check": None}),
        stacks.send("DELETE", f"{path}/abandon"),
    ]
    for answer in refused:
        assert answer.status_code == 409, answer.text
        error = answer.json()["error"]
        assert error["type"] == "StackLocked"
        assert f"locked by demo since {locked['since']}: the release of Friday." in error["message"]
    assert stacks.stack()["stack_status"] == "CREATE_COMPLETE" and list(stacks.objects()) == ["net"]
    assert stacks.send("PUT", f"{path}/preview", definition).status_code == 200
    unlock(stacks)
    assert "locked" not in stacks.stack()
    assert stacks.update(template(net=NET, more=NET))["stack_status"] == "UPDATE_COMPLETE"


def test_locked_stack_keeps_pending_changes(stacks: Stacks) -> None:
    stacks.create(template(net={**NET, "properties": {"admin_state_up": True}}))
    changed = {"network": {"admin_state_up": False}}
    token = stacks.world.served.token("demo", "demo")
    stacks.world.served.call("PUT", f"/network/v2.0/networks/{stacks.objects()['net']}", changed, token)
    lock(stacks)
    mark = {"mark_unhealthy": True, "resource_status_reason": "it is slow"}
    for method, path, body in (
        ("PATCH", f"{stacks.path}/resources/net", mark),
        ("POST", f"{stacks.path}/actions", {"accept_drift": {"resources": ["net"]}}),
    ):
        answer = stacks.send(method, path, body)
        assert answer.status_code == 409 and answer.json()["error"]["type"] == "StackLocked", answer.text
    assert stacks.shown(f"{stacks.path}/resources/net")["resource"]["resource_status"] == "CREATE_COMPLETE"
    unlock(stacks)
    assert stacks.send("PATCH", f"{stacks.path}/resources/net", mark).status_code == 200


def test_settings_without_immediate_effect_can_be_changed_on_locked_stack(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    lock(stacks)
    assert stacks.send("PUT", f"{stacks.path}/settings/protection", {"protected": True}).status_code < 300
    assert stacks.shown(f"{stacks.path}/settings")["settings"]["protected"] is True


def test_nested_stacks_are_locked_with_their_root(stacks: Stacks) -> None:
    stacks.create(template(group=GROUP))
    lock(stacks)
    nested = next(each for each in stacks.shown("?show_nested=true")["stacks"] if each["parent"])
    path = f"/{nested['stack_name']}/{nested['id']}"
    assert stacks.shown(path)["stack"]["locked"]["reason"] == "the release of Friday"
    assert stacks.shown(f"{path}/settings")["settings"]["locked"]["reason"] == "the release of Friday"
    answer = stacks.send("DELETE", path)
    assert answer.status_code == 409 and answer.json()["error"]["type"] == "StackLocked"
    for method, body in (("PUT", {"reason": "x"}), ("DELETE", None)):
        answer = stacks.send(method, path + LOCK, body)
        assert answer.status_code == 400 and "nested stack" in answer.json()["error"]["message"]


def test_signals_do_not_scale_a_locked_stack(stacks: Stacks) -> None:
    stacks.create(template(group=GROUP, policy=POLICY))
    signal = f"{stacks.path}/resources/policy/signal"

    def members() -> int:
        found = stacks.shown(f"{stacks.path}/resources?nested_depth=1")["resources"]
        return sum(each["resource_type"] == "OS::Heat::TestResource" for each in found)

    lock(stacks)
    answer = stacks.send("POST", signal, {})
    assert answer.status_code == 409 and answer.json()["error"]["type"] == "StackLocked", answer.text
    root = stacks.stack()["stack_name"]
    assert answer.json()["error"]["message"].startswith(f"Stack {root} is locked by demo")
    assert members() == 1
    unlock(stacks)
    assert stacks.send("POST", signal, {}).status_code == 200
    for each in stacks.shown("?show_nested=true")["stacks"]:
        stacks.world.settle(each["id"])
    assert members() == 2


def test_running_operation_and_its_rollback_continue_on_locked_stack(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    waits = {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 1, "fail": True}}
    body = {"template": template(net=NET, waits=waits), "disable_rollback": False}
    assert stacks.send("PUT", stacks.path, body).status_code == 202
    lock(stacks)
    stacks.world.settle(stacks.stack()["id"])
    assert stacks.stack()["stack_status"] == "ROLLBACK_COMPLETE"
    events = stacks.shown(f"{stacks.path}/events?resource_action=LOCK")["events"]
    assert [each["resource_status_reason"] for each in events] == ["Locked by demo: the release of Friday"]


def test_lock_reason_is_changed_only_by_its_user(stacks: Stacks, served: ServedCloud) -> None:
    stacks.create(template(net=NET))
    lock(stacks)
    assert lock(stacks, "another reason")["reason"] == "another reason"
    other = {"X-Auth-Token": served.token("admin", "demo")}
    answer = stacks.send("PUT", stacks.path + LOCK, {"reason": "mine"}, headers=other)
    assert answer.status_code == 409 and "locked by demo" in answer.json()["error"]["message"]
    assert stacks.send("DELETE", stacks.path + LOCK, headers=other).status_code == 204
    answer = stacks.send("DELETE", stacks.path + LOCK)
    assert answer.status_code == 409 and "is not locked" in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 1001}, {"reason": ["x"]}])
def test_a_lock_needs_a_reason(stacks: Stacks, body: Any) -> None:
    stacks.create(template(net=NET))
    assert stacks.send("PUT", stacks.path + LOCK, body).status_code == 400
    assert "locked" not in stacks.stack()


def test_a_protected_stack_is_not_deleted(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    protection = f"{stacks.path}/settings/protection"
    assert stacks.send("PUT", protection).status_code == 204
    assert stacks.shown(f"{stacks.path}/settings")["settings"] == {"protected": True, "policy": None, "locked": None}
    answer = stacks.send("DELETE", stacks.path)
    assert answer.status_code == 409 and "termination protection" in answer.json()["error"]["message"]
    assert stacks.update(template(net=NET, more=NET))["stack_status"] == "UPDATE_COMPLETE"
    assert stacks.send("DELETE", protection).status_code == 204
    assert stacks.send("DELETE", stacks.path).status_code == 204


def test_a_policy_says_which_updates_are_allowed(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    policy = f"{stacks.path}/settings/policy"
    effect: dict[str, Any] = {"policy": {"Statement": [{"Effect": "Perhaps"}]}}
    bodies: list[dict[str, Any]] = [{}, {"policy": None}, {"policy": {}}, effect]
    for wrong in bodies:
        assert stacks.send("PUT", policy, wrong).status_code == 400
    assert stacks.send("PUT", policy, {"policy": DENIES}).status_code == 204
    assert stacks.shown(f"{stacks.path}/settings")["settings"]["policy"] == DENIES
    definition = template(net={**NET, "properties": {"name": "changed"}})
    answer = stacks.send("PUT", stacks.path, {"template": definition})
    assert answer.status_code == 403 and "stack policy" in answer.json()["error"]["message"]
    assert stacks.send("DELETE", policy).status_code == 204
    assert stacks.update(definition)["stack_status"] == "UPDATE_COMPLETE"


def test_conflicting_operation_is_reported_with_user_and_start_time(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    waiting = {"type": "OS::Heat::WaitConditionHandle"}
    condition = {
        "type": "OS::Heat::WaitCondition",
        "properties": {"handle": {"get_resource": "handle"}, "timeout": 600},
    }
    path = stacks.path
    assert stacks.send("PUT", path, {"template": template(handle=waiting, condition=condition)}).status_code == 202
    second = {"template": template(net=NET), "supersede": False}
    for answer in (stacks.send("PUT", path, second), stacks.send("POST", f"{path}/snapshots", {})):
        assert answer.status_code == 409, answer.text
        message = answer.json()["error"]["message"]
        assert "already has an action (UPDATE) in progress" in message and " of demo runs since 20" in message
    assert stacks.send("DELETE", path).status_code == 204
