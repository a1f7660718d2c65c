"""Changes that need the approval of other people: what approvals are bound to, and that nothing bypasses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.context import RequestContext
from stoker.base.errors import (
    ApprovalRequired,
    BadValue,
    Conflict,
    EntityNotFound,
    Forbidden,
    PlanOutdated,
)
from stoker.engine.change_control import Control
from stoker.engine.plan_policies.policy import Source
from stoker.engine.plan_policies.policy_files import read_policies
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.store import approvals
from stoker.store.approvals import Requirement
from stoker_foundation.clock import ManualClock
from testing.harness import World

VERSION = "2021-04-16"
REF = {"name": "web", "id": None}
TWO_PEOPLE = {"approvals": [{"role": "operator", "number": 1}, {"number": 2}]}
ONE_PERSON = {"approvals": [{"number": 1}]}
SETTINGS = EngineSettings(enable_stack_abandon=True)


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": VERSION, "resources": resources}


def value(text: str) -> dict[str, Any]:
    return template(value={"type": "OS::Heat::TestResource", "properties": {"value": text}})


@pytest.fixture
async def world(tmp_path: Path, served: ServedCloud) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served, settings=SETTINGS).start()
    yield world
    await world.stop()


def person(world: World, name: str, *roles: str) -> RequestContext:
    """Another user of the project."""
    return replace(world.context, user_id=f"id-of-{name}", user_name=name, roles=("member", "reader", *roles))


async def ask(world: World, who: RequestContext, method: str, **arguments: Any) -> Any:
    return await world.ended(OPERATIONS[method](world.engine, who, arguments))


async def require(world: World, control: Mapping[str, Any] | None, ref: Any = REF) -> Any:
    return await world.call("change_control_change", **({"ref": ref} if ref else {}), control=control)


async def waiting(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await world.call("change_request_list", status=["WAITING"])
    return found


async def approve(world: World, who: RequestContext, request_id: str, verdict: str = "APPROVED") -> Any:
    return await ask(world, who, "change_request_judge", request_id=request_id, verdict=verdict, comment="looked at")


async def approved(world: World, change: Callable[[], Awaitable[Any]]) -> Any:
    """Make a change after the approval of another person, which it must need."""
    with pytest.raises(ApprovalRequired):
        await change()
    [request] = await waiting(world)
    await approve(world, person(world, "alice"), request["id"])
    return await change()


async def asked(world: World, control: Mapping[str, Any]) -> dict[str, Any]:
    """Create a stack, say what its changes need, and return the request that the refused update has made."""
    await world.create("web", value("1"))
    await require(world, control)
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))
    [request] = await waiting(world)
    return request


async def test_change_waits_for_approvals_by_required_roles(world: World) -> None:
    await world.create("web", value("1"))
    await require(world, TWO_PEOPLE)
    with pytest.raises(ApprovalRequired, match="1 other person with the role operator and of 2 other people"):
        await world.update("web", value("2"))
    [request] = await waiting(world)
    assert (request["stack_name"], request["action"], request["user_name"]) == ("web", "UPDATE", "demo")
    assert request["waits_for_caller"] is False, "its author cannot approve it"
    with pytest.raises(Forbidden, match="author"):
        await approve(world, world.context, request["id"])

    alice, bob = person(world, "alice"), person(world, "bob", "operator")
    [seen] = await ask(world, alice, "change_request_list")
    assert seen["waits_for_caller"] is True
    [plan] = [await ask(world, alice, "change_request_show", request_id=request["id"])]
    assert [step["path"] for step in plan["plan"]["steps"]] == ["value"]
    assert (await approve(world, alice, request["id"]))["status"] == "WAITING"
    await approve(world, alice, request["id"])  # saying it again does not count twice
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))
    assert len(await waiting(world)) == 1, "the same change is one request"
    assert (await approve(world, bob, request["id"]))["status"] == "APPROVED"

    shown = await world.update("web", value("2"))
    assert (shown["action"], shown["status"]) == ("UPDATE", "COMPLETE")
    [used] = await world.call("change_request_list")
    [operation, *_] = await world.call("operation_list", ref=REF)
    assert (used["status"], used["operation"]) == ("USED", operation["id"])
    with pytest.raises(Conflict, match="USED"):
        await approve(world, alice, request["id"])
    events = await world.call("event_list", ref=REF)
    assert [event for event in events if event["action"] == "APPROVAL"]


async def test_update_without_changes_needs_no_approval(world: World) -> None:
    """Only one that changes neither objects nor what is recorded: a policy for later deletions is a change, too."""
    await world.create("web", value("1"), parameters={}, tags=["one"])
    await require(world, TWO_PEOPLE)
    shown = await world.update("web", value("1"), tags=["one"])
    assert (shown["action"], shown["status"]) == ("UPDATE", "COMPLETE")
    assert await waiting(world) == []
    kept = value("1")
    kept["resources"]["value"]["deletion_policy"] = "Retain"
    for change in (
        {"template": kept, "tags": ["one"]},
        {"template": value("1"), "tags": ["two"]},
        {"template": {**value("1"), "outputs": {"word": {"value": "x"}}}, "tags": ["one"]},
        {"template": value("1"), "tags": ["one"], "disable_rollback": not shown["disable_rollback"]},
    ):
        with pytest.raises(ApprovalRequired):
            await world.call("stack_update", ref=REF, **change)


async def test_update_without_changes_needs_approval_after_a_failure(world: World) -> None:
    await world.create("web", value("1"))
    failing = value("2")
    failing["resources"]["value"]["properties"]["fail"] = True
    assert (await world.update("web", failing, disable_rollback=True))["status"] == "FAILED"
    await require(world, ONE_PERSON)
    with pytest.raises(ApprovalRequired):
        await world.update("web", failing)


async def test_approval_is_bound_to_one_plan(world: World) -> None:
    request = await asked(world, ONE_PERSON)
    await approve(world, person(world, "alice"), request["id"])
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("3"))
    await approved_other(world, request["id"])
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))  # the stack has changed since the approval
    states = {row["id"]: row["status"] for row in await world.call("change_request_list")}
    assert states[request["id"]] == "OUTDATED"
    with pytest.raises(PlanOutdated):
        await world.update("web", value("2"), plan_digest=request["plan_digest"])


async def approved_other(world: World, besides: str) -> None:
    [other] = [row for row in await waiting(world) if row["id"] != besides]
    await approve(world, person(world, "bob"), other["id"])
    assert (await world.update("web", value("3")))["status"] == "COMPLETE"


async def test_an_approval_expires(world: World) -> None:
    request = await asked(world, {**ONE_PERSON, "valid_hours": 1})
    await approve(world, person(world, "alice"), request["id"])
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(3601.0)
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))
    states = [row["status"] for row in await world.call("change_request_list")]
    assert states == ["WAITING", "EXPIRED"]


async def test_rejected_change_is_refused(world: World) -> None:
    request = await asked(world, ONE_PERSON)
    alice, bob = person(world, "alice"), person(world, "bob")
    await approve(world, alice, request["id"], "REJECTED")
    assert (await approve(world, bob, request["id"]))["status"] == "REJECTED"
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))
    await approve(world, alice, request["id"])
    assert (await world.update("web", value("2")))["status"] == "COMPLETE"


async def test_every_entry_point_requires_approval(world: World) -> None:
    await world.create("web", value("1"))
    kept = await world.call("snapshot_create", ref=REF, name="before")
    await world.settle((await world.call("stack_show", ref=REF))["id"])
    await require(world, ONE_PERSON)
    ways: dict[str, Callable[[], Awaitable[Any]]] = {
        "PUT": lambda: world.call("stack_update", ref=REF, template=value("2")),
        "PATCH": lambda: world.call("stack_patch", ref=REF, template=value("2")),
        "DELETE": lambda: world.call("stack_delete", ref=REF),
        "suspend": lambda: world.call("stack_action", ref=REF, action="suspend"),
        "restore": lambda: world.call("snapshot_restore", ref=REF, snapshot_id=kept["id"]),
        "abandon": lambda: world.call("stack_abandon", ref=REF),
    }
    before = await world.call("stack_show", ref=REF)
    for way, change in ways.items():
        with pytest.raises(ApprovalRequired):
            await change()
        now = await world.call("stack_show", ref=REF)
        assert (now["action"], now["status"]) == (before["action"], before["status"]), way
    await world.call("stack_action", ref=REF, action="check")  # only reads


async def test_a_change_set_waits_for_approval_when_it_is_executed(world: World) -> None:
    await world.create("web", value("1"))
    await require(world, ONE_PERSON)
    body = {"template": value("2")}
    request_body = {"name": "next", "stack_name": "web", "kind": "UPDATE", "description": None, "body": body}
    await world.call("change_set_create", **request_body, settings={})

    async def execute() -> Any:
        await world.call("change_set_execute", name="next", stack="web")
        return await world.settle((await world.call("stack_show", ref=REF))["id"])

    shown = await approved(world, execute)
    assert (shown["action"], shown["status"]) == ("UPDATE", "COMPLETE")


async def test_retry_of_approved_plan_needs_no_new_approval(world: World) -> None:
    failing = template(value={"type": "OS::Heat::TestResource", "properties": {"value": "1", "fail": True}})
    await world.create("web", failing, disable_rollback=True)
    await require(world, ONE_PERSON)

    async def retry() -> Any:
        await world.call("stack_action", ref=REF, action="retry")
        return await world.settle((await world.call("stack_show", ref=REF))["id"])

    shown = await approved(world, retry)  # nobody has approved the creation
    assert (shown["action"], shown["status"]) == ("CREATE", "FAILED")
    assert (await retry())["status"] == "FAILED"  # of what was approved


async def test_a_project_requires_approval_also_of_new_stacks(world: World) -> None:
    await require(world, ONE_PERSON, None)

    async def create() -> Any:
        return await world.create("web", value("1"))

    assert (await approved(world, create))["status"] == "COMPLETE"
    with pytest.raises(ApprovalRequired):
        await world.create("other", value("1"))


async def test_the_operator_requires_approval_of_all(tmp_path: Path, served: ServedCloud) -> None:
    settings = EngineSettings(change_control=Control.read({"approvals": [{"role": "operator"}]}))
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    try:
        with pytest.raises(ApprovalRequired, match="role operator"):
            await world.create("web", value("1"))
        [request] = await waiting(world)
        with pytest.raises(Forbidden, match="operator"):
            await approve(world, person(world, "alice"), request["id"])
    finally:
        await world.stop()


async def test_emergency_override_requires_a_recorded_reason(world: World) -> None:
    request = await asked(world, ONE_PERSON)
    with pytest.raises(BadValue, match="reason"):
        await world.call("change_request_break_glass", request_id=request["id"], reason="  ")
    broken = await world.call("change_request_break_glass", request_id=request["id"], reason="the shop is down")
    assert broken["status"] == "APPROVED" and broken["emergency"]["reason"] == "the shop is down"
    assert (await world.update("web", value("2")))["status"] == "COMPLETE"
    events = await world.call("event_list", ref=REF)
    assert any("the shop is down" in str(event) for event in events)


async def test_other_projects_cannot_read_or_decide(world: World) -> None:
    request = await asked(world, ONE_PERSON)
    stranger = replace(person(world, "mallory", "admin"), project_id="0" * 32)
    assert await ask(world, stranger, "change_request_list") == []
    for method, more in (
        ("change_request_show", {}),
        ("change_request_judge", {"verdict": "APPROVED"}),
        ("change_request_break_glass", {"reason": "because"}),
    ):
        with pytest.raises(EntityNotFound):
            await ask(world, stranger, method, request_id=request["id"], **more)


async def test_crash_between_approval_and_deployment_is_safe(tmp_path: Path, served: ServedCloud) -> None:
    world = await World(tmp_path / "stoker.db", served).start()
    request = await asked(world, ONE_PERSON)
    await approve(world, person(world, "alice"), request["id"])
    await world.stop()
    world = await World(tmp_path / "stoker.db", served).start()
    try:
        both = [world.call("stack_update", ref=REF, template=value("2"), supersede=False) for _ in range(2)]
        outcomes = [await outcome(change) for change in both]
        assert sorted(outcomes) == ["done", "refused"]
        row = await world.engine.services.database.read(approvals.by_id, world.context.project_id, request["id"])
        assert row is not None and row.operation is not None and row.pending is None
    finally:
        await world.stop()


async def outcome(change: Awaitable[Any]) -> str:
    try:
        await change
    except Conflict:
        return "refused"
    return "done"


async def test_approval_functions_for_plans_and_operations(world: World) -> None:
    """The functions for whatever else requires approvals, such as a policy about plans."""
    request = await asked(world, ONE_PERSON)
    await approve(world, person(world, "alice", "auditor"), request["id"])
    read, now = world.engine.services.database.read, world.clock.now()
    plan = (request["project_id"], request["stack_id"], "web", request["plan_digest"])
    assert await read(approvals.granted, *plan, Requirement("auditor", 1), now)
    assert not await read(approvals.granted, *plan, Requirement("auditor", 2), now)
    assert not await read(approvals.granted, *plan[:3], "0" * 32, Requirement("auditor", 1), now)
    await world.update("web", value("2"))
    [used] = await world.call("change_request_list")
    assert await read(approvals.granted_to_operation, used["operation"], Requirement("auditor", 1))
    assert not await read(approvals.granted_to_operation, "no-such", Requirement("auditor", 1))


SECRETS = """
policies:
- name: no-secrets
  types: [OS::Heat::TestResource]
  expression: step.properties.value != 'secret'
  verdict: require_approval
  message: the value is a secret
"""


async def test_a_policy_on_plans_requires_approval_of_the_plans_that_it_names(
    tmp_path: Path, served: ServedCloud
) -> None:
    policies = read_policies([("policies.yaml", SECRETS)], Source.OPERATOR)
    world = await World(tmp_path / "stoker.db", served, settings=EngineSettings(plan_policies=policies)).start()
    try:
        await world.create("web", value("1"))

        async def update() -> Any:
            return await world.update("web", value("secret"))

        shown = await approved(world, update)
        assert (shown["action"], shown["status"]) == ("UPDATE", "COMPLETE"), shown["reason"]
    finally:
        await world.stop()
