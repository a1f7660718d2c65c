"""Resources that get into nested stacks, out of them and to other names in them: `moved` of an update, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.api.rest_stacks import Stacks, moves, template

NET = {"type": "OS::Neutron::Net", "properties": {"name": "shop"}}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
TIER = {"type": "tier.yaml"}


def files(**resources: Any) -> dict[str, str]:
    outputs = {name: {"value": {"get_resource": name}} for name in resources}
    return {"tier.yaml": yaml.safe_dump({**template(**resources), "outputs": outputs})}


def group(count: int = 0, keys: Any = None, **properties: Any) -> dict[str, Any]:
    which = {"for_each": keys} if keys is not None else {"count": count}
    member = {"type": "OS::Cinder::Volume", "properties": {"size": 1, **properties}}
    return {"type": "OS::Heat::ResourceGroup", "properties": {**which, "resource_def": member}}


def summary(plan: dict[str, Any]) -> dict[str, int]:
    return {kind: number for kind, number in plan["summary"].items() if kind != "keep"}


def below(stacks: Stacks) -> dict[str, str]:
    """The IDs of all objects in the tree, by path."""
    rows = stacks.shown("/web/resources?nested_depth=5")["resources"]
    nested = {row["physical_resource_id"]: row for row in rows}

    def path(row: dict[str, Any]) -> str:
        stack = next(link["href"] for link in row["links"] if link["rel"] == "stack").rsplit("/", 1)[-1]
        return f"{path(nested[stack])}.{row['resource_name']}" if stack in nested else str(row["resource_name"])

    return {path(row): row["physical_resource_id"] for row in rows}


def test_resource_moves_into_new_nested_stack_and_back(stacks: Stacks) -> None:
    stacks.create(template(net=NET, v=VOLUME))
    had, before = stacks.objects(), stacks.writes()
    definition, entries = template(tier=TIER, v=VOLUME), {"moved": [{"from": "net", "to": "tier.web"}]}

    plan = stacks.plan(definition, entries, files=files(web=NET))
    assert summary(plan) == {"create": 1, "move": 1}
    assert [(s["path"], s["kind"], s["moved_from"]) for s in plan["steps"] if "moved_from" in s] == [
        ("tier.web", "keep", "net")
    ]
    done = stacks.update(definition, entries, files=files(web=NET), converge=True)
    assert done["stack_status"] == "UPDATE_COMPLETE"
    now = below(stacks)
    assert (now["tier.web"], now["v"], set(now)) == (had["net"], had["v"], {"tier", "tier.web", "v"})
    assert stacks.writes() == before
    assert stacks.plan(definition, entries, files=files(web=NET))["summary"] == {"keep": 2}  # the entry can stay

    out = {"moved": [{"from": "tier.web", "to": "net"}]}
    plan = stacks.plan(template(net=NET, v=VOLUME), out)
    assert summary(plan) == {"delete": 1, "move": 1}
    stacks.update(template(net=NET, v=VOLUME), out)
    assert stacks.objects() == had
    assert stacks.writes() == before


def test_group_member_moves_from_index_to_key(stacks: Stacks) -> None:
    stacks.create(template(group=group(2)))
    had, before = below(stacks), stacks.writes()
    keyed, entries = template(group=group(keys=["blue", "green"])), moves(**{"group.0": "group.blue"})
    entries["moved"] += [{"from": "group.1", "to": "group.green"}]
    plan = stacks.plan(keyed, entries)
    assert summary(plan) == {"update": 1, "move": 2}
    stacks.update(keyed, entries)
    now = below(stacks)
    assert (now["group.blue"], now["group.green"], len(now)) == (had["group.0"], had["group.1"], 3)
    assert stacks.writes() == before
    assert stacks.plan(keyed, entries)["summary"] == {"keep": 1}
    less = template(group=group(keys=["green"]))
    stacks.update(less, entries)
    assert below(stacks) == {"group": now["group"], "group.green": now["group.green"]}


def test_resource_moves_between_nested_stacks(stacks: Stacks) -> None:
    one, two = {"type": "tier.yaml"}, {"type": "other.yaml"}
    texts = {**files(net=NET, v=VOLUME), "other.yaml": files(v=VOLUME)["tier.yaml"]}
    stacks.create(template(one=one, two=two), files=texts)
    had, before = below(stacks), stacks.writes()
    texts = {**files(v=VOLUME), "other.yaml": files(v=VOLUME, core=NET)["tier.yaml"]}
    entries = moves(**{"one.net": "two.core"})
    plan = stacks.plan(template(one=one, two=two), entries, files=texts)
    assert summary(plan) == {"update": 1, "move": 1}
    stacks.update(template(one=one, two=two), entries, files=texts)
    now = below(stacks)
    assert now == {**{path: each for path, each in had.items() if path != "one.net"}, "two.core": had["one.net"]}
    assert stacks.writes() == before


def test_rollback_reverts_all_moves(stacks: Stacks) -> None:
    stacks.create(template(net=NET, group=group(2), tier=TIER), files=files(v=VOLUME), disable_rollback=False)
    had, before = below(stacks), stacks.writes()
    entries = {
        "moved": [
            {"from": "net", "to": "tier.net"},
            {"from": "group.0", "to": "group.blue"},
            {"from": "group.1", "to": "group.green"},
            {"from": "tier.v", "to": "v"},
        ]
    }
    handle = {"type": "OS::Heat::WaitConditionHandle"}
    definition = template(
        group=group(keys=["blue", "green"]),
        tier=TIER,
        v=VOLUME,
        handle=handle,
        bad={
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 1, "count": 1},
            "depends_on": ["group", "tier", "v"],
        },
    )
    done = stacks.update(definition, entries, files=files(net=NET), disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE", done["stack_status_reason"]
    assert below(stacks) == had
    assert stacks.writes() == before


def test_a_member_with_a_nested_stack_moves_with_its_resources(stacks: Stacks) -> None:
    member = {"type": "tier.yaml"}
    two = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": member}}
    stacks.create(template(group=two), files=files(net=NET, v=VOLUME))
    had, before = below(stacks), stacks.writes()
    keyed = {"type": "OS::Heat::ResourceGroup", "properties": {"for_each": ["a", "b"], "resource_def": member}}
    entries = moves(**{"group.0": "group.a", "group.1": "group.b", "group.0.v": "first", "group.b.v": "second"})
    definition = template(group=keyed, first=VOLUME, second=VOLUME)
    plan = stacks.plan(definition, entries, files=files(net=NET))
    assert plan["summary"]["move"] == 4 and not {"create", "delete", "replace"} & plan["summary"].keys()
    stacks.update(definition, entries, files=files(net=NET))
    now = below(stacks)
    assert {path: now[path] for path in ("group.a.net", "group.b.net", "first", "second")} == {
        "group.a.net": had["group.0.net"],
        "group.b.net": had["group.1.net"],
        "first": had["group.0.v"],
        "second": had["group.1.v"],
    }
    assert stacks.writes() == before
    assert set(stacks.plan(definition, entries, files=files(net=NET))["summary"]) == {"keep"}


def test_moves_with_other_changes_and_renamed_parents(stacks: Stacks) -> None:
    subnet = {"type": "OS::Neutron::Subnet", "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"}}
    stacks.create(template(old=TIER, net=NET, sub=subnet), files=files(v=VOLUME))
    had, before = below(stacks), stacks.writes()
    renamed = {"type": "OS::Neutron::Net", "properties": {"name": "store"}}
    properties = {"network": {"get_attr": ["tier", "net"]}, "cidr": "10.1.0.0/24"}
    following = {"type": "OS::Neutron::Subnet", "properties": properties}
    definition = template(tier=TIER, sub=following, net=NET)
    entries = moves(old="tier", net="tier.net", **{"old.v": "tier.data"})
    plan = stacks.plan(definition, entries, files=files(data=VOLUME, net=renamed))
    assert {s["path"]: s["moved_from"] for s in plan["steps"] if "moved_from" in s} == {
        "tier": "old",
        "tier.net": "net",
        "tier.data": "old.v",
    }
    stacks.update(definition, entries, files=files(data=VOLUME, net=renamed))
    now = below(stacks)
    assert (now["tier.net"], now["tier.data"], now["sub"], now["tier"]) == (
        had["net"],
        had["old.v"],
        had["sub"],
        had["old"],
    )
    assert sorted(each.split()[0] for each in stacks.writes()[len(before) :]) == ["POST", "PUT"]


def test_nested_moves_keep_history_signals_and_urls(stacks: Stacks) -> None:
    handle = {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": "NO_SIGNAL"}}
    stacks.create(template(tier=TIER, up=handle), files=files(v=VOLUME))
    made = stacks.shown(f"{stacks.path}/resources/up/events")["events"]
    path = f"{stacks.path}/resources/up"
    stacks.update(template(tier=TIER), moves(up="tier.up"), files=files(v=VOLUME, up=handle))
    tier = stacks.shown(f"{stacks.path}/resources/tier")["resource"]["physical_resource_id"]
    name = next(row["stack_name"] for row in [stacks.shown(f"/{tier}")["stack"]])
    events = stacks.shown(f"/{name}/{tier}/resources/up/events")["events"]
    assert [event["id"] for event in made] == [event["id"] for event in events][: len(made)]
    assert (events[-1]["resource_status"], events[-1]["resource_status_reason"]) == ("MOVE_COMPLETE", "Moved from up")
    assert stacks.send("POST", f"{path}/signal", {"data": "x"}).status_code == 200
    assert stacks.shown(path)["resource"]["resource_status"] in ("CREATE_COMPLETE", "SIGNAL_COMPLETE")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"net": "tier.other"}, "the template has no resource tier.other, to which the object of net is moved"),
        ({"net": "tier.v"}, "the stack has the resources net and tier.v already"),
        ({"tier.v": "sub"}, "the resource sub has the type OS::Neutron::Net, but tier.v has the type OS::Cinder::Vol"),
        ({"net": "tier.web"}, "the resource tier.web has another type than net, which is OS::Neutron::Net"),
        ({"tier": "tier.v"}, "tier.v is inside tier"),
    ],
)
def test_invalid_move_is_refused(stacks: Stacks, entries: dict[str, str], message: str) -> None:
    stacks.create(template(net=NET, tier=TIER), files=files(v=VOLUME))
    before = below(stacks)
    texts = files(v=VOLUME, web=VOLUME) if "tier.v" not in entries else files(web=VOLUME)
    assert message in stacks.refused(template(tier=TIER, sub=NET), moves(**entries), files=texts)
    assert below(stacks) == before


def test_return_to_earlier_definition_restores_its_paths(stacks: Stacks) -> None:
    stacks.create(template(net=NET, group=group(2)))
    had = below(stacks)
    first = stacks.shown(f"{stacks.path}/operations")["operations"][0]["id"]
    entries = moves(**{"net": "tier.web", "group.0": "group.x", "group.1": "group.y"})
    stacks.update(template(tier=TIER, group=group(keys=["x", "y"])), entries, files=files(web=NET))
    before = stacks.writes()
    asked = stacks.send("PATCH", stacks.path, {"as_of": first})
    assert asked.status_code == 202, asked.text
    stacks.world.settle(stacks.stack()["id"])
    assert stacks.stack()["stack_status"] == "UPDATE_COMPLETE"
    assert below(stacks) == had
    assert stacks.writes() == before


def deep_files(**resources: Any) -> dict[str, str]:
    """A nested template with these resources, inside of another one, which shows what it shows."""
    inner = files(**resources)["tier.yaml"]
    outputs = {name: {"value": {"get_attr": ["deep", name]}} for name in resources}
    outer = {**template(deep={"type": "deep.yaml", "properties": {"size": 1}}, v=VOLUME), "outputs": outputs}
    sized = {**yaml.safe_load(inner), "parameters": {"size": {"type": "number"}}}
    return {"tier.yaml": yaml.safe_dump(outer), "deep.yaml": yaml.safe_dump(sized)}


def test_resource_moves_two_new_levels_down_and_back(stacks: Stacks) -> None:
    sub: dict[str, Any] = {"type": "OS::Neutron::Subnet", "properties": {"cidr": "10.1.0.0/24"}}
    sub["properties"]["network"] = {"get_resource": "net"}
    stacks.create(template(net=NET, v=VOLUME, data=VOLUME, sub=sub))
    first = stacks.shown(f"{stacks.path}/operations")["operations"][0]["id"]
    had, before = below(stacks), stacks.writes()
    sub = {**sub, "properties": {"network": {"get_attr": ["tier", "net"]}, "cidr": "10.1.0.0/24"}}
    definition, entries = (
        template(tier=TIER, sub=sub),
        {"net": "tier.deep.net", "data": "tier.deep.data", "v": "tier.v"},
    )
    texts = deep_files(net=NET, data=VOLUME)
    plan = stacks.plan(definition, moves(**entries), files=texts)
    assert summary(plan) == {"create": 2, "move": 3}
    assert {step["path"] for step in plan["steps"] if step["kind"] == "create"} == {"tier", "tier.deep"}
    assert stacks.update(definition, moves(**entries), files=texts)["stack_status"] == "UPDATE_COMPLETE"
    now = below(stacks)
    assert {path: now[target] for path, target in entries.items()} | {"sub": now["sub"]} == had
    assert summary(stacks.plan(definition, moves(**entries), files=texts)) == {}
    asked = stacks.send("PATCH", stacks.path, {"as_of": first})
    assert asked.status_code == 202, asked.text
    stacks.world.settle(stacks.stack()["id"])
    assert below(stacks) == had
    assert stacks.writes() == before


def test_resource_moves_into_new_stack_below_existing_nested_stack(stacks: Stacks) -> None:
    stacks.create(template(net=NET, tier=TIER), files=files(v=VOLUME))
    had, before = below(stacks), stacks.writes()
    stacks.update(template(tier=TIER), moves(net="tier.deep.net"), files=deep_files(net=NET))
    now = below(stacks)
    assert (now["tier.deep.net"], now["tier.v"], now["tier"]) == (had["net"], had["tier.v"], had["tier"])
    assert stacks.writes() == before


def test_a_path_below_a_group_that_does_not_exist_is_refused(stacks: Stacks) -> None:
    stacks.create(template(net=NET))
    of_tiers = {"type": "OS::Heat::ResourceGroup", "properties": {"for_each": ["a"], "resource_def": TIER}}
    body = {"template": template(all=of_tiers), "environment": moves(net="all.a.net"), "files": files(net=NET)}
    asked = stacks.send("PUT", stacks.path, body)
    assert asked.status_code == 409
    assert "Nothing can be moved into all.a, which does not exist yet" in asked.text
    body = {"template": template(tier=TIER), "environment": moves(net="tier.deep.net"), "files": files(v=VOLUME)}
    assert "Nothing can be moved into tier.deep, which does not exist yet" in stacks.send("PUT", stacks.path, body).text


def test_plan_of_nested_rename_suggests_moved_entry(stacks: Stacks) -> None:
    sub: dict[str, Any] = {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"},
    }
    under = {**sub, "properties": {**sub["properties"], "network": {"get_resource": "web"}}}
    stacks.create(template(tier=TIER, v=VOLUME), files=files(net=NET, sub=sub))
    had = below(stacks)
    for definition, texts, entries in (
        (
            template(tier=TIER, v=VOLUME),
            files(web=NET, under=under),
            {"tier.net": "tier.web", "tier.sub": "tier.under"},
        ),
        (template(web=NET, tier=TIER, v=VOLUME), files(), {"tier.web": "web"}),
        (template(tier=TIER, v=VOLUME), files(web=NET), {"web": "tier.web"}),
        (template(level=TIER, v=VOLUME), files(web=NET), {"tier": "level"}),
        (template(web=NET, v=VOLUME), None, {"level.web": "web"}),
        (template(level=TIER, v=VOLUME), files(web=NET), {"web": "level.web"}),
    ):
        plan = stacks.plan(definition, files=texts)
        assert plan["suggested_moves"] == moves(**entries)["moved"], entries
        stacks.update(definition, moves(**entries), files=texts)
    now = below(stacks)
    assert now["level.web"] == had["tier.net"] and now["v"] == had["v"]
    several = stacks.plan(template(a=NET, b=NET, v=VOLUME))
    assert "suggested_moves" not in several  # nobody knows which


def test_restored_snapshot_restores_its_paths(stacks: Stacks) -> None:
    unnamed = {"type": "OS::Neutron::Net"}
    stacks.create(template(net=unnamed, one=TIER, r={"type": "OS::Heat::RandomString"}), files=files(inner=unnamed))
    had, before = below(stacks), stacks.writes()
    taken = stacks.send("POST", f"{stacks.path}/snapshots", {"name": "flat"}).json()["id"]
    stacks.world.settle(stacks.stack()["id"])
    definition, texts = template(one=TIER, two=TIER, r={"type": "OS::Heat::RandomString"}), files(web=unnamed)
    entries = moves(**{"net": "two.web", "one.inner": "one.web"})
    stacks.update(definition, entries, files=texts)
    now = below(stacks)
    assert (now["two.web"], now["one.web"]) == (had["net"], had["one.inner"])
    deep = stacks.send("POST", f"{stacks.path}/snapshots", {"name": "deep"}).json()["id"]
    stacks.world.settle(stacks.stack()["id"])

    for snapshot, expected in ((taken, had), (deep, now)):
        path = f"{stacks.path}/snapshots/{snapshot}/restore"
        plan = stacks.send("POST", f"{path}/preview").json()["plan"]
        answer = stacks.send("POST", path)
        assert answer.ok, answer.text
        stacks.world.settle(stacks.stack()["id"])
        assert stacks.stack()["stack_status"] == "RESTORE_COMPLETE"
        found = below(stacks)
        assert set(found) == set(expected), plan["summary"]
        for path in ("net", "one.inner", "two.web", "one.web", "r"):
            assert found.get(path) == expected.get(path), path
    assert stacks.writes() == before
