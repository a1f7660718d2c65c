"""Policies on plans: what they refuse, whatever began the operation, and how they are evaluated."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.authoring.plan_steps import certain_failures
from stoker.base.errors import ApprovalRequired, EntityNotFound, Invalid, PolicyDenied, TemplateInvalid
from stoker.cloud.credentials import TokenCredential
from stoker.engine.plan_policies.evaluation import evaluated
from stoker.engine.plan_policies.policy import KINDS, Policy, Source
from stoker.engine.plan_policies.policy_files import packs, read_policies
from stoker.engine.planning.kinds import StepKind
from stoker.engine.records.failure import Failure
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.store import queries
from stoker.store.records import FAILED, HEALING
from testing.harness import RARE_HEARTBEATS, World

POLICIES = """
policies:
- name: short-words
  types: [OS::Heat::RandomString]
  expression: step.properties.length <= 16
  message: the word is too long
  hint: use 16 characters at most
- name: few-words
  for: plan
  actions: [CREATE, UPDATE]
  expression: plan.steps.filter(s, s.type == 'OS::Heat::RandomString' && s.kind == 'create').size() <= 3
  message_expression: "'too many words: ' + string(plan.steps.size())"
- name: keep
  types: [OS::Heat::TestResource]
  kinds: [delete, replace]
  expression: step.path != 'kept'
  message: this one stays
- name: odd
  types: [OS::Heat::Value]
  expression: step.properties.value != 'odd'
  verdict: warn
