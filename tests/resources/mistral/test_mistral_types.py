"""Mistral's types as resources, on the emulated workflow service."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, CloudError
from stoker.cloud.session import Cloud
from stoker.plugins import capabilities
from stoker.plugins.outcome import Done, Replace
from stoker.resources.mistral.cron_trigger import CronTrigger
from stoker.resources.mistral.external_resource import ExternalResource
from stoker.resources.mistral.workflow import Workflow
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

ECHO = {"name": "say", "action": "std.echo output=<% $.text %>", "publish": {"said": "<% task().result %>"}}
GREETING = {
    "name": "greeting",
    "type": "direct",
    "input": {"text": "hello"},
    "output": {"said": "<% $.said %>", "nothing": None},
    "tasks": [ECHO],
}
RUN = {"name": "greeting", "input": {"text": "now"}}
VOLUMES = """
version: '2.0'
make:
  input: [size]
  output: {resource_id: "volume-<% $.size %>", size: <% $.size %>, kind: thin}
  tasks: {one: {action: std.noop}}
resize:
  input: [size]
  output: {size: <% $.size %>, before: <% env().heat_extresource_data.size %>}
  tasks: {one: {action: std.noop}}
rest:
  input: [size]
  tasks: {one: {action: std.noop}}
fail:
  input: [size]
  tasks: {one: {action: std.fail error_data="no space"}}
hang:
  input: [size]
  tasks: {one: {action: std.async_noop}}
