"""Software deployments from end to end: a template, a server in an emulated cloud, the agent inside it."""

from __future__ import annotations

import base64
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from heatclient import client as heat
from heatclient import exc
from keystoneauth1 import session
from keystoneauth1.identity import V3Password

from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cloud.messaging import QUEUE_NAME
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest
from testing.servers import free_port
from tests.api.agent import Agent, boot_metadata, token_of

pytestmark = pytest.mark.slow

_SECONDS = 120

TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.0.0.0/24"},
        },
        "server": {
            "type": "OS::Nova::Server",
            "properties": {
                "flavor": "m1.small",
                "image": "cirros",
                "networks": [{"subnet": {"get_resource": "subnet"}}],
                "user_data_format": "SOFTWARE_CONFIG",
                "software_config_transport": "POLL_SERVER_HEAT",
            },
        },
        "config": {
            "type": "OS::Heat::SoftwareConfig",
            "properties": {
                "group": "script",
                "config": "echo $word",
                "inputs": [{"name": "word", "default": "none"}],
                "outputs": [{"name": "length"}, {"name": "mistake", "error_output": True}],
            },
        },
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "server": {"get_resource": "server"},
                "config": {"get_resource": "config"},
                "input_values": {"word": "hello"},
                "signal_transport": "HEAT_SIGNAL",
            },
        },
    },
    "outputs": {
        "said": {"value": {"get_attr": ["deployment", "deploy_stdout"]}},
        "length": {"value": {"get_attr": ["deployment", "length"]}},
        "code": {"value": {"get_attr": ["deployment", "deploy_status_code"]}},
    },
}


def script(inputs: dict[str, Any], text: str) -> dict[str, Any]:
    """Plays a shell that knows `echo $word`."""
    message = text.removeprefix("echo ").replace("$word", str(inputs.get("word", "")))
    failed = {"mistake": "no such word"} if inputs.get("word") == "wrong" else {}
    return {"deploy_stdout": message, "deploy_stderr": "", "deploy_status_code": 0, "length": len(message), **failed}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def served(port: int) -> Iterator[ServedCloud]:
    endpoints = {
        "orchestration": f"http://127.0.0.1:{port}/v1/%(project_id)s",
        "cloudformation": f"http://127.0.0.1:{port}/cfn",
    }
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=endpoints)) as running:
        yield running


@pytest.fixture(scope="module")
def running(served: ServedCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedWorld]:
    running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served)
    yield running
    running.stop()


class User:
    """The user demo, with heatclient and plain HTTP."""

    def __init__(self, served: ServedCloud, running: ThreadedWorld, url: str) -> None:
        auth = V3Password(
            f"{served.url}/identity/v3",
            username="demo",
            password=served.cloud.password_of("demo"),
            project_name="demo",
            user_domain_id="default",
            project_domain_id="default",
        )
        self._served, self._running, self._url = served, running, f"{url}/v1"
        self.session = session.Session(auth)
        self.endpoint = f"{self._url}/{self.session.get_project_id()}"
        self.heat: Any = heat.Client("1", session=self.session, endpoint_override=self.endpoint)

    def create(self, name: str, template: dict[str, Any]) -> str:
        made = self.heat.stacks.create(stack_name=name, template=template, parameters={}, disable_rollback=True)
        return str(made["stack"]["id"])

    def until(self, done: Callable[[], Any]) -> Any:
        """Ask again and again until the answer is not false."""
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            found = done()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"nothing came within {_SECONDS} seconds")

    def state(self, name: str) -> str:
        return str(self.heat.stacks.get(name).stack_status)

    def resource_status(self, stack: str, resource: str) -> str:
        """The status of a resource; empty as long as it is not listed."""
        found = {row.resource_name: row.resource_status for row in self.heat.resources.list(stack)}
        return str(found.get(resource, ""))

    def waiting(self, stack: str, action: str = "CREATE") -> list[dict[str, Any]]:
        """Deployments of any server that wait for an agent."""
        listed = self.session.get(f"{self.endpoint}/software_deployments").json()["software_deployments"]
        return [item for item in listed if (item["status"], item["action"]) == ("IN_PROGRESS", action)]

    def queues(self) -> list[str]:
        """The queues that exist, of whatever project."""
        return self._served.do(lambda: [queue.id for queue in self._served.cloud.of(Messaging).queues.rows])

    def agent(self, stack: str, resource: str = "server") -> Agent:
        """The agent in a server of the stack, as it boots."""
        server_id = self.heat.resources.get(stack, resource).physical_resource_id
        token = self._served.token("admin", "admin")
        headers = {"X-Auth-Token": token, "X-OpenStack-Nova-API-Version": "2.90"}
        url = f"{self._served.url}/compute/v2.1/servers/{server_id}"
        shown = requests.get(url, headers=headers, timeout=20).json()["server"]
        data = base64.b64decode(shown["OS-EXT-SRV-ATTR:user_data"])
        return Agent(boot_metadata(data), {"script": script}, self._url)


