"""Mistral's types through the engine: signals start executions, workflows create, update and delete a resource."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.inspection.export import export
from stoker.store import queries
from stoker_foundation.clock import SystemClock
from testing.harness import World

REF = {"name": "web", "id": None}
TASK = {"name": "make", "action": "std.noop"}
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "parameters": {"always": {"type": "boolean", "default": True}, "size": {"type": "number", "default": 1}},
    "resources": {
        "flow": {
            "type": "OS::Mistral::Workflow",
            "properties": {
                "type": "direct",
                "input": {"size": 0},
                "output": {"resource_id": "made-<% $.size %>", "size": "<% $.size %>"},
                "tasks": [TASK],
            },
        },
        "made": {
            "type": "OS::Mistral::ExternalResource",
            "properties": {
                "always_update": {"get_param": "always"},
                "input": {"size": {"get_param": "size"}},
                "actions": {name: {"workflow": {"get_resource": "flow"}} for name in ("CREATE", "UPDATE", "DELETE")},
            },
        },
    },
    "outputs": {
        "made": {"value": {"get_resource": "made"}},
        "size": {"value": {"get_attr": ["made", "output", "size"]}},
    },
}


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """A cloud whose catalog lists Stoker's CloudFormation API."""
    endpoints = {"cloudformation": "http://stoker-cfn/v1"}
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=endpoints)) as served:
        yield served


def executions(world: World) -> list[dict[str, Any]]:
    token = world.served.token("demo", "demo")
    found: list[dict[str, Any]] = world.served.call("GET", "/workflow/v2/executions", token=token).json["executions"]
    return found


async def test_workflows_create_update_and_delete_a_resource(world: World) -> None:
    stack = await world.create("web", TEMPLATE)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack) == {"made": "made-1", "size": 1}
    await world.update("web", TEMPLATE)
    assert len(executions(world)) == 2, "an update without a change runs UPDATE"
    await world.update("web", TEMPLATE, parameters={"size": 3})
    stack = await world.call("stack_show", ref=REF)
    assert world.outputs(stack) == {"made": "made-3", "size": 3}
    await world.update("web", TEMPLATE, parameters={"size": 3, "always": False})
    before = len(executions(world))
    await world.update("web", TEMPLATE, parameters={"size": 3, "always": False})
    assert len(executions(world)) == before
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert len(executions(world)) > before
    names = world.served.call("GET", "/workflow/v2/workflows", token=world.served.token("demo", "demo")).json
    assert names == {"workflows": []}


async def test_a_signal_starts_an_execution(world: World) -> None:
    template = {**TEMPLATE, "resources": {"flow": TEMPLATE["resources"]["flow"]}, "outputs": {}}  # type: ignore[index]
    await world.create("web", template)
    await world.call("resource_signal", ref=REF, name="flow", details={"input": {"size": 7}})
    await world.turn()
    (execution,) = executions(world)
    assert json.loads(execution["input"]) == {"size": 7}
    shown = (await world.call("resource_show", ref=REF, name="flow"))["attributes"]
    assert [one["id"] for one in shown["executions"]] == [execution["id"]]
    assert shown["alarm_url"].startswith("http://stoker-cfn/v1/signal/arn")
    assert shown["data"] == {"name": (await world.resources("web"))["flow"]["physical_id"], "input": {"size": 0}}
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert executions(world) == []


async def test_outputs_that_a_workflow_marks_as_secret_are_redacted(world: World) -> None:
    password, user = "pass-of-workflow", "user-of-workflow"
    made = {"password": ["<% 'pass-of-' + 'workflow' %>"], "user": "<% 'user-of-' + 'workflow' %>"}
    output = {**made, "secret_outputs": ["password", "absent"]}
    flow = {"type": "direct", "output": output, "tasks": [TASK]}
    read = {"list_join": ["-", ["a", {"get_attr": ["made", "output", "password", 0]}]]}
    definition = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "flow": {"type": "OS::Mistral::Workflow", "properties": flow},
            "made": {
                "type": "OS::Mistral::ExternalResource",
                "properties": {"actions": {"CREATE": {"workflow": {"get_resource": "flow"}}}},
            },
            "user": {"type": "OS::Heat::TestResource", "properties": {"value": read}},
            "other": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": {"get_attr": ["made", "output", "user"]}},
            },
        },
        "outputs": {"password": {"value": {"get_attr": ["made", "output", "password", 0]}}},
    }
    stack = await world.create("web", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack) == {"password": password}, "outputs show what the template's author chose to show"
    found = await world.engine.services.database.read(queries.stack_by_name, world.context.project_id, "web")
    assert found is not None
    document = await export(world.engine.services, found)
    answers = [await world.call("event_page", ref=REF, limit=50), document.data]
    seen = json.dumps(answers, default=str)
    assert password not in seen
    assert user in seen
    assert "******" in seen