"""


async def define(cloud: Cloud, text: str) -> None:
    await cloud.request("POST", "mistral", "/workflows", data=text.encode(), headers={"Content-Type": "text/plain"})


async def executions(cloud: Cloud) -> list[dict[str, Any]]:
    """The executions by the time of their creation, in seconds; those of the same second have no order."""
    return await cloud.list("mistral", "/executions", "executions", {"include_output": "true"})


async def shown(cloud: Cloud, name: str | None) -> dict[str, Any]:
    found: dict[str, Any] = await cloud.get("mistral", f"/workflows/{name}")
    return found


# -- OS::Mistral::Workflow --------------------------------------------------------------------------------------------


async def test_life_of_a_workflow(bench: Any, cloud: Cloud) -> None:
    workflows: Bench = bench(Workflow)
    workflow = await workflows.create({**GREETING, "tags": ["a"], "task_defaults": {"timeout": 5, "retry": {}}})
    assert (workflow.physical_id, workflows.reference(workflow), workflow.data["name"]) == ("greeting",) * 3
    live = await shown(cloud, "greeting")
    assert yaml.safe_load(live["definition"]) == {
        "version": "2.0",
        "greeting": {
            "type": "direct",
            "tags": ["a"],
            "input": ["text"],
            "output": {"said": "<% $.said %>"},
            "task-defaults": {"timeout": 5},
            "tasks": {"say": {"action": ECHO["action"], "publish": ECHO["publish"]}},
        },
    }
    retried = {**ECHO, "policies": {"wait_before": 1, "retry": {"count": 2}}}
    assert await workflows.update(workflow, {**GREETING, "description": "d", "tasks": [retried]}) == Done()
    changed = await shown(cloud, "greeting")
    assert changed["id"] == live["id"]
    definition = yaml.safe_load(changed["definition"])["greeting"]
    assert (definition["description"], "tags" in definition) == ("d", False)
    assert (definition["tasks"]["say"]["wait-before"], definition["tasks"]["say"]["retry"]) == (1, {"count": 2})
    assert await workflows.attribute(workflow, "data", "name") == "greeting"
    assert (await workflows.attribute(workflow, "show"))["id"] == live["id"]
    await workflows.run("delete", workflow)
    await workflows.run("delete", workflow)
    with pytest.raises(CloudError, match="not found"):
        await shown(cloud, "greeting")
    assert "user_id" not in workflow.data


async def test_signals_start_executions(bench: Any, cloud: Cloud, served: ServedCloud) -> None:
    workflows: Bench = bench(Workflow)
    workflow = await workflows.create({**GREETING, "params": {"env": {"a": 1}}})
    assert await workflows.attribute(workflow, "executions") == []

    async def signal(details: dict[str, Any]) -> str:
        call = workflows.call(workflow, "SIGNAL", workflow.properties)
        reason = await capabilities.signal(workflows.kind, call, details)
        workflow.data = dict(call.data)
        return reason

    await signal({})
    reason = await signal({"input": {"text": "bye"}, "params": {"env": {"b": 2}}})
    served.advance(5)
    latest, first = await workflows.attribute(workflow, "executions")
    assert latest["id"] in reason
    assert (latest["state"], latest["input"], latest["output"]) == ("SUCCESS", {"text": "bye"}, {"said": "bye"})
    assert (first["output"], first["workflow_name"]) == ({"said": "hello"}, "greeting")
    assert sorted(json.loads(one["params"])["env"].popitem() for one in await executions(cloud)) == [("a", 1), ("b", 2)]
    wrong: dict[str, Any]
    for wrong in ({"input": {"other": 1}}, {"input": "text"}, {"params": []}):
        with pytest.raises(BadValue):
            await signal(wrong)
    await workflows.update(workflow, {**GREETING, "use_request_body_as_input": True})
    await signal({"text": "whole"})
    assert len(workflow.data["executions"].split(",")) == 3
    await workflows.run("suspend", workflow)
    await workflows.run("resume", workflow)
    await workflows.delete(workflow)
    assert await executions(cloud) == [], "also those in progress"


async def test_a_reverse_workflow_reaches_its_task(bench: Any, cloud: Cloud, served: ServedCloud) -> None:
    workflows: Bench = bench(Workflow)
    tasks = [
        {"name": "first", "action": "std.echo output=1", "publish": {"a": "<% task().result %>"}},
        {"name": "second", "action": "std.noop", "requires": ["first"]},
        {"name": "third", "action": "std.fail"},
    ]
    given = {"type": "reverse", "params": {"task_name": "second"}, "tasks": tasks, "output": {"a": "<% $.a %>"}}
    workflow = await workflows.create(given)
    call = workflows.call(workflow, "SIGNAL", workflow.properties)
    await capabilities.signal(workflows.kind, call, None)
    served.advance(5)
    (execution,) = await executions(cloud)
    assert (execution["state"], json.loads(execution["output"])) == ("SUCCESS", {"a": 1})


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"type": "reverse", "tasks": [ECHO]}, "requires task_name"),
        ({"type": "direct", "tasks": [{**ECHO, "workflow": "w"}]}, "both action and workflow"),
        ({"type": "direct", "tasks": [{"name": "t"}]}, "requires action or workflow"),
        ({"type": "direct", "tasks": [{**ECHO, "requires": ["t"]}]}, "type reverse"),
        ({"type": "direct", "tasks": [{**ECHO, "timeout": 1, "policies": {"timeout": 2}}]}, "timeout twice"),
        ({"type": "direct", "tasks": [{**ECHO, "policies": {"colour": 2}}]}, "no policy colour"),
        ({"type": "direct", "tasks": [{**ECHO, "concurrency": 2}]}, "requires with_items"),
        ({"type": "direct", "tasks": []}, "length"),
    ],
)
async def test_contradictions_are_refused(bench: Any, properties: dict[str, Any], message: str) -> None:
    with pytest.raises(BadProperties, match=message):
        await bench(Workflow).create(properties)


async def test_refused_definition_and_external_changes(bench: Any, cloud: Cloud) -> None:
    workflows: Bench = bench(Workflow)
    with pytest.raises(CloudError, match="Task 'nowhere' not found"):
        await workflows.create({"type": "direct", "tasks": [{**ECHO, "on_success": ["nowhere"]}]})
    workflow = await workflows.create(GREETING)
    definition = yaml.safe_load((await shown(cloud, "greeting"))["definition"])
    definition["greeting"]["description"] = "other"
    definition["greeting"]["tasks"]["say"]["action"] = "std.noop"
    data = yaml.safe_dump(definition).encode()
    await cloud.request("PUT", "mistral", "/workflows", data=data, headers={"Content-Type": "text/plain"})
    call = workflows.call(workflow, "CHECK", workflow.properties)
    assert await workflows.kind.observe(call) == {"tasks": None}
    assert await workflows.kind.needs_replacement_after_failure(call) is False
    await cloud.delete("mistral", "/workflows/greeting")
    assert await workflows.kind.observe(call) is None
    assert await workflows.kind.needs_replacement_after_failure(call) is True


@pytest.mark.parametrize("name", [None, "greeting"])
async def test_a_workflow_is_created_once_despite_crashes(bench: Any, cloud: Cloud, name: str | None) -> None:
    workflows: Bench = bench(Workflow)
    workflow = workflows.resource()
    workflow.properties = await workflows.finalized({**GREETING, "name": name})
    await run_crashing(workflows, "create", workflow)
    listed = await cloud.list("mistral", "/workflows", "workflows")
    assert [one["name"] for one in listed] == [workflow.physical_id]


# -- OS::Mistral::CronTrigger -----------------------------------------------------------------------------------------


async def test_a_cron_trigger_starts_a_workflow(bench: Any, cloud: Cloud, served: ServedCloud) -> None:
    await bench(Workflow).create(GREETING)
    triggers: Bench = bench(CronTrigger)
    given = {"pattern": "*/10 * * * *", "count": 2, "workflow": RUN}
    trigger = await triggers.create(given)
    assert await triggers.attribute(trigger, "remaining_executions") == 2
    assert str(await triggers.attribute(trigger, "next_execution_time")).endswith("22:20:00")
    with pytest.raises(CloudError, match="triggers associated"):
        await cloud.delete("mistral", "/workflows/greeting")
    served.advance(600)
    assert [one["state"] for one in await executions(cloud)] == ["SUCCESS"]
    assert json.loads((await executions(cloud))[0]["output"]) == {"said": "now"}
    assert await triggers.attribute(trigger, "remaining_executions") == 1
    served.advance(600)
    assert len(await executions(cloud)) == 2
    await triggers.observed(trigger)
    assert await triggers.attribute(trigger, "remaining_executions") is None, "it is gone after its last execution"
    served.advance(1200)
    assert len(await executions(cloud)) == 2
    await triggers.delete(trigger)

    once = await triggers.create({"first_time": "2030-01-01 00:00", "workflow": RUN, "name": "once"})
    assert (once.physical_id, triggers.reference(once)) == ("once", "once")
    assert (await triggers.attribute(once, "show"))["remaining_executions"] == 1
    with pytest.raises(BadProperties, match="pattern and first_time"):
        await triggers.create({"workflow": RUN})
    await triggers.delete(once)


async def test_a_cron_trigger_is_created_once_despite_crashes(bench: Any, cloud: Cloud) -> None:
    await bench(Workflow).create(GREETING)
    triggers: Bench = bench(CronTrigger)
    trigger = triggers.resource()
    trigger.properties = await triggers.finalized({"pattern": "0 0 * * *", "workflow": RUN})
    await run_crashing(triggers, "create", trigger)
    listed = await cloud.list("mistral", "/cron_triggers", "cron_triggers")
    assert [one["name"] for one in listed] == [trigger.physical_id]


# -- OS::Mistral::ExternalResource ------------------------------------------------------------------------------------


def volume(**actions: str) -> dict[str, Any]:
    return {"actions": {name: {"workflow": workflow} for name, workflow in actions.items()}, "input": {"size": 1}}


async def test_life_of_an_external_resource(bench: Any, cloud: Cloud) -> None:
    await define(cloud, VOLUMES)
    resources: Bench = bench(ExternalResource)
    given = volume(CREATE="make", UPDATE="resize", DELETE="rest", SUSPEND="rest")
    made = await resources.create(given)
    assert (made.physical_id, resources.reference(made)) == ("volume-1", "volume-1")
    assert await resources.attribute(made, "output", "kind") == "thin"
    (first,) = await executions(cloud)
    assert (first["description"], json.loads(first["input"])) == ("Heat managed", {"size": 1})
    assert await resources.update(made, {**given, "input": {"size": 2}}) == Done(physical_id="volume-1")
    outputs = json.loads(await resources.attribute(made, "output"))
    assert outputs == {"resource_id": "volume-1", "size": 2, "kind": "thin", "before": 1}
    await resources.run("suspend", made)
    await resources.run("resume", made)
    await resources.delete(made)
    names = sorted(one["workflow_name"] for one in await executions(cloud))
    assert names == ["make", "resize", "rest", "rest"], "an action without a workflow runs none"


async def test_inputs_that_replace_and_updates_without_a_change(bench: Any, cloud: Cloud) -> None:
    await define(cloud, VOLUMES)
    resources: Bench = bench(ExternalResource)
    given = {**volume(CREATE="make", UPDATE="resize"), "replace_on_change_inputs": ["size"], "always_update": True}
    made = await resources.create(given)
    assert isinstance(await resources.update(made, {**given, "input": {"size": 2}}), Replace)
    await resources.update(made, given)
    assert sorted(one["workflow_name"] for one in await executions(cloud)) == ["make", "resize"]


async def test_a_workflow_that_fails_fails_the_resource_once(bench: Any, cloud: Cloud) -> None:
    await define(cloud, VOLUMES)
    with pytest.raises(ActionFailed, match="no space") as failure:
        await bench(ExternalResource).create(volume(CREATE="fail"))
    assert not failure.value.failed.in_error, "it is not repeated"
    assert len(await executions(cloud)) == 1


async def test_an_execution_is_started_once_despite_crashes_and_cancelled_on_request(bench: Any, cloud: Cloud) -> None:
    await define(cloud, VOLUMES)
    resources: Bench = bench(ExternalResource)
    crashing = resources.resource()
    crashing.properties = await resources.finalized(volume(CREATE="make"))
    await run_crashing(resources, "create", crashing)
    assert crashing.physical_id == "volume-1"
    assert len(await executions(cloud)) == 1

    call = resources.call(resources.resource("slow"), "CREATE", await resources.finalized(volume(CREATE="hang")))
    for _ in range(3):
        await resources.kind.create(call)
    await capabilities.cancel(resources.kind, call, "timed out")
    await capabilities.cancel(resources.kind, call, "timed out")
    assert sorted(one["state"] for one in await executions(cloud)) == ["CANCELLED", "SUCCESS"]
