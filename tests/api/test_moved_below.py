"""Resources that get into nested stacks, out of them and to other names in them: `moved` of an update, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from openstack_emulator.testing import ServedCloud
from tests.api.moving import Stacks, moves, template

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


@pytest.fixture
def stacks(tmp_path: Path, served: ServedCloud) -> Iterator[Stacks]:
    stacks = Stacks(tmp_path, served)
    yield stacks
    stacks.stop()


def below(stacks: Stacks) -> dict[str, str]:
    """The IDs of all objects in the tree, by path."""
    rows = stacks.shown("/web/resources?nested_depth=5")["resources"]
    nested = {row["physical_resource_id"]: row for row in rows}

    def path(row: dict[str, Any]) -> str:
        stack = next(link["href"] for link in row["links"] if link["rel"] == "stack").rsplit("/", 1)[-1]
        return f"{path(nested[stack])}.{row['resource_name']}" if stack in nested else str(row["resource_name"])

    return {path(row): row["physical_resource_id"] for row in rows}


def test_into_a_new_nested_stack_and_out_of_it(stacks: Stacks) -> None:
    stacks.create(template(net=NET, v=VOLUME))
    had, before = stacks.objects(), stacks.writes()
    wanted, entries = template(tier=TIER, v=VOLUME), {"moved": [{"from": "net", "to": "tier.web"}]}

    plan = stacks.plan(wanted, entries, files=files(web=NET))
    assert summary(plan) == {"create": 1, "move": 1}
    assert [(s["path"], s["kind"], s["moved_from"]) for s in plan["steps"] if "moved_from" in s] == [
        ("tier.web", "keep", "net")
    ]
    done = stacks.update(wanted, entries, files=files(web=NET))
    assert done["stack_status"] == "UPDATE_COMPLETE"
    now = below(stacks)
    assert (now["tier.web"], now["v"], set(now)) == (had["net"], had["v"], {"tier", "tier.web", "v"})
    assert stacks.writes() == before
    assert stacks.plan(wanted, entries, files=files(web=NET))["summary"] == {"keep": 2}  # the entry can stay

    out = {"moved": [{"from": "tier.web", "to": "net"}]}
    plan = stacks.plan(template(net=NET, v=VOLUME), out)
    assert summary(plan) == {"delete": 1, "move": 1}
    stacks.update(template(net=NET, v=VOLUME), out)
    assert stacks.objects() == had
    assert stacks.writes() == before


def test_an_index_becomes_a_key(stacks: Stacks) -> None:
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


def test_from_one_nested_stack_to_another_one(stacks: Stacks) -> None:
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


def test_a_rollback_returns_everything(stacks: Stacks) -> None:
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
    wanted = template(
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
    done = stacks.update(wanted, entries, files=files(net=NET), disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE", done["stack_status_reason"]
    assert below(stacks) == had
    assert stacks.writes() == before