"""


def settings(text: str) -> EngineSettings:
    return replace(RARE_HEARTBEATS, plan_policies=read(text))


def read(text: str) -> tuple[Policy, ...]:
    return read_policies([("policies.yaml", text)], Source.OPERATOR)


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=settings(POLICIES))
    yield await world.start()
    await world.stop()


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def word(length: Any = 8) -> dict[str, Any]:
    return {"type": "OS::Heat::RandomString", "properties": {"length": length}}


def resource(value: Any = "x", **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::TestResource", "properties": {"value": value, **properties}}


def value(given: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": given}}


def denied(stack: dict[str, Any], policy: str) -> None:
    assert stack["status"] == "FAILED", stack
    assert f"policy-denied {policy}" in stack["status_reason"], stack["status_reason"]


async def test_a_creation_is_denied_before_anything_is_done(world: World) -> None:
    stack = await world.create("web", template(first=resource(), long=word(20)), disable_rollback=False)
    denied(stack, "short-words")
    assert stack["action"] == "CREATE", "nothing was done, so nothing is rolled back"
    reason = stack["status_reason"]
    assert reason.startswith("Nothing was changed, since policies deny it (1):")
    assert "long: template" in reason and "use 16 characters at most" in reason
    assert await world.resources("web") == {}
    permitted = await world.create("fine", template(first=word(16)))
    assert permitted["status"] == "COMPLETE"


async def test_an_update_and_a_deletion_are_denied(world: World) -> None:
    await world.create("web", template(a=word(), kept=resource()))
    denied(await world.update("web", template(a=word(17), kept=resource())), "short-words")
    denied(await world.update("web", template(a=word())), "keep")
    gone = await world.delete("web")
    assert gone["action"] == "DELETE"
    denied(gone, "keep")
    rows = await world.resources("web")
    assert {name: row["status"] for name, row in rows.items()} == {"a": "COMPLETE", "kept": "COMPLETE"}


async def test_preview_reports_denied_changes_with_paths(world: World) -> None:
    plan = (await world.call("stack_preview", name="new", template=template(long=word(20), v=value("odd"))))["plan"]
    found = plan["policies"]
    assert (found["evaluated"], found["verdict"]) == (4, "deny")
    first, second = found["results"]
    assert (first["code"], first["policy"], first["path"]) == ("policy-denied", "short-words", "long")
    assert first["diagnostic"]["path"] == ["resources", "long"]
    assert (second["code"], second["verdict"], second["path"]) == ("policy-warned", "warn", "v")
    assert certain_failures(plan) == [first["diagnostic"]]


async def test_the_plan_as_a_whole_counts_nested_stacks(world: World) -> None:
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 4, "resource_def": word()}}
    stack = await world.create("many", template(words=group))
    denied(stack, "few-words")
    assert "too many words: 5" in stack["status_reason"]
    assert await world.resources("many") == {}


async def test_late_value_is_evaluated_before_its_step(world: World) -> None:
    body = template(size=resource(20), long={**word({"get_attr": ["size", "output"]}), "depends_on": "size"})
    plan = (await world.call("stack_preview", name="new", template=body))["plan"]
    assert [(each["code"], each["path"]) for each in plan["policies"]["results"]] == [("policy-deferred", "long")]
    assert certain_failures(plan) == []
    stack = await world.create("late", body)
    denied(stack, "short-words")
    rows = await world.resources("late")
    assert set(rows) == {"size"}, "the step has not begun"


@pytest.mark.parametrize(("length", "outcome"), [(20, "objected"), (8, "satisfied")])
@pytest.mark.parametrize("where", ["plan", "step", "deeper"])
async def test_late_nested_decision_is_a_result_of_the_root(
    world: World, length: int, outcome: str, where: str
) -> None:
    """The values are known when the nested stack begins (`plan`), or only while it is made (`step`)."""
    late = word({"get_attr": ["size", "output"]})
    inner, files = template(size=resource(length), word=late), {}
    body, path = template(size=resource(length), group=grouped(late)), "group.0"
    if where != "plan":
        files = {"inner.yaml": json.dumps(inner)}
        nested = {"type": "inner.yaml"}
        body, path = template(group=nested), "group.word"
        if where == "deeper":
            body, path = template(group=grouped(nested)), "group.0.word"
    body["resources"]["bad"] = {**resource(fail=True), "depends_on": "group"}
    stack = await world.create("late", body, files=files, disable_rollback=True)
    assert stack["status"] == "FAILED"
    listed = await world.call("policy_result_list", stack="late")
    (found,) = [each for each in listed["results"] if each["path"] == path]
    assert (found["outcome"], found["policy"], found["stack_name"]) == (outcome, "short-words", "late")
    (row,) = await world.call("operation_list", ref=named("late"))
    shown = await world.call("operation_show", ref=named("late"), operation_id=row["id"])
    policies = shown["plan"]["policies"]
    expected = ("deny", [("policy-denied", path)]) if outcome == "objected" else (None, [])
    assert (policies["verdict"], [(each["code"], each["path"]) for each in policies["results"]]) == expected


async def test_step_is_evaluated_again_with_known_values(world: World) -> None:
    """An expression may hold for an unknown value, and not for the one that is there in the end."""
    body = template(made=resource("odd"), odd=value({"get_attr": ["made", "output"]}))
    plan = (await world.call("stack_preview", name="seemed", template=body))["plan"]
    assert plan["policies"]["results"] == []
    assert (await world.create("seemed", body))["status"] == "COMPLETE", "it only warns"
    listed = await world.call("policy_result_list", stack="seemed")
    (found,) = [each for each in listed["results"] if each["path"] == "odd"]
    assert (found["outcome"], found["verdict"]) == ("objected", "warn")


def grouped(definition: dict[str, Any]) -> dict[str, Any]:
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": definition}}


def named(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


async def test_a_warning_is_recorded_with_the_operation_and_does_not_refuse(world: World) -> None:
    stack = await world.create("web", template(v=value("odd")))
    assert stack["status"] == "COMPLETE"


def test_policy_change_kinds_equal_plan_kinds() -> None:
    assert {*KINDS} == {*(kind.value for kind in StepKind), "import", "move"}
    assert packs()


def test_mistakes_are_refused_with_their_places() -> None:
    with pytest.raises(TemplateInvalid) as refused:
        read("policies:\n- use: no-open-shh\n- name: a\n  expresion: 'true'\n- use: budget\n  kinds: [crate]\n")
    text = refused.value.message
    assert "policies.yaml:2:" in text and "did you mean 'no-open-ssh'?" in text
    assert "did you mean 'expression'?" in text
    assert "budget needs the parameter 'monthly'" in text and "did you mean 'create'?" in text
    with pytest.raises(TemplateInvalid, match="cannot be evaluated"):
        read("policies:\n- {name: a, expression: '1 +'}\n")
    with pytest.raises(TemplateInvalid, match="there is no plan in a policy for each resource: use step"):
        read("policies:\n- {name: a, expression: plan.steps.size() < 3}\n")


# -- no way in passes a deny ------------------------------------------------------------------------------------

NOTHING_AT_ALL = """
policies:
- name: freeze
  for: plan
  expression: "false"
  message: nothing may change
