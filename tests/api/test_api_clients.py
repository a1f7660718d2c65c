"""The real client libraries, over real HTTP, on the scripted engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import openstack
import pytest
import requests
from heatclient import client as heat
from heatclient import exc
from keystoneauth1 import session
from keystoneauth1.token_endpoint import Token
from oslo_config import cfg

from stoker.api.app import make_app
from stoker.api.server import Server
from tests.api.api_support import (
    CREATED_TEXT,
    EVENT_ID,
    PROJECT,
    STACK_ID,
    FakeEngine,
    check_tokens,
    listed_stack_view,
    no_such_stack,
    resource_list,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::openstack.warnings.RemovedInSDK50Warning"),  # openstacksdk warns of itself
]


@pytest.fixture
def server(config: cfg.ConfigOpts, engine: FakeEngine) -> Iterator[Server]:
    server = Server(make_app(config, engine, check_tokens), "127.0.0.1", 0, threads=4)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def heatclient(server: Server) -> Any:
    return heat.Client("1", endpoint=f"{server.url}/v1/{PROJECT}", token="member-token")


@pytest.fixture
def orchestration(server: Server) -> Iterator[Any]:
    plain = session.Session(Token(f"{server.url}/v1/{PROJECT}", "member-token"))
    connection = openstack.connection.Connection(
        session=plain, orchestration_endpoint_override=f"{server.url}/v1/{PROJECT}", orchestration_api_version="1"
    )
    yield connection.orchestration
    connection.close()


def test_heatclient_lists_stacks_page_by_page(heatclient: Any, engine: FakeEngine) -> None:
    other = "11111111-2222-4333-8444-555555555555"
    pages = [{"stacks": [listed_stack_view(), listed_stack_view(id=other)], "count": None}, {"stacks": [], "count": 0}]
    engine.answers["stack_list"] = pages[0]
    stacks = heatclient.stacks.list(limit=4, filters={"status": "COMPLETE"}, sort_keys="stack_name", tags="a,b")
    first = next(stacks)
    engine.answers["stack_list"] = pages[1]
    assert [stack.id for stack in stacks] == [other]
    assert (first.stack_name, first.stack_status, first.creation_time) == ("web", "CREATE_COMPLETE", CREATED_TEXT)
    assert (first.action, first.status) == ("CREATE", "COMPLETE")
    (_, initial), (_, following) = engine.calls[:2]
    assert initial["filters"] == {"status": ["COMPLETE"]}
    assert (initial["limit"], initial["tags"], initial["sort_keys"]) == (4, ["a", "b"], ["stack_name"])
    assert following["marker"] == other


def test_heatclient_creates_shows_and_deletes_a_stack(heatclient: Any, engine: FakeEngine) -> None:
    made = heatclient.stacks.create(
        stack_name="web",
        template={"heat_template_version": "2021-04-16"},
        parameters={"flavor": "m1"},
        files={},
        environment={},
        disable_rollback=False,
        timeout_mins=10,
        tags="blue,green",
    )
    assert made["stack"]["id"] == STACK_ID
    method, arguments = engine.calls[-1]
    assert method == "stack_create"
    assert (arguments["name"], arguments["disable_rollback"], arguments["timeout_mins"]) == ("web", False, 10)
    assert arguments["tags"] == ["blue", "green"]
    shown = heatclient.stacks.get("web")
    assert shown.outputs[0]["output_value"] == "10.0.0.3"
    assert shown.parameters["flavor"] == "m1.small"
    assert engine.calls[-2][0] == "stack_identify"
    assert "outputs" in heatclient.stacks.get(f"web/{STACK_ID}", resolve_outputs=False).to_dict()
    assert engine.last["resolve_outputs"] is False
    heatclient.stacks.update("web", template={}, existing=True, clear_parameters=["flavor"])
    assert engine.calls[-1][0] == "stack_patch"
    assert engine.last["clear_parameters"] == ["flavor"]
    heatclient.stacks.delete("web")
    assert engine.calls[-1] == (
        "stack_delete",
        {"ref": {"name": "web", "id": STACK_ID}, "plan_digest": None, "retain": [], "force": False},
    )


def test_heatclient_previews_and_validates(heatclient: Any) -> None:
    preview = heatclient.stacks.preview(stack_name="web", template={})
    assert preview.resources[0]["resource_identity"]["path"] == "/resources/server"
    changes = heatclient.stacks.preview_update("web", template={})["resource_changes"]
    assert changes["unchanged"][0]["resource_name"] == "server"
    assert heatclient.stacks.validate(template={})["Description"] == "d"


def test_heatclient_reads_resources_events_and_outputs(heatclient: Any, engine: FakeEngine) -> None:
    engine.answers["resource_list"] = resource_list(nested_id=STACK_ID, nested_name="web-nested")
    (resource,) = heatclient.resources.list("web", nested_depth=2, with_detail=True)
    assert (resource.resource_name, resource.resource_status) == ("server", "CREATE_COMPLETE")
    assert {item["rel"] for item in resource.links} == {"self", "stack", "nested"}
    assert engine.last["nested_depth"] == 2 and engine.last["with_detail"] is True
    assert heatclient.resources.get("web", "server", with_attr=["a", "b"]).attributes == {"name": "n"}
    assert engine.last["with_attr"] == ["a", "b"]
    assert heatclient.resources.metadata("web", "server") == {"a": 1}
    heatclient.resources.signal("web", "server", data={"status": "SUCCESS"})
    assert engine.last["details"] == {"status": "SUCCESS"}
    heatclient.resources.mark_unhealthy("web", "server", mark_unhealthy=True, resource_status_reason="dead")
    assert engine.last["resource_status_reason"] == "dead"
    (event,) = heatclient.events.list("web", nested_depth=1)
    assert (event.id, event.event_time, event.resource_status) == (EVENT_ID, CREATED_TEXT, "CREATE_IN_PROGRESS")
    assert heatclient.events.get("web", "server", EVENT_ID).resource_properties == {"flavor": "m1"}
    assert heatclient.stacks.output_show("web", "address") == {
        "output": {"output_key": "address", "description": "Where", "output_value": 1}
    }
    assert heatclient.stacks.output_list("web")["outputs"][0]["output_key"] == "address"


def test_heatclient_runs_actions_and_reads_other_resources(heatclient: Any, engine: FakeEngine) -> None:
    for action in ("suspend", "resume", "check", "cancel_update", "cancel_without_rollback"):
        getattr(heatclient.actions, action)("web")
        assert engine.last["action"] == action
    assert heatclient.stacks.template("web")["heat_template_version"] == "2021-04-16"
    assert heatclient.stacks.environment("web") == {"parameters": {}}
    assert heatclient.stacks.files("web") == {"a.yaml": "x: 1"}
    assert heatclient.stacks.snapshot_list("web")["snapshots"][0]["creation_time"] == CREATED_TEXT
    assert heatclient.stacks.snapshot("web", name="before")["name"] == "before"
    names = [str(item.resource_type) for item in heatclient.resource_types.list()]
    assert names == ["OS::Heat::None", "OS::Nova::Server"]  # those for administrators are left out
    assert heatclient.template_versions.list()[0].type == "hot"
    assert heatclient.software_configs.get("x").config == "echo hello"
    assert heatclient.software_deployments.metadata("srv-1")[0]["name"] == "install"
    assert heatclient.build_info.build_info() == {"api": {"revision": "unknown"}, "engine": {"revision": "r1"}}


def test_heatclient_reads_faults(heatclient: Any, engine: FakeEngine) -> None:
    engine.answers["stack_identify"] = no_such_stack()
    with pytest.raises(exc.HTTPNotFound) as refusal:
        heatclient.stacks.get("web")
    assert "There is no stack web." in str(refusal.value)


def test_sdk_reads_stacks(orchestration: Any, engine: FakeEngine) -> None:
    (listed,) = orchestration.stacks(status="COMPLETE")
    assert (listed.name, listed.status, listed.created_at) == ("web", "CREATE_COMPLETE", CREATED_TEXT)
    assert engine.last["filters"] == {"status": ["COMPLETE"]}
    shown = orchestration.get_stack("web")
    assert (shown.id, shown.outputs[0]["output_value"], shown.tags) == (STACK_ID, "10.0.0.3", ["blue", "green"])
    assert shown.parameters["flavor"] == "m1.small"
    made = orchestration.create_stack(name="web", template={"heat_template_version": "2021-04-16"})
    assert made.id == STACK_ID
    assert orchestration.find_stack("web").id == STACK_ID


def test_sdk_reads_resources_events_and_more(orchestration: Any) -> None:
    stack = orchestration.get_stack("web")
    (resource,) = orchestration.resources(stack)
    assert (resource.name, resource.status, resource.physical_resource_id) == ("server", "CREATE_COMPLETE", "srv-1")
    (event,) = orchestration.stack_events(stack)
    assert (event.resource_name, event.event_time) == ("server", CREATED_TEXT)
    assert orchestration.get_stack_template(stack).heat_template_version == "2021-04-16"
    assert orchestration.get_stack_files(stack) == {"a.yaml": "x: 1"}
    orchestration.delete_stack(stack)
    (config,) = orchestration.software_configs()
    assert config.name == "install"


def test_links_contain_configured_proxy(server: Server, config: cfg.ConfigOpts) -> None:
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "heat.example.com"}
    assert server.url in requests.get(server.url, headers=headers, timeout=10).text
    config.set_override("enable_proxy_headers_parsing", True, "oslo_middleware")
    assert "https://heat.example.com/v1/" in requests.get(server.url, headers=headers, timeout=10).text


def test_server_finishes_requests_before_it_stops(config: cfg.ConfigOpts, engine: FakeEngine) -> None:
    entered, released = threading.Event(), threading.Event()

    class Slow:
        def call(self, *arguments: Any, **more: Any) -> Any:
            entered.set()
            released.wait(10)
            return engine.call(*arguments, **more)

    server = Server(make_app(config, Slow(), check_tokens), "127.0.0.1", 0)
    port = server.start()
    url = f"http://127.0.0.1:{port}/v1/{PROJECT}/build_info"
    answers: list[requests.Response] = []
    asking = threading.Thread(
        target=lambda: answers.append(requests.get(url, headers={"X-Auth-Token": "member-token"}, timeout=10))
    )
    asking.start()
    assert entered.wait(10)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    released.set()
    for thread in (asking, stopping):
        thread.join(20)
        assert not thread.is_alive()
    assert answers[0].status_code == 200
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=1)
