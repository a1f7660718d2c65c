"""OpenStack's own agents, as PyPI has them, in servers of a running Stoker: each transport with each kind of signal."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from testing.environments import installed, unpacked
from tests.cli.agent_cloud import SECONDS, Cloud
from tests.cli.cli_shell import Shell
from tests.cli.guest import Guest, Programs

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("agents")]
"""One process of the tests installs the agents."""

SIGNALS = ("CFN_SIGNAL", "HEAT_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL", "NO_SIGNAL")
TRANSPORTS = ("POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE")

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
    stdout = {name: {"value": {"get_attr": [name, "deploy_stdout"]}} for name in SIGNALS}
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
        "outputs": {**stdout, **done},
    }


@pytest.fixture(scope="session")
def programs() -> Programs:
    """The agents, in an environment of their own."""
    try:
        programs = installed("agents", Path(__file__).parent)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the agents cannot be installed from PyPI: {error}")
    (agents,) = unpacked(programs).glob("heat_agents-*")
    return Programs(programs, agents)


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
    deadline = time.monotonic() + SECONDS
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