"""
REF = {"name": "web", "id": None}
NET = {"type": "OS::Neutron::Net", "properties": {"name": "declared"}}
NETWORKS = "/network/v2.0/networks"
SLOW = EngineSettings(lease_seconds=5000.0, heartbeat_seconds=5.0, stack_action_timeout=10_000_000)


class Governed:
    """A world whose operator, or a manager of whose project, introduces policies after users have made stacks."""

    def __init__(self, world: World, served: ServedCloud, source: Source) -> None:
        self.world = world
        self.served = served
        self._source = source

    async def freeze(self, policies: str = NOTHING_AT_ALL) -> None:
        """Start the engine again with policies; from here on, no request may change an object."""
        if self._source is Source.PROJECT:
            await self.world.call("plan_policies_change", policies=policies)
        await self.world.stop()
        if self._source is Source.OPERATOR:
            self.world.settings = replace(self.world.settings, plan_policies=read(policies))
        await self.world.start()
        self._begun = len(self._changes())

    def _changes(self) -> list[dict[str, Any]]:
        """The requests that have changed the cloud, apart from logging in and trusts."""
        entries = self.served.do(lambda: self.served.cloud.journal.select({}))
        return [entry for entry in entries if entry["service"] != "keystone"]

    async def refused(self, stack_id: str, action: str) -> None:
        """The newest operation of a stack has this action, and a policy has denied it before it changed anything."""
        newest, *_ = await self.world.database.read(queries.operations_of, stack_id)
        assert (newest.action, newest.status) == (action, FAILED)
        assert newest.failure is not None and Failure.from_json(newest.failure).kind == "PolicyDenied"
        assert "policy-denied freeze: nothing may change" in newest.reason
        assert self._changes()[self._begun :] == []


@pytest.fixture(params=[Source.OPERATOR, Source.PROJECT])
async def governed(request: pytest.FixtureRequest, served: ServedCloud, tmp_path: Path) -> AsyncIterator[Governed]:
    world = World(tmp_path / "stoker.db", served, settings=SLOW)
    yield Governed(await world.start(), served, request.param)
    await world.stop()


ACTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "UPDATE": ("stack_update", {"template": template(net=NET, more=NET)}),
    "PATCH": ("stack_patch", {"template": template(net=NET, more=NET)}),
    "RETRY": ("stack_patch", {"template": template(net=NET)}),
    "DELETE": ("stack_delete", {}),
    "SUSPEND": ("stack_action", {"action": "suspend"}),
    "CHECK": ("stack_action", {"action": "check"}),
    "SNAPSHOT": ("snapshot_create", {}),
}


@pytest.mark.parametrize("way", ACTIONS)
async def test_requests_are_checked_by_policies(governed: Governed, way: str) -> None:
    world = governed.world
    made = await world.create("web", template(net=NET))
    await governed.freeze()
    method, arguments = ACTIONS[way]
    await world.call(method, ref=REF, **arguments)
    await world.settle(made["id"])
    await governed.refused(made["id"], {"PATCH": "UPDATE", "RETRY": "UPDATE"}.get(way, way))


async def test_scaling_signals_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    properties = {"min_size": 1, "max_size": 4, "cooldown": 0, "resource": NET}
    up = {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "auto_scaling_group_id": {"get_resource": "group"},
            "adjustment_type": "change_in_capacity",
            "scaling_adjustment": 1,
        },
    }
    await world.create("web", template(group={"type": "OS::Heat::AutoScalingGroup", "properties": properties}, up=up))
    group = (await world.resources("web"))["group"]["physical_id"]
    await governed.freeze()
    await world.call("resource_signal", ref=REF, name="up", details=None)
    await world.settle(group)
    await governed.refused(group, "UPDATE")


async def test_rollbacks_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    await governed.freeze(NOTHING_AT_ALL.replace("for: plan", "for: plan\n  actions: [ROLLBACK]"))
    body = template(net=NET, bad={**resource(fail=True), "depends_on": "net"})
    made = await world.create("web", body, disable_rollback=False)
    assert (made["action"], made["status"]) == ("ROLLBACK", "FAILED")
    (net,) = [each for each in await world.listed(REF) if each["name"] == "net"]
    assert (net["action"], net["status"]) == ("CREATE", "COMPLETE"), "it was not removed"


async def test_snapshot_restores_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    made = await world.create("web", template(net=NET))
    taken = await world.call("snapshot_create", ref=REF)
    await world.settle(made["id"])
    await governed.freeze()
    await world.call("snapshot_restore", ref=REF, snapshot_id=taken["id"])
    await world.settle(made["id"])
    await governed.refused(made["id"], "RESTORE")


async def test_healing_is_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    made = await world.create("web", template(net=NET), tags=["stoker:heal=10"])
    net = (await world.resources("web"))["net"]["physical_id"]
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    await cloud.request("DELETE", "neutron", f"/v2.0/networks/{net}")
    await governed.freeze()
    for _ in range(400):
        found = await world.database.read(queries.operations_of, made["id"])
        if any(one.cause == HEALING and one.finished_at for one in found):
            break
        world.clock.advance(5)  # type: ignore[attr-defined]
        await world.turn()
    await world.settle(made["id"])
    await governed.refused(made["id"], "UPDATE")


async def test_drift_repairs_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    world.settings = replace(world.settings, drift_interval=600, drift_calls_per_minute=6000)
    made = await world.create("web", template(net=NET))
    await world.call("drift_watch_change", ref=REF, mode="repair")
    net = (await world.resources("web"))["net"]["physical_id"]
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    await cloud.request("PUT", "neutron", f"/v2.0/networks/{net}", json={"network": {"name": "changed"}})
    await governed.freeze()
    for _ in range(2000):
        found = await world.database.read(queries.operations_of, made["id"])
        if any(one.cause == HEALING and one.finished_at for one in found):
            break
        world.clock.advance(10)  # type: ignore[attr-defined]
        await world.turn()
    await world.settle(made["id"])
    await governed.refused(made["id"], "UPDATE")


async def test_operations_taken_over_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    held = {"resource_registry": {"resources": {"net": {"hooks": "pre-create"}}}}
    made = await world.call("stack_create", name="web", template=template(net=NET), environment=held)
    await world.until(lambda: all(run.waiting.paused for run in world.engine.runs.values()))
    await governed.freeze()
    await world.settle(made["id"])
    await governed.refused(made["id"], "CREATE")
    (newest,) = await world.database.read(queries.operations_of, made["id"])
    assert newest.reason.startswith("Nothing more was changed")


async def test_change_sets_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    made = await world.create("web", template(net=NET))
    body = {"template": template(net=NET, more=NET)}
    request = {"stack_name": "web", "name": "more", "kind": "UPDATE", "description": None, "body": body}
    await world.call("change_set_create", **request, settings={})
    await governed.freeze()
    await world.call("change_set_execute", stack="web", name="more")
    await world.settle(made["id"])
    await governed.refused(made["id"], "UPDATE")


@pytest.mark.parametrize("path", ["more", "tier.more"])
async def test_imports_are_checked_by_policies(governed: Governed, path: str) -> None:
    world = governed.world
    made = await world.create("web", template(net=NET))
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    answer = await cloud.request("POST", "neutron", "/v2.0/networks", json={"network": {"name": "declared"}})
    await governed.freeze(NOTHING_AT_ALL.replace("for: plan", "kinds: [import]"))
    environment = {"imports": [{"to": path, "id": answer.body["network"]["id"]}]}
    further, files = {"more": NET}, {"tier.yaml": json.dumps(template(more=NET))}
    definition = template(net=NET, **(further if path == "more" else {"tier": {"type": "tier.yaml"}}))
    await world.call("stack_update", ref=REF, template=definition, environment=environment, files=files)
    shown = await world.settle(made["id"])
    assert shown["status"] == "FAILED" and f"policy-denied freeze: {path}:" in shown["status_reason"]
    assert set(await world.resources("web")) == {"net"}


async def test_adoptions_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    world.settings = replace(world.settings, enable_stack_abandon=True, enable_stack_adopt=True)
    await world.stop()
    await world.start()
    await world.create("web", template(net=NET))
    document = await world.call("stack_abandon", ref=REF)
    await world.until(lambda: not list(world.engine.runs.values()))
    await governed.freeze()
    back = await world.call("stack_create", name="web", template=None, adopt_stack_data=document)
    await world.settle(back["id"])
    await governed.refused(back["id"], "ADOPT")


ASK = NOTHING_AT_ALL.replace("message:", "verdict: require_approval\n  message:")


def halves(world: World, **more: Any) -> dict[str, Any]:
    """The request that moves the network of the stack web to the stack other."""
    bodies = {"web": template(word=word()), "other": template(net=NET)}
    return {"templates": {name: json.dumps(body) for name, body in bodies.items()}, "creates": True, **more}


async def refactored(governed: Governed) -> tuple[dict[str, Any], dict[str, Any]]:
    """A stack, and a refactoring of it that was examined before there were policies."""
    made = await governed.world.create("web", template(net=NET, word=word()))
    return made, await governed.world.call("stack_refactor_create", **halves(governed.world))


async def test_refactorings_are_checked_by_policies(governed: Governed) -> None:
    world = governed.world
    made, examined = await refactored(governed)
    assert examined["execution_status"] == "AVAILABLE"
    await governed.freeze()
    with pytest.raises(Invalid, match=r"(?s)cannot be carried out any more.*policy-denied freeze: nothing may change"):
        await world.call("stack_refactor_execute", refactor_id=examined["id"])
    again = await world.call("stack_refactor_create", **halves(world))
    assert (again["status"], again["execution_status"]) == ("CREATE_FAILED", "UNAVAILABLE")
    assert "web: policy-denied freeze: nothing may change" in again["status_reason"]
    with pytest.raises(Invalid, match="UNAVAILABLE"):
        await world.call("stack_refactor_execute", refactor_id=again["id"])
    assert set(await world.resources("web")) == {"net", "word"}
    assert [each.action for each in await world.database.read(queries.operations_of, made["id"])] == ["CREATE"]
    with pytest.raises(EntityNotFound):
        await world.call("stack_show", ref={"name": "other", "id": None})


async def test_a_refactoring_waits_for_the_approval_that_a_policy_requires(governed: Governed) -> None:
    world = governed.world
    _, examined = await refactored(governed)
    await governed.freeze(ASK)
    with pytest.raises(ApprovalRequired, match="needs the approval of 1 other person"):
        await world.call("stack_refactor_execute", refactor_id=examined["id"])
    assert set(await world.resources("web")) == {"net", "word"}
    (request,) = await world.call("change_request_list")
    assert (request["stack_name"], request["status"]) == ("web", "WAITING")
    other = replace(world.context, user_id="somebody-else")
    review = {"request_id": request["id"], "verdict": "APPROVED"}
    await world.ended(OPERATIONS["change_request_judge"](world.engine, other, review))
    await world.call("stack_refactor_execute", refactor_id=examined["id"])
    assert set(await world.resources("web")) == {"word"}
    (operation, *_) = await world.call("operation_list", ref=REF)
    plan = (await world.call("operation_show", ref=REF, operation_id=operation["id"]))["plan"]
    assert plan["policies"]["verdict"] == "require_approval"


async def test_target_stack_policies_check_moved_resources(governed: Governed) -> None:
    """A policy for resources that come to a stack is asked about those that come from another stack, too."""
    world = governed.world
    await refactored(governed)
    await governed.freeze("policies: [{name: names, types: ['OS::Neutron::Net'], expression: 'false'}]")
    again = await world.call("stack_refactor_create", **halves(world))
    assert "other: policy-denied names: net:" in again["status_reason"]
    assert "web: policy-denied" not in again["status_reason"]
    renamed = {"templates": {"web": json.dumps(template(link=NET, word=word()))}}
    moved = [{"from": {"stack": "web", "resource": "net"}, "to": {"stack": "web", "resource": "link"}}]
    named = await world.call("stack_refactor_create", **renamed, moved=moved)
    assert named["execution_status"] == "AVAILABLE", "a name within the stack is nothing that comes to it"


# -- the packs, and hostile expressions -------------------------------------------------------------------------------


def found(text: str, *steps: dict[str, Any], **plan: Any) -> list[tuple[str | None, bool | None]]:
    """What each policy that does not hold says: its name, and None for one that could not be evaluated."""
    whole = {"action": "CREATE", "stack": {"tags": [], "nested": False}, "steps": list(steps), **plan}
    return [(each.policy.name, each.holds) for each in evaluated(read(text), whole) if not each.holds]


def step(type_name: str, kind: str = "create", **properties: Any) -> dict[str, Any]:
    return {
        "path": "one",
        "kind": kind,
        "kinds": [kind],
        "type": type_name,
        "types": [type_name],
        "properties": properties,
        "unknown": [],
        "loses_data": kind == "delete",
    }


SSH = "policies: [{use: no-open-ssh}]"


@pytest.mark.parametrize(
    ("rule", "is_open"),
    [
        ({"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}, True),
        ({"protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "0.0.0.0/0"}, True),
        ({"protocol": "tcp", "port_range_min": 1, "port_range_max": 1000, "remote_ip_prefix": "128.0.0.0/1"}, True),
        ({"protocol": "6", "remote_ip_prefix": "::/0", "ethertype": "IPv6"}, True),
        ({}, True),
        ({"remote_ip_prefix": "1.2.3.4/0.0.0.0"}, True),
        ({"protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "10.0.0.0/8"}, False),
        ({"protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "2001:db8::/32"}, False),
        ({"protocol": "tcp", "port_range_min": 80, "port_range_max": 443}, False),
        ({"protocol": "udp"}, False),
        ({"direction": "egress"}, False),
        ({"protocol": "tcp", "remote_mode": "remote_group_id"}, False),
    ],
)
def test_open_ssh_is_denied_by_example_policy(rule: dict[str, Any], is_open: bool) -> None:
    expected = [("no-open-ssh", False)] if is_open else []
    assert found(SSH, step("OS::Neutron::SecurityGroup", rules=[{"protocol": "udp"}, rule])) == expected
    alone = {name: value for name, value in rule.items() if name != "remote_mode"}
    if alone == rule:
        assert found(SSH, step("OS::Neutron::SecurityGroupRule", **rule)) == expected


@pytest.mark.parametrize(
    ("policy", "good", "bad"),
    [
        (
            "use: volumes-encrypted, parameters: {volume_types: [luks]}",
            [step("OS::Cinder::Volume", volume_type="luks")],
            [step("OS::Cinder::Volume", size=1)],
        ),
        (
            "use: no-public-images",
            [step("OS::Glance::WebImage", visibility="private")],
            [step("OS::Glance::WebImage", visibility="public")],
        ),
        (
            "use: metadata-required, parameters: {keys: [owner]}",
            [step("OS::Nova::Server", metadata={"owner": "me"})],
            [step("OS::Nova::Server", metadata={"other": "me"})],
        ),
        (
            "use: allowed-flavors, parameters: {flavors: [m1.tiny]}",
            [step("OS::Nova::Server", flavor="m1.tiny"), step("AWS::EC2::Instance", InstanceType="m1.tiny")],
            [step("OS::Nova::Server", flavor="m1.xlarge")],
        ),
        (
            "use: allowed-images, parameters: {images: [cirros]}",
            [step("OS::Nova::Server", image="cirros"), step("OS::Cinder::Volume", size=1)],
            [step("OS::Nova::Server", block_device_mapping_v2=[{"image": "other"}])],
        ),
        (
            "use: data-loss-limit, parameters: {most: 1}",
            [step("OS::Cinder::Volume", "delete")],
            [step("OS::Cinder::Volume", "delete"), step("OS::Cinder::Volume", "delete")],
        ),
    ],
)
def test_policy_packs(policy: str, good: list[dict[str, Any]], bad: list[dict[str, Any]]) -> None:
    text = f"policies: [{{{policy}}}]"
    assert found(text, *good) == []
    assert [holds for _, holds in found(text, *bad)] == [False]


def test_a_budget_and_required_tags() -> None:
    budget = "policies: [{use: budget, parameters: {monthly: 100}}]"
    assert found(budget, costs={"after": "99.99", "change": "99.99", "currency": "EUR"}) == []
    assert found(budget, costs={"after": "100.01", "change": "100.01", "currency": "EUR"}) == [("budget", False)]
    assert found(budget, costs={"after": "200.00", "change": "-10.00", "currency": "EUR"}) == []
    assert found(budget) == [("budget", None)], "without a price list, it cannot be evaluated"
    tags = "policies: [{use: stack-tags-required, parameters: {tags: [owner]}}]"
    assert found(tags, stack={"tags": ["owner:me"], "nested": False}) == []
    assert found(tags) == [("stack-tags-required", False)]


LOOPS = "R.map(a, R.map(b, R.map(c, R.map(d, R.map(e, a + b + c + d + e))))).size() == 0".replace(
    "R", str([*range(60)])
)


@pytest.mark.parametrize(
    "expression",
    [
        LOOPS,
        "step.properties.nothing == 1",
        "1 + 1",
        "unknown_name",
        "'a' + 1 == 'a1'",
        "[1][7] == 1",
        "'x'.matches('(')",
    ],
)
def test_a_policy_that_cannot_be_evaluated_denies_and_others_are_evaluated(expression: str) -> None:
    written = [{"name": "odd", "expression": expression}, {"name": "next", "expression": "false"}]
    results = found(json.dumps({"policies": written}), step("OS::Nova::Server"))
    assert results == [("odd", None), ("next", False)]
    assert len(LOOPS) < 4096


def test_expressions_that_are_too_deep_or_too_long_are_refused() -> None:
    for expression in ("(" * 1500 + "true" + ")" * 1500, "[" * 1500 + "]" * 1500, "true ? " * 500 + "true"):
        with pytest.raises(TemplateInvalid, match=r"cannot be evaluated|at most 4096"):
            read(json.dumps({"policies": [{"name": "deep", "expression": expression}]}))
    with pytest.raises(TemplateInvalid, match="at most 4096"):
        read(json.dumps({"policies": [{"name": "long", "expression": "true || " * 1000 + "true"}]}))


def taking(**more: Any) -> dict[str, Any]:
    """The definition of the stack other, whose deployment takes the network of the stack web."""
    entry = {"from": {"stack": "web", "resource": "net"}, "to": {"stack": "other", "resource": "net"}}
    return {"template": template(net=NET), "environment": {"moved": [entry]}, **more}


async def test_move_from_stack_with_denying_policy_is_refused(governed: Governed) -> None:
    world = governed.world
    await world.create("web", template(net=NET, word=word()))
    await governed.freeze()
    with pytest.raises(PolicyDenied, match=r"web: policy-denied freeze: nothing may change"):
        await world.call("stack_create", name="other", **taking())
    assert set(await world.resources("web")) == {"net", "word"}
    with pytest.raises(EntityNotFound):
        await world.call("stack_show", ref={"name": "other", "id": None})


async def test_move_between_stacks_requires_approvals_of_both(governed: Governed) -> None:
    world = governed.world
    await world.create("web", template(net=NET, word=word()))
    had = (await world.resources("web"))["net"]
    await governed.freeze(ASK)
    for name in ("other", "web"):
        with pytest.raises(ApprovalRequired, match="needs the approval of 1 other person"):
            await world.call("stack_create", name="other", **taking())
        (request,) = [each for each in await world.call("change_request_list") if each["status"] == "WAITING"]
        assert request["stack_name"] == name
        other = replace(world.context, user_id="somebody-else")
        review = {"request_id": request["id"], "verdict": "APPROVED"}
        await world.ended(OPERATIONS["change_request_judge"](world.engine, other, review))
    made = await world.call("stack_create", name="other", **taking())
    await world.settle(made["id"])
    assert set(await world.resources("web")) == {"word"}
    assert (await world.resources("other"))["net"]["physical_id"] == had["physical_id"]
    used = [each["status"] for each in await world.call("change_request_list")]
    assert used == ["USED", "USED"], used
