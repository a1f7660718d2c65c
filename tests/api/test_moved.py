"""Resources that get another name: `moved` in the environment of an update, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.rest_stacks import Stacks, moves, template

NET = {"type": "OS::Neutron::Net", "properties": {"name": "shop"}}
UNNAMED = {"type": "OS::Neutron::Net"}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}


def subnet(net: str, **properties: Any) -> dict[str, Any]:
    values = {"network": {"get_resource": net}, "cidr": "10.1.0.0/24", **properties}
    return {"type": "OS::Neutron::Subnet", "properties": values}


def test_a_renamed_resource_keeps_its_object_without_a_write(stacks: Stacks) -> None:
    stacks.create(template(a=UNNAMED, sub=subnet("a"), v=VOLUME))
    had, before = stacks.objects(), stacks.writes()
    definition, environment = template(b=UNNAMED, sub=subnet("b"), v=VOLUME), moves(a="b")

    plan = stacks.plan(definition, environment)
    done = stacks.update(definition, environment)

    assert plan["summary"] == {"keep": 3, "move": 1}
    assert [(s["path"], s["moved_from"]) for s in plan["steps"] if "moved_from" in s] == [("b", "a")]
    assert done["stack_status"] == "UPDATE_COMPLETE"
    assert stacks.objects() == {"b": had["a"], "sub": had["sub"], "v": had["v"]}
    assert stacks.writes() == before
    assert stacks.plan(definition, environment)["summary"] == {"keep": 3}  # the entry can stay
    assert stacks.plan(definition)["summary"] == {"keep": 3}


def test_renamed_resource_keeps_physical_name_and_deletion_order(stacks: Stacks) -> None:
    stacks.create(template(a=UNNAMED, sub=subnet("a")))
    stacks.update(template(b=UNNAMED, sub=subnet("b")), moves(a="b"))

    changed = {"type": "OS::Neutron::Net", "properties": {"admin_state_up": False}}
    before = stacks.writes()
    stacks.update(template(b=changed, sub=subnet("b")))
    [write] = stacks.writes()[len(before) :]
    assert write.startswith("PUT")
    stack = stacks.stack()
    assert stacks.shown(f"{stacks.path}/resources/b")["resource"]["attributes"]["name"].startswith("web-a-")
    stacks.send("DELETE", stacks.path)
    stacks.world.settle(stack["id"])
    assert [write.split("/")[-2] for write in stacks.writes()[-2:]] == ["subnets", "networks"]


def test_rename_keeps_history_and_urls(stacks: Stacks) -> None:
    handle = {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": "HEAT_SIGNAL"}}
    policy = {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "auto_scaling_group_id": {"get_resource": "group"},
            "adjustment_type": "change_in_capacity",
            "scaling_adjustment": 1,
        },
    }
    member = {"type": "OS::Heat::RandomString"}
    group = {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {"min_size": 1, "max_size": 3, "resource": member},
    }
    outputs = {"url": {"value": {"get_attr": ["up", "signal_url"]}}}
    first = {**template(handle=handle, up=policy, group=group), "outputs": outputs}
    stacks.create(first)
    url = stacks.stack()["outputs"][0]["output_value"]
    made = stacks.shown(f"{stacks.path}/resources/up/events")["events"]
    second = {
        **template(handle=handle, grow=policy, group=group),
        "outputs": {"url": {"value": {"get_attr": ["grow", "signal_url"]}}},
    }
    stacks.update(second, moves(up="grow"))
    stacks.update({**second, "description": "again"})

    assert stacks.stack()["outputs"][0]["output_value"] == url
    for name in ("up", "grow"):
        events = stacks.shown(f"{stacks.path}/resources/{name}/events")["events"]
        assert [event["id"] for event in made] == [event["id"] for event in events][: len(made)]
        assert (events[-1]["resource_status"], events[-1]["resource_status_reason"]) == (
            "MOVE_COMPLETE",
            "Moved from up",
        )
        assert stacks.shown(f"{stacks.path}/resources/{name}/events/{made[0]['id']}")["event"]["id"] == made[0]["id"]
    assert stacks.shown(f"{stacks.path}/resources/up")["resource"]["resource_name"] == "grow"
    assert stacks.send("POST", f"{stacks.path}/resources/up/signal", {}).status_code == 200
    stacks.world.settle(stacks.stack()["id"])
    assert stacks.resources()["group"]["resource_status"] in ("UPDATE_COMPLETE", "CREATE_COMPLETE")


def test_a_move_together_with_other_changes(stacks: Stacks) -> None:
    stacks.create(template(a=NET, sub=subnet("a"), old=VOLUME))
    had = stacks.objects()
    renamed = {"type": "OS::Neutron::Net", "properties": {"name": "store"}}
    definition = template(b=renamed, sub=subnet("b"), a=UNNAMED, new=VOLUME)
    plan = stacks.plan(definition, moves(a="b"))
    assert plan["summary"] == {"update": 1, "keep": 1, "create": 2, "delete": 1, "move": 1}
    stacks.update(definition, moves(a="b"))
    now = stacks.objects()
    assert (now["b"], now["sub"]) == (had["a"], had["sub"])
    assert now["a"] != had["a"]
    assert stacks.plan(definition, moves(a="b"))["summary"] == {"keep": 4}


def test_chained_and_shifted_moves_are_applied_once(stacks: Stacks) -> None:
    stacks.create(template(a=NET, v=VOLUME))
    had = stacks.objects()
    chain = {"moved": [*moves(a="b")["moved"], *moves(b="c")["moved"]]}
    stacks.update(template(c=NET, v=VOLUME), chain)
    assert stacks.objects() == {"c": had["a"], "v": had["v"]}
    stacks.update(template(c=NET, d=UNNAMED, v=VOLUME), chain)
    first, second = stacks.objects()["c"], stacks.objects()["d"]
    shift = moves(c="d", d="e")
    for _ in range(2):
        stacks.update(template(d=NET, e=UNNAMED, v=VOLUME), shift)
        assert (stacks.objects()["d"], stacks.objects()["e"]) == (first, second)


def test_new_stack_ignores_moved_entries(stacks: Stacks) -> None:
    assert stacks.create(template(b=NET), moves(a="b"))["stack_status"] == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("resources", "entries", "output"),
    [
        ({"b": NET}, [("a", "b"), ("a", "c")], "the resource a is also moved to b"),
        ({"b": NET}, [("a", "b"), ("v", "b")], "the resource a is also moved to b"),
        ({"b": NET}, [("a", "b"), ("b", "a")], "the entries form a cycle: a to b to a"),
        ({"b": NET}, [("a", "a")], "cannot be moved to its own name"),
        ({"b": NET}, [("a", "c")], "the template has no resource c"),
        ({"b": VOLUME}, [("a", "b")], "has the type OS::Cinder::Volume, but a has the type OS::Neutron::Net"),
        ({"v": VOLUME}, [("a", "v")], "the stack has the resources a and v already"),
        ({"b": NET}, [("a", "b.0")], "b is no nested stack: it has the type OS::Neutron::Net"),
        ({"b": NET}, [("a", "a.0")], "a.0 is inside a"),
    ],
)
def test_invalid_move_is_refused(
    stacks: Stacks, resources: dict[str, Any], entries: list[tuple[str, str]], output: str
) -> None:
    stacks.create(template(a=NET, v=VOLUME))
    written = {"moved": [{"from": source, "to": target} for source, target in entries]}
    assert output in stacks.refused(template(**{"v": VOLUME, **resources}), written)


@pytest.mark.parametrize(
    ("text", "place", "output"),
    [
        ("moved:\n  - {from: a}\n", "environment 1:2:5: moved[0]", "the key 'to' is missing"),
        ("moved:\n  - {from: a, to: b, too: c}\n", "environment 1:2:", "unknown key 'too'"),
        ("moved: {a: b}\n", "environment 1:1:", "must be a list, not a map"),
        ("moved: [b]\n", "environment 1:1:9: moved[0]", "must be a map"),
        (
            "moved:\n  - {from: {stack: x, resource: a}, to: b}\n",
            "environment 1:2:",
            "must be a map like the other side",
        ),
        (
            "moved:\n  - from: a\n    to: nowhere\n",
            "environment 1:3:9: moved[0].to",
            "the template has no resource nowhere",
        ),
    ],
)
def test_problems_have_positions(stacks: Stacks, text: str, place: str, output: str) -> None:
    stacks.create(template(a=NET))
    asked = {"files": {"names.yaml": text}, "environment_files": ["names.yaml"]}
    message = stacks.refused(template(b=NET), {}, **asked)
    assert output in message
    assert place in message


def test_several_environments_and_a_patch(stacks: Stacks) -> None:
    stacks.create(template(a=NET, v=VOLUME))
    had = stacks.objects()
    files = {"one": "moved: [{from: a, to: b}]", "two": "moved: [{from: v, to: w}, {from: a, to: b}]"}
    stacks.update(template(b=NET, w=VOLUME), None, files=files, environment_files=["one", "two"])
    assert stacks.objects() == {"b": had["a"], "w": had["v"]}
    asked = stacks.send("PATCH", stacks.path, {"template": template(c=NET, w=VOLUME), "environment": moves(b="c")})
    assert asked.status_code == 202
    stacks.world.settle(stacks.stack()["id"])
    assert stacks.objects() == {"c": had["a"], "w": had["v"]}


FAILING = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}


def test_rollback_restores_the_former_name(stacks: Stacks) -> None:
    stacks.create(template(a=NET, sub=subnet("a")))
    had, before = stacks.objects(), stacks.writes()
    definition = template(b=NET, sub=subnet("b"), bad=FAILING)
    done = stacks.update(definition, moves(a="b"), disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE"
    assert stacks.objects() == had
    assert stacks.writes() == before
    assert stacks.plan(template(a=NET, sub=subnet("a")))["summary"] == {"keep": 2}
    stacks.update(template(b=NET, sub=subnet("b")), moves(a="b"))
    assert stacks.objects() == {"b": had["a"], "sub": had["sub"]}


def test_failed_rename_is_kept_without_rollback_and_restored_by_a_later_one(stacks: Stacks) -> None:
    stacks.create(template(a=NET))
    had = stacks.objects()
    stacks.update(template(b=NET, bad=FAILING), moves(a="b"), disable_rollback=True)
    assert stacks.objects()["b"] == had["a"]
    stacks.update(template(c=NET, bad=FAILING), moves(b="c"), disable_rollback=True)
    assert stacks.objects()["c"] == had["a"]
    plan = stacks.send("POST", f"{stacks.path}/actions/preview", {"rollback": None}).json()["plan"]
    assert (plan["summary"]["move"], [step["moved_from"] for step in plan["steps"] if step["path"] == "a"]) == (
        1,
        ["c"],
    )
    assert stacks.send("POST", f"{stacks.path}/actions", {"rollback": None}).ok
    stacks.world.settle(stacks.stack()["id"])
    assert stacks.objects() == had


def test_a_refused_deployment_moves_nothing(stacks: Stacks) -> None:
    stacks.create(template(a=NET))
    had = stacks.objects()
    big = {"type": "OS::Cinder::Volume", "properties": {"size": 999999}}
    assert stacks.update(template(b=NET, big=big), moves(a="b"))["stack_status"] == "UPDATE_FAILED"
    assert stacks.objects() == had


def test_plan_of_rename_suggests_moved_entry(stacks: Stacks) -> None:
    stacks.create(template(a=NET, sub=subnet("a"), v=VOLUME))
    plan = stacks.plan(template(b=NET, under=subnet("b"), w={"type": "OS::Cinder::Volume", "properties": {"size": 2}}))
    assert plan["suggested_moves"] == [{"from": "a", "to": "b"}, {"from": "sub", "to": "under"}]
    two = stacks.plan(template(b=NET, c=NET, sub=subnet("c"), v=VOLUME))
    assert "suggested_moves" not in two  # nobody knows which


def test_hidden_values_of_the_former_name_stay_hidden(stacks: Stacks) -> None:
    thing = {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "secret"}}}
    parameters = {"secret": {"type": "string", "hidden": True}}
    first = {**template(a=thing, other={"type": "OS::Heat::TestResource"}), "parameters": parameters}
    stacks.create(first, parameters={"secret": "abc"})
    plain = {"type": "OS::Heat::TestResource", "properties": {"value": "seen"}}
    plan = stacks.plan(template(other={"type": "OS::Heat::TestResource"}, b=plain), moves(a="b"))
    [step] = [step for step in plan["steps"] if step["path"] == "b"]
    assert step["moved_from"] == "a"
    assert "abc" not in str(plan)


def test_a_refused_deployment_moves_nothing_although_the_cloud_differs(stacks: Stacks) -> None:
    stacks.create(template(a=NET))
    had = stacks.objects()
    token = stacks.served.token("demo", "demo")
    stacks.served.call("PUT", f"/network/v2.0/networks/{had['a']}", {"network": {"name": "other"}}, token)
    big = {"type": "OS::Cinder::Volume", "properties": {"size": 999999}}
    done = stacks.update(template(b=NET, big=big), moves(a="b"), converge=True)
    assert done["stack_status"] == "UPDATE_FAILED"
    assert stacks.objects() == had
