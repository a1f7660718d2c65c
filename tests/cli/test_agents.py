"""OpenStack's own agents, as PyPI has them, in servers of a running Stoker: each transport with each kind of signal."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_shell import Shell
from conformance.installed import installed, unpacked
from guest import Guest, Programs
from keystoneauth1 import session
from keystoneauth1.identity import V3Password

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("agents")]
"""One process of the tests installs the agents."""

SIGNALS = ("CFN_SIGNAL", "HEAT_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL", "NO_SIGNAL")
TRANSPORTS = ("POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE")
_SECONDS = 240.0

SCRIPT = """#!/bin/sh
echo "$word"
echo "$deploy_action" > "$heat_outputs_path.action"
"""


def template(transport: str) -> dict[str, Any]:
    deployments = {
        name: {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "server": {"get_resource": "server"},
                "config": {"get_resource": "config"},
                "input_values": {"word": f"by {name}"},
                "signal_transport": name,
            },
        }
        for name in SIGNALS
    }
    said = {name: {"value": {"get_attr": [name, "deploy_stdout"]}} for name in SIGNALS}
    done = {f"{name} action": {"value": {"get_attr": [name, "action"]}} for name in SIGNALS}
    return {
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
                    "software_config_transport": transport,
                },
            },
            "config": {
                "type": "OS::Heat::SoftwareConfig",
                "properties": {
                    "group": "script",
                    "config": SCRIPT,
                    "inputs": [{"name": "word"}],
                    "outputs": [{"name": "action"}],
                },
            },
            **deployments,
        },
        "outputs": {**said, **done},
    }


@pytest.fixture(scope="session")
def programs() -> Programs:
    """The agents, in an environment of their own."""
    try:
        programs = installed("agents")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the agents cannot be installed from PyPI: {error}")
    (agents,) = unpacked(programs).glob("heat_agents-*")
    return Programs(programs, agents)


class Cloud:
    """The running Stoker and its emulated cloud, as the user demo and as the administrator."""

    def __init__(self, shell: Shell) -> None:
        clouds = yaml.safe_load((shell.directory / "clouds.yaml").read_text())["clouds"]
        self.user, self.admin = (
            session.Session(V3Password(**clouds[name]["auth"])) for name in ("stoker", "stoker-admin")
        )

    def stacks(self) -> str:
        return f"{self.user.get_endpoint(service_type='orchestration')}/stacks"

    def create(self, name: str, template: dict[str, Any]) -> None:
        self.user.post(self.stacks(), json={"stack_name": name, "template": template, "disable_rollback": True})

    def show(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.user.get(f"{self.stacks()}/{name}").json()["stack"]
        return found

    def delete(self, name: str) -> None:
        shown = self.show(name)
        self.user.delete(f"{self.stacks()}/{name}/{shown['id']}")
        until(lambda: self.user.get(f"{self.stacks()}/{name}", raise_exc=False).status_code == 404)

    def parts(self, name: str, resource: str = "server") -> dict[str, bytes]:
        """The parts of a server's user data, by the names of their files."""
        place = f"{self.stacks()}/{name}/{self.show(name)['id']}/resources/{resource}"
        until(lambda: self.user.get(place).json()["resource"]["physical_resource_id"])
        server = self.user.get(place).json()["resource"]["physical_resource_id"]
        compute = self.admin.get_endpoint(service_type="compute")
        shown = self.admin.get(f"{compute}/servers/{server}", headers={"X-OpenStack-Nova-API-Version": "2.90"}).json()
        data = base64.b64decode(shown["server"]["OS-EXT-SRV-ATTR:user_data"])
        parts = {part.get_filename(): part.get_payload(decode=True) for part in message_from_bytes(data).walk()}
        return {str(name): bytes(content) for name, content in parts.items() if name and isinstance(content, bytes)}


def until(done: Callable[[], Any]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not done():
        assert time.monotonic() < deadline, f"it does not happen within {_SECONDS} seconds"
        time.sleep(0.1)


@pytest.fixture
def cloud(embedded: Shell) -> Cloud:
    return Cloud(embedded)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_deployments_by_the_published_agents(cloud: Cloud, programs: Programs, tmp_path: Path, transport: str) -> None:
    """The guest learns of its deployments, applies them, and signals in each of the ways."""
    name = transport.lower()
    cloud.create(name, template(transport))
    guest = Guest(tmp_path / "guest", programs, json.loads(cloud.parts(name)["cfn-init-data"]))
    logs: list[str] = []
    deadline = time.monotonic() + _SECONDS
    while cloud.show(name)["stack_status"] == "CREATE_IN_PROGRESS":
        assert time.monotonic() < deadline, "\n".join(logs[-2:])
        logs.append(guest.collect())
    shown = cloud.show(name)
    assert shown["stack_status"] == "CREATE_COMPLETE", shown["stack_status_reason"] + "\n".join(logs)
    outputs = {output["output_key"]: output["output_value"] for output in shown["outputs"]}
    answering = [signal for signal in SIGNALS if signal != "NO_SIGNAL"]
    assert {signal: outputs[signal] for signal in answering} == {signal: f"by {signal}\n" for signal in answering}
    assert {outputs[f"{signal} action"].strip() for signal in answering} == {"CREATE"}
    assert outputs["NO_SIGNAL"] is None
    cloud.delete(name)