@pytest.fixture(scope="module")
def user(
    served: ServedCloud, running: ThreadedWorld, port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[User]:
    server = serve_rest(running, tmp_path_factory.mktemp("api"), port)
    yield User(served, running, server.url)
    server.stop()


def changed(path: str, value: Any, template: dict[str, Any] = TEMPLATE) -> dict[str, Any]:
    """The template with one value, at a path with dots, changed."""
    found = copy.deepcopy(template)
    *way, last = path.split(".")
    place = found["resources"]
    for key in way:
        place = place[key]
    place[last] = value
    return found


def test_deployment_lifecycle(user: User) -> None:
    user.create("life", TEMPLATE)
    user.until(lambda: user.waiting("life"))
    agent = user.agent("life")
    assert agent.metadata["deployments"] == []

    (config,) = agent.poll()
    user.until(lambda: user.state("life") == "CREATE_COMPLETE")

    assert (config["group"], config["config"]) == ("script", "echo $word")
    assert set(config) == {"id", "name", "group", "config", "inputs", "outputs", "options", "creation_time"}
    outputs = {output["output_key"]: output["output_value"] for output in user.heat.stacks.get("life").outputs}
    assert outputs == {"said": "hello", "length": 5, "code": 0}
    server_id = user.heat.resources.get("life", "server").physical_resource_id
    (by_server,) = user.session.get(f"{user.endpoint}/software_deployments/metadata/{server_id}").json()["metadata"]
    assert by_server["id"] == config["id"]
    changed_inputs = [
        entry["name"] for entry, shown in zip(config["inputs"], by_server["inputs"], strict=True) if entry != shown
    ]
    assert changed_inputs == ["deploy_password"], "people do not read what the agent logs in with"
    events = list(user.heat.events.list("life", "deployment", sort_dir="asc"))
    waiting = [event.resource_status_reason for event in events if event.resource_status == "CREATE_IN_PROGRESS"]
    assert waiting[:2] == ["state changed", "Waiting for the agent on the server to request the configuration."]
    assert all(reason.startswith("The agent on the server received the configuration at") for reason in waiting[2:])
    # The creation may have seen what the signal told before the signal itself is through.
    statuses = [event.resource_status for event in events[len(waiting) :]]
    assert sorted(statuses) == ["CREATE_COMPLETE", "SIGNAL_COMPLETE"]

    # Other metadata in the template: the server still receives the deployment.
    template = changed("server.metadata", {"colour": "blue"})
    user.heat.stacks.update("life", template=template, parameters={})
    user.until(lambda: user.state("life") == "UPDATE_COMPLETE")
    assert agent.poll() == []
    assert agent.metadata["colour"] == "blue"
    assert [item["id"] for item in agent.metadata["deployments"]] == [config["id"]]

    # Another value: the action UPDATE, with a configuration of its own.
    template = changed("deployment.properties.input_values", {"word": "good bye"}, template)
    user.heat.stacks.update("life", template=template, parameters={})
    user.until(lambda: user.waiting("life", "UPDATE"))
    (config,) = agent.poll()
    user.until(lambda: user.state("life") == "UPDATE_COMPLETE")
    assert {entry["name"]: entry["value"] for entry in config["inputs"]}["deploy_action"] == "UPDATE"
    assert user.heat.stacks.output_show("life", "said")["output"]["output_value"] == "good bye"

    user.heat.stacks.delete("life")
    user.until(lambda: not list(user.heat.stacks.list(filters={"name": "life"})))
    assert user.session.get(f"{user.endpoint}/software_deployments").json() == {"software_deployments": []}
    assert user.session.get(f"{user.endpoint}/software_configs").json() == {"software_configs": []}


def test_failure_reported_by_agent(user: User) -> None:
    user.create("failing", changed("deployment.properties.input_values", {"word": "wrong"}))
    user.until(lambda: user.waiting("failing"))

    user.agent("failing").poll()
    user.until(lambda: user.state("failing") == "CREATE_FAILED")

    reason = user.heat.resources.get("failing", "deployment").resource_status_reason
    assert "Deployment to server failed: mistake : no such word" in reason
    user.heat.stacks.delete("failing")
    user.until(lambda: not list(user.heat.stacks.list(filters={"name": "failing"})))


def test_deployment_with_object_store_transport(user: User) -> None:
    template = changed("server.properties.software_config_transport", "POLL_TEMP_URL")
    template = changed("server.properties.deployment_swift_data", {"container": "told", "object": "a web"}, template)
    template = changed("deployment.properties.signal_transport", "TEMP_URL_SIGNAL", template)
    template = changed("deployment.properties.actions", ["CREATE", "DELETE"], template)
    user.create("objects", template)
    user.until(lambda: user.waiting("objects"))
    agent = user.agent("objects")
    assert "/told/a%20web?" in agent.metadata["os-collect-config"]["request"]["metadata_url"]
    assert len(agent.poll()) == 1
    user.until(lambda: user.state("objects") == "CREATE_COMPLETE")

    user.heat.stacks.delete("objects")
    user.until(lambda: user.waiting("objects", "DELETE"))
    (config,) = agent.poll()
    assert {entry["name"]: entry["value"] for entry in config["inputs"]}["deploy_action"] == "DELETE"
    user.until(lambda: not list(user.heat.stacks.list(filters={"name": "objects"})))


def test_deployment_with_queue_transport(user: User) -> None:
    template = changed("server.properties.software_config_transport", "ZAQAR_MESSAGE")
    template = changed("deployment.properties.signal_transport", "ZAQAR_SIGNAL", template)
    template = changed("deployment.properties.actions", ["CREATE", "DELETE"], template)
    template["resources"]["the server"] = template["resources"].pop("server")
    template["resources"]["the last deployment"] = template["resources"].pop("deployment")
    template["resources"]["the last deployment"]["properties"]["server"] = {"get_resource": "the server"}
    del template["outputs"]
    user.create("queues", template)
    user.until(lambda: user.waiting("queues"))
    agent = user.agent("queues", "the server")
    configuration = agent.metadata["os-collect-config"]
    assert configuration["collectors"] == ["ec2", "zaqar", "local"]
    assert set(configuration["zaqar"]) == {"user_id", "password", "auth_url", "project_id", "queue_id", "region_name"}
    assert QUEUE_NAME.fullmatch(configuration["zaqar"]["queue_id"])
    assert len(agent.poll()) == 1
    user.until(lambda: user.state("queues") == "CREATE_COMPLETE")
    assert all(QUEUE_NAME.fullmatch(place.split("/")[1]) for place in user.queues())

    user.heat.stacks.delete("queues")
    user.until(lambda: user.waiting("queues", "DELETE"))
    (config,) = agent.poll()
    assert {entry["name"]: entry["value"] for entry in config["inputs"]}["deploy_action"] == "DELETE"
    user.until(lambda: not list(user.heat.stacks.list(filters={"name": "queues"})))
    assert user.queues() == []


def test_group_of_structured_deployments(user: User) -> None:
    template = changed("config.type", "OS::Heat::StructuredConfig")
    template["resources"]["config"]["properties"] = {
        "group": "script",
        "config": {"greet": {"who": {"get_input": "who"}}},
    }
    template["resources"]["deployment"] = {
        "type": "OS::Heat::StructuredDeploymentGroup",
        "properties": {
            "servers": {"first": {"get_resource": "server"}},
            "config": {"get_resource": "config"},
            "input_values": {"who": "you"},
            "signal_transport": "HEAT_SIGNAL",
        },
    }
    template["outputs"] = {"said": {"value": {"get_attr": ["deployment", "deploy_stdouts"]}}}
    user.create("group", template)
    user.until(lambda: user.waiting("group"))
    agent = user.agent("group")
    agent.tools = {"script": lambda inputs, config: {"deploy_stdout": config["greet"]["who"], "deploy_status_code": 0}}
    assert len(agent.poll()) == 1
    user.until(lambda: user.state("group") == "CREATE_COMPLETE")

    assert user.heat.stacks.output_show("group", "said")["output"]["output_value"] == {"first": "you"}
    user.heat.stacks.delete("group")
    user.until(lambda: not list(user.heat.stacks.list(filters={"name": "group"})))


def test_deployments_without_a_stack(user: User) -> None:
    config = user.heat.software_configs.create(name="by hand", group="script", config="echo")
    made = user.heat.software_deployments.create(config_id=config.id, server_id="elsewhere", action="CREATE")
    assert (made.status, made.output_values, made.input_values) == (None, None, None)
    assert [item["name"] for item in user.heat.software_deployments.metadata("elsewhere")] == ["by hand"]
    with pytest.raises(exc.HTTPBadRequest, match="in use"):
        user.heat.software_configs.delete(config.id)

    user.heat.software_deployments.update(made.id, status="COMPLETE", output_values={"a": 1})
    shown = user.heat.software_deployments.get(made.id)
    assert (shown.status, shown.output_values, shown.action) == ("COMPLETE", {"a": 1}, "CREATE")

    user.heat.software_deployments.delete(made.id)
    user.heat.software_configs.delete(config.id)
    with pytest.raises(exc.HTTPNotFound):
        user.heat.software_deployments.get(made.id)


def test_permissions_of_agents(user: User) -> None:
    """The credentials in a server are good for its own metadata and signals, and for nothing else."""
    names = ("own", "other")
    for name in names:
        user.create(name, TEMPLATE)
    user.until(lambda: all(user.resource_status(name, "deployment") == "CREATE_IN_PROGRESS" for name in names))
    agent, other = user.agent("own"), user.agent("other")
    known = agent.metadata["os-collect-config"]["heat"]
    stranger = other.metadata["os-collect-config"]["heat"]
    place = f"{agent.orchestration}/{known['project_id']}"
    stack, theirs = (f"{place}/stacks/{one['stack_id']}" for one in (known, stranger))
    headers = {"X-Auth-Token": token_of(known)}

    def status(method: str, url: str, body: Any = None) -> int:
        return requests.request(method, url, json=body, headers=headers, timeout=20).status_code

    assert status("GET", f"{stack}/resources/server/metadata") == 200
    services: list[tuple[str, str, str, Any]] = [
        ("GET", "compute", "/servers", None),
        ("POST", "compute", "/servers", {"server": {"name": "mine"}}),
        ("GET", "volume", "/volumes", None),
        ("GET", "image", "/v2/images", None),
        ("GET", "alarming", "/v2/alarms", None),
        ("POST", "network", "/v2.0/networks", {"network": {}}),
        ("GET", "identity", "/v3/users", None),
        ("POST", "identity", "/v3/users", {"user": {"name": "mine"}}),
        ("GET", "key-manager", "/v1/secrets", None),
    ]
    found = {
        (method, url): status(method, url, body)
        for method, url, body in (
            ("GET", f"{place}/stacks", None),
            ("POST", f"{place}/stacks", {"stack_name": "mine", "template": TEMPLATE}),
            ("GET", stack, None),
            ("GET", f"{user.endpoint}/stacks", None),
            ("GET", f"{user.endpoint}/stacks/{stranger['stack_id']}/resources/server/metadata", None),
            ("GET", f"{stack}/template", None),
            ("GET", f"{stack}/events", None),
            ("DELETE", stack, None),
            ("GET", f"{stack}/resources/config/metadata", None),
            ("GET", f"{theirs}/resources/server/metadata", None),
            ("POST", f"{theirs}/resources/deployment/signal", {"deploy_status_code": 1}),
            ("GET", f"{place}/software_configs", None),
            ("GET", f"{place}/software_deployments", None),
            *(
                (method, f"{user.session.get_endpoint(service_type=kind)}{path}", body)
                for method, kind, path, body in services
            ),
        )
    }
    allowed = {key: code for key, code in found.items() if code not in (403, 404)}
    assert allowed == {}
    for name in names:
        user.heat.stacks.delete(name)
    user.until(lambda: not {stack.stack_name for stack in user.heat.stacks.list()} & set(names))


def test_failed_tool_reports_reason_without_credentials(user: User) -> None:
    """Hooks pass inputs on as environment variables, which must be strings, and programs print their environment."""
    definition = changed(
        "config.properties.inputs", [{"name": "size", "type": "Number"}, {"name": "on", "type": "Boolean"}]
    )
    definition = changed(
        "deployment.properties.input_values", {"size": 1000, "on": True, "ratio": 0.5, "no": None}, definition
    )
    definition["outputs"]["errors"] = {"value": {"get_attr": ["deployment", "deploy_stderr"]}}
    user.create("failing", definition)
    user.until(lambda: user.waiting("failing"))
    agent, seen = user.agent("failing"), {}

    def fails(inputs: dict[str, Any], config: Any) -> dict[str, Any]:
        seen.update(inputs)
        environment = "\n".join(f"{name}={value}" for name, value in inputs.items())
        return {"deploy_stdout": "", "deploy_stderr": f"{environment}\ncannot find it\n", "deploy_status_code": 7}

    agent.tools = {"script": fails}
    agent.poll()
    user.until(lambda: user.state("failing") == "CREATE_FAILED")
    assert {name: seen[name] for name in ("size", "on", "ratio", "no")} == {
        "size": "1000", "on": "true", "ratio": "0.5", "no": "",
    }  # fmt: skip
    shown = user.heat.stacks.get("failing")
    reason = shown.stack_status_reason
    assert "non-zero status code: 7" in reason
    assert "deploy_stderr : " in reason and "cannot find it" in reason
    [errors] = [one["output_value"] for one in shown.outputs if one["output_key"] == "errors"]
    assert "size=1000" in errors and "cannot find it" in errors
    assert len(seen["deploy_password"]) > 8
    assert seen["deploy_password"] not in errors + reason
    assert "deploy_password=******" in errors
    user.heat.stacks.delete("failing")
