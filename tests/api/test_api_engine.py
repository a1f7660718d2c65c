"""The whole way: heatclient, HTTP, keystonemiddleware, API, transport, a real engine, an emulated cloud."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from heatclient import client as heat
from heatclient import exc
from keystoneauth1 import session
from keystoneauth1.identity import V3Password

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest

pytestmark = pytest.mark.slow

TEMPLATE = """
heat_template_version: 2021-04-16
description: A word
parameters:
  length: {type: number, default: 7}
resources:
  word:
    type: OS::Heat::RandomString
    properties: {length: {get_param: length}}
outputs:
  word: {description: The word, value: {get_attr: [word, value]}}
"""


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock())) as running:
        yield running


@pytest.fixture(scope="module")
def running(served: ServedCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedWorld]:
    running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def heatclient(served: ServedCloud, running: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    server = serve_rest(running, tmp_path_factory.mktemp("api"))
    user = V3Password(
        f"{served.url}/identity/v3",
        username="demo",
        password=served.cloud.password_of("demo"),
        project_name="demo",
        user_domain_id="default",
        project_domain_id="default",
    )
    logged_in = session.Session(user)
    yield heat.Client("1", session=logged_in, endpoint_override=f"{server.url}/v1/{logged_in.get_project_id()}")
    server.stop()


def test_stack_lifecycle(heatclient: Any, running: ThreadedWorld) -> None:
    made = heatclient.stacks.create(stack_name="words", template=TEMPLATE, parameters={"length": 9}, tags="a,b")
    stack_id = made["stack"]["id"]
    running.settle(stack_id)

    shown = heatclient.stacks.get("words")
    assert (shown.id, shown.stack_status, shown.description) == (stack_id, "CREATE_COMPLETE", "A word")
    assert (shown.parameters["length"], shown.tags, shown.updated_time) == ("9", ["a", "b"], None)
    (output,) = shown.outputs
    assert len(output["output_value"]) == 9
    assert heatclient.stacks.output_show("words", "word")["output"] == output
    assert [stack.stack_name for stack in heatclient.stacks.list(tags="a")] == ["words"]
    (resource,) = heatclient.resources.list("words")
    assert (resource.resource_name, resource.resource_status) == ("word", "CREATE_COMPLETE")
    assert heatclient.resources.get("words", "word").attributes["value"] == output["output_value"]
    events = heatclient.events.list("words", sort_dir="asc")
    assert [event.resource_status for event in events if event.resource_name == "word"] == [
        "CREATE_IN_PROGRESS",
        "CREATE_COMPLETE",
    ]
    assert heatclient.events.get("words", "word", heatclient.events.list("words", "word")[0].id).resource_type
    assert heatclient.stacks.template("words")["description"] == "A word"

    preview = heatclient.stacks.preview_update("words", template=TEMPLATE, parameters={"length": 12})
    assert [item["resource_name"] for item in preview["resource_changes"]["replaced"]] == ["word"]
    heatclient.stacks.update("words", existing=True, parameters={"length": 12})
    running.settle(stack_id)
    assert len(heatclient.stacks.output_show("words", "word")["output"]["output_value"]) == 12

    heatclient.actions.check("words")
    running.settle(stack_id)
    assert heatclient.stacks.get("words").stack_status == "CHECK_COMPLETE"
    heatclient.stacks.delete("words")
    running.settle(stack_id)
    assert heatclient.stacks.get(stack_id).stack_status == "DELETE_COMPLETE"
    with pytest.raises(exc.HTTPNotFound):
        heatclient.stacks.get("words")


def test_template_problems_are_reported_with_positions(heatclient: Any) -> None:
    wrong = TEMPLATE.replace("{length: {get_param: length}}", "{lenght: 1, length: {get_param: nothing}}")
    with pytest.raises(exc.HTTPBadRequest) as refusal:
        heatclient.stacks.create(stack_name="wrong", template=wrong)
    message = str(refusal.value)
    assert "lenght" in message and "nothing" in message


def test_service_descriptions(heatclient: Any) -> None:
    preview = heatclient.stacks.preview(stack_name="maybe", template=TEMPLATE)
    assert preview.resources[0]["resource_type"] == "OS::Heat::RandomString"
    assert "length" in heatclient.stacks.validate(template=TEMPLATE)["Parameters"]
    names = {item.resource_type for item in heatclient.resource_types.list()}
    assert "OS::Heat::RandomString" in names
    assert not any(name.startswith("OS::Keystone::") for name in names)
    assert heatclient.resource_types.get("OS::Heat::RandomString")["properties"]["length"]["type"] == "integer"
    assert heatclient.resource_types.generate_template("OS::Heat::RandomString", "hot")["resources"]
    versions = {item.version for item in heatclient.template_versions.list()}
    assert "heat_template_version.2021-04-16" in versions
    functions = heatclient.template_versions.get("heat_template_version.2021-04-16")
    described = {item.functions: item.description for item in functions}
    assert "get_attr" in described
    assert described["get_file"] == "A function for including a file inline.", "as the public test suite expects"
    assert heatclient.build_info.build_info()["engine"]["revision"]
    config = heatclient.software_configs.create(name="install", group="script", config="echo")
    assert heatclient.software_configs.get(config.id).config == "echo"
    heatclient.software_configs.delete(config.id)


def test_unsupported_features_are_refused_with_a_message(heatclient: Any, running: ThreadedWorld) -> None:
    made = heatclient.stacks.create(stack_name="kept", template=TEMPLATE)
    running.settle(made["stack"]["id"])
    with pytest.raises(exc.HTTPBadRequest, match="not supported"):
        heatclient.stacks.abandon("kept")
    with pytest.raises(exc.HTTPConflict):
        heatclient.stacks.create(stack_name="kept", template=TEMPLATE)
