"""Policies on plans that a project and a stack set for themselves, besides those of the operator."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ApprovalRequired, BadValue, TemplateInvalid
from stoker.engine.plan_policies import evaluation
from stoker.engine.plan_policies.evaluation import NOT_REACHED, evaluated
from stoker.engine.plan_policies.policy import MOST_RESULTS, Policy, Source
from stoker.engine.plan_policies.policy_files import MOST, read_policies
from stoker.engine.running import policies as running_policies
from stoker.engine.running import preparation, whole_plan
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.operations.policy_settings import LONGEST_TEXT
from testing.harness import World

REF = {"name": "web", "id": None}


def limit(most: int, verdict: str = "deny", name: str = "short-words") -> str:
    """A policy about the lengths of words."""
    policy = {"name": name, "types": ["OS::Heat::RandomString"], "expression": f"step.properties.length <= {most}"}
    return json.dumps({"policies": [{**policy, "message": f"longer than {most}", "verdict": verdict}]})


def words(*lengths: int) -> dict[str, Any]:
    given = {f"w{n}": {"type": "OS::Heat::RandomString", "properties": {"length": x}} for n, x in enumerate(lengths)}
    return {"heat_template_version": "2021-04-16", "resources": given}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    operator = read_policies([("operator.yaml", limit(30))], Source.OPERATOR)
    world = World(tmp_path / "stoker.db", served, settings=EngineSettings(plan_policies=operator))
    yield await world.start()
    await world.stop()


async def put(world: World, policies: str | None, **arguments: Any) -> Any:
    return await world.call("plan_policies_change", policies=policies, **arguments)


async def test_all_policy_sources_apply_in_their_scope(world: World) -> None:
    await world.create("web", words(8))
    await world.create("other", words(8))
    await put(world, limit(20))
    shown = await put(world, limit(10), ref=REF)
    assert [(each["source"], each["message"]) for each in shown["policies"]] == [
        ("operator", "longer than 30"),
        ("project", "longer than 20"),
        ("stack", "longer than 10"),
    ]
    assert shown["chosen"] == limit(10)
    ofproject = await world.call("plan_policies_show")
    assert ofproject["chosen"] == limit(20) and len(ofproject["policies"]) == 2

    assert (await world.update("other", words(11)))["status"] == "COMPLETE"
    assert "longer than 20" in (await world.update("other", words(21)))["status_reason"]
    refused = await world.update("web", words(11))
    assert refused["status_reason"].count("policy-denied") == 1 and "longer than 10" in refused["status_reason"]
    plan = (await world.call("stack_update_preview", ref=REF, template=words(31)))["plan"]
    assert {(each["source"], each["policy"]) for each in plan["policies"]["results"]} == {
        (source, "short-words") for source in ("operator", "project", "stack")
    }

    await put(world, None, ref=REF)
    assert (await world.update("web", words(11)))["status"] == "COMPLETE"
    await put(world, None)
    assert (await world.update("web", words(21)))["status"] == "COMPLETE"
    assert "longer than 30" in (await world.update("web", words(31)))["status_reason"], "nobody removes the operator's"


async def test_project_policies_apply_to_new_and_nested_stacks(world: World) -> None:
    await put(world, limit(20))
    assert "longer than 20" in (await world.create("new", words(21)))["status_reason"]
    around = {"heat_template_version": "2021-04-16", "resources": {"in": {"type": "child.yaml"}}}
    files = {"child.yaml": json.dumps(words(9))}
    await world.create("web", around, files=files)
    await put(world, limit(10), ref=REF)
    longer = await world.update("web", around, files={"child.yaml": json.dumps(words(11))})
    assert "policy-denied short-words: in.w0: " in longer["status_reason"]
    inside = (await world.resources("web"))["in"]["physical_id"]
    with pytest.raises(BadValue, match="tree of stacks as a whole"):
        await put(world, limit(3), ref={"name": None, "id": inside})


async def test_stack_policies_require_approvals_and_are_recorded(world: World) -> None:
    await world.create("web", words(8))
    await put(world, limit(10, "require_approval"), ref=REF)
    with pytest.raises(ApprovalRequired):
        await world.update("web", words(11))
    events = await world.call("event_list", ref=REF)
    assert any("Policies on plans were set by demo" in str(event) for event in events)


async def test_the_tree_is_planned_once_for_policies_and_checks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    async def counted(run: Any, goal: Any) -> Any:
        planned.append(run.stack.name)
        return await whole_plan.with_nested(run, goal)

    for module in (running_policies, preparation):
        monkeypatch.setattr(module, "with_nested", counted)
    around = {"heat_template_version": "2021-04-16", "resources": {"in": {"type": "child.yaml"}}}
    made = await world.create("web", around, files={"child.yaml": json.dumps(words(9))})
    assert made["status"] == "COMPLETE" and planned == ["web"]


async def test_project_policies_do_not_apply_to_other_projects(world: World) -> None:
    await put(world, limit(10))
    stranger = replace(world.context, project_id="b" * 32)
    shown = await world.ended(OPERATIONS["plan_policies_show"](world.engine, stranger, {}))
    assert shown["chosen"] is None and [each["source"] for each in shown["policies"]] == ["operator"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("policies:\n- use: no-open-shh\n", r"plan_policies:2:\d+: there is no policy 'no-open-shh'"),
        ("policies: {", "plan_policies"),
        ("just text", "plan_policies"),
        (limit(1, name="x y"), "a name has letters"),
        (json.dumps({"policies": [{"name": "n", "expression": "plan.steps"}]}), "there is no plan"),
        (json.dumps({"policies": [{"name": "n", "expression": "true", "hint": "x" * 501}]}), "at most 500"),
        (
            json.dumps({"policies": [{"name": f"n{n}", "expression": "true"} for n in range(MOST[Source.STACK] + 1)]}),
            "at most 50 are evaluated",
        ),
    ],
)
async def test_mistakes_are_refused_with_their_places(world: World, text: str, problem: str) -> None:
    with pytest.raises(TemplateInvalid, match=problem):
        await put(world, text)
    assert (await world.call("plan_policies_show"))["chosen"] is None


async def test_too_much_text_is_refused(world: World) -> None:
    with pytest.raises(BadValue, match=f"at most {LONGEST_TEXT}"):
        await put(world, "#" * (LONGEST_TEXT + 1))


STEPS = {"action": "CREATE", "stack": {}, "steps": [{"kinds": ["create"], "types": ["A"], "unknown": []}]}


def test_expensive_policies_do_not_delay_other_projects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "SECONDS_OF_SOURCE", {Source.PROJECT: 1e-9})
    rounds = "R.all(a, R.all(b, R.all(c, a + b + c >= 0)))".replace("R", str([*range(20)]))
    costly = [Policy(f"p{n}", rounds, source=Source.PROJECT) for n in range(3)]
    found = [*evaluated([*costly, Policy("own", "false", source=Source.STACK)], STEPS)]
    assert [(each.policy.name, each.holds) for each in found] == [
        ("p0", True), ("p1", None), ("p2", None), ("own", False)
    ]  # fmt: skip
    assert found[1].message == NOT_REACHED


async def test_results_of_the_same_kind_are_counted_beyond_a_number(world: World) -> None:
    await put(world, limit(1, "warn"))
    many = words(*[2] * (MOST_RESULTS + 5))
    policies = (await world.call("stack_preview", name="many", template=many))["plan"]["policies"]
    assert (len(policies["results"]), policies["omitted"]) == (MOST_RESULTS, 5)
