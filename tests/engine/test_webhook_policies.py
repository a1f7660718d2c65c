"""Policies that ask webhooks about plans."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ApprovalRequired, BadValue, TemplateInvalid
from stoker.base.webhooks import WebhookSettings
from stoker.engine.plan_policies.policy import Source
from stoker.engine.plan_policies.policy_files import read_policies
from stoker.engine.settings import EngineSettings
from testing.harness import World
from tests.engine.test_approvals import value
from tests.engine.webhooks import LOCAL, SECRET, Hook, served_hook

WEBHOOKS = WebhookSettings(SECRET, 0.5, LOCAL)


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    async with served_hook() as hook:
        yield hook


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served, settings=EngineSettings(webhooks=WEBHOOKS)).start()
    yield world
    await world.stop()


def asking(hook: Hook, **more: Any) -> str:
    return json.dumps({"policies": [{"name": "board", "webhook": hook.url, **more}]})


def answer_with(hook: Hook, verdict: str, message: str = "", hint: str = "") -> None:
    hook.answer = json.dumps({"verdict": verdict, "message": message, "hint": hint}).encode()


async def policies_of(world: World) -> Any:
    """What a preview says of a new stack."""
    return (await world.call("stack_preview", name="new", template=value("1")))["plan"]["policies"]


async def test_a_webhook_is_asked_about_the_plan_with_a_signature(world: World, hook: Hook) -> None:
    answer_with(hook, "allow")
    key = (await world.call("plan_policies_change", policies=asking(hook)))["webhook_key"]
    shown = await world.call("plan_policies_show")
    assert "webhook_key" not in shown and shown["policies"][0]["message"] == "asks 127.0.0.1"
    assert (await world.create("web", value("1")))["status"] == "COMPLETE"
    asked = hook.sent()
    assert [each["phase"] for each in asked] == ["preview", "operation"]
    assert {(each["type"], each["policy"], each["action"]) for each in asked} == {("plan.judge", "board", "CREATE")}
    [step] = asked[-1]["plan"]["steps"]
    assert (step["path"], step["kind"], step["properties"]["value"]) == ("value", "create", "1")
    for headers, body in hook.requests:
        time, digest = (part.partition("=")[2] for part in headers["Stoker-Signature"].split(","))
        assert digest == hmac.new(key.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()


async def test_the_answer_of_the_webhook_decides(world: World, hook: Hook) -> None:
    answer_with(hook, "deny", "no changes before\nthe sale", "ask the board")
    await world.call("plan_policies_change", policies=asking(hook))
    report = await policies_of(world)
    [result] = report["results"]
    assert (report["verdict"], result["code"], result["policy"], result["path"]) == (
        "deny",
        "policy-denied",
        "board",
        "",
    )
    assert result["diagnostic"]["message"] == "no changes before the sale"
    denied = await world.create("web", value("1"))
    assert denied["status"] == "FAILED" and "no changes before the sale; ask the board" in denied["status_reason"]
    assert await world.resources("web") == {}
    answer_with(hook, "warn", "late")
    assert (await policies_of(world))["verdict"] == "warn"
    assert (await world.update("web", value("1")))["status"] == "COMPLETE"
    answer_with(hook, "require_approval", "two pairs of eyes")
    with pytest.raises(ApprovalRequired):
        await world.update("web", value("2"))


async def test_actions_select_what_it_is_asked_about(world: World, hook: Hook) -> None:
    answer_with(hook, "deny")
    await world.call("plan_policies_change", policies=asking(hook, actions=["DELETE"]))
    assert (await world.create("web", value("1")))["status"] == "COMPLETE"
    assert hook.requests == []
    gone = await world.delete("web")
    assert (gone["action"], gone["status"]) == ("DELETE", "FAILED")


def slow(hook: Hook) -> None:
    hook.delay = 3.0


def failing(hook: Hook) -> None:
    hook.status = 500


def invalid_verdict(hook: Hook) -> None:
    answer_with(hook, "maybe")


def html_answer(hook: Hook) -> None:
    hook.answer = b"<html>"


def redirecting(hook: Hook) -> None:
    hook.status = 302


def long(hook: Hook) -> None:
    hook.answer = b" " * 70_000 + b"{}"


@pytest.mark.parametrize(
    "fault", [slow, failing, invalid_verdict, html_answer, redirecting, long], ids=lambda one: one.__name__
)
@pytest.mark.parametrize("on_failure", ["deny", "warn", None])
async def test_webhook_timeout_uses_the_configured_result(
    world: World, hook: Hook, fault: Callable[[Hook], None], on_failure: str | None
) -> None:
    answer_with(hook, "allow")
    fault(hook)
    more = {} if on_failure is None else {"on_failure": on_failure}
    await world.call("plan_policies_change", policies=asking(hook, **more))
    report = await policies_of(world)
    [result] = report["results"]
    assert (result["code"], report["verdict"]) == ("policy-failed", on_failure or "deny")
    assert "the webhook has not judged the plan" in result["diagnostic"]["message"]


async def test_webhook_is_called_only_when_configured(world: World, hook: Hook) -> None:
    """Nobody can make the service call a webhook by a preview."""
    preview = await world.call(
        "stack_preview", name="new", template=value("1"), plan_policies={"mine.yaml": asking(hook)}
    )
    [result] = preview["plan"]["policies"]["results"]
    assert (result["code"], result["verdict"]) == ("policy-deferred", "warn")
    assert hook.requests == []


async def test_the_operators_webhook_is_signed_with_the_secret_itself(
    served: ServedCloud, tmp_path: Path, hook: Hook
) -> None:
    answer_with(hook, "deny")
    policies = read_policies([("policies.yaml", asking(hook))], Source.OPERATOR)
    settings = EngineSettings(webhooks=WEBHOOKS, plan_policies=policies)
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    assert (await world.create("web", value("1")))["status"] == "FAILED"
    headers, body = hook.requests[-1]
    time, digest = (part.partition("=")[2] for part in headers["Stoker-Signature"].split(","))
    assert digest == hmac.new(SECRET.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()
    await world.stop()


async def test_private_webhook_addresses_are_refused(served: ServedCloud, tmp_path: Path, hook: Hook) -> None:
    settings = EngineSettings(webhooks=replace(WEBHOOKS, networks=()))
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    await world.call("plan_policies_change", policies=asking(hook))
    [result] = (await policies_of(world))["results"]
    assert "is not in [webhooks] networks" in result["diagnostic"]["message"]
    assert hook.requests == []
    await world.stop()


async def test_webhook_requires_operator_secret(served: ServedCloud, tmp_path: Path, hook: Hook) -> None:
    world = await World(tmp_path / "stoker.db", served).start()
    with pytest.raises(BadValue, match=r"\[webhooks\] secret"):
        await world.call("plan_policies_change", policies=asking(hook))
    await world.stop()


@pytest.mark.parametrize(
    ("more", "output"),
    [
        ({"expression": "true"}, "a policy with a webhook has no expression"),
        ({"types": ["OS::Nova::Server"]}, "has no types"),
        ({"verdict": "warn"}, "has no verdict"),
        ({"webhook": "ftp://example.com"}, "webhook must be an http or https URL"),
        ({"webhook": 3}, "webhook must be an http or https URL"),
        ({"on_failure": "allow"}, "on_failure must be one of deny, warn"),
    ],
)
async def test_mistakes_are_refused(world: World, hook: Hook, more: dict[str, Any], output: str) -> None:
    with pytest.raises(TemplateInvalid, match=output):
        await world.call("plan_policies_change", policies=asking(hook, **more))


async def test_webhooks_per_project_are_limited(world: World, hook: Hook) -> None:
    entries = [{"name": f"p{number}", "webhook": hook.url} for number in range(6)]
    with pytest.raises(TemplateInvalid, match="at most 5 may"):
        await world.call("plan_policies_change", policies=json.dumps({"policies": entries}))
    with pytest.raises(TemplateInvalid, match="on_failure is for policies with a webhook"):
        wrong = {"name": "p", "expression": "true", "on_failure": "warn"}
        await world.call("plan_policies_change", policies=json.dumps({"policies": [wrong]}))
