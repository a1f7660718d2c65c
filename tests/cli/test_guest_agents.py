"""Software deployments by the published agents inside guests: each transport with each kind of signal, and the hooks.

They need the image that `guest_shell` builds.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.guests import metering
from tests.cli import test_cfntools as cfntools
from tests.cli.agent_cloud import Cloud, until
from tests.cli.cli_shell import Shell
from tests.cli.guest_shell import require_built_image

pytestmark = [pytest.mark.guests, pytest.mark.xdist_group("guests")]

TRANSPORTS = ("POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE")
SIGNALS = ("CFN_SIGNAL", "HEAT_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL", "NO_SIGNAL")
ANSWERING = SIGNALS[:-1]
SCRIPT = """#!/bin/sh
echo "$word to $deploy_action"
echo warning >&2
hostname > "$heat_outputs_path.host"
"""


@pytest.fixture
def cloud(guests: Shell) -> Cloud:
    require_built_image()
    return Cloud(guests)


def server(transport: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "OS::Nova::Server",
        "metadata": {"os-collect-config": {"polling_interval": 1}},
        "properties": {
            "flavor": "m1.tiny",
            "image": "cirros",
            "networks": [{"network": "private"}],
            "user_data_format": "SOFTWARE_CONFIG",
            "software_config_transport": transport,
            **more,
        },
    }


def config(group: str, content: Any, outputs: tuple[str, ...] = (), inputs: tuple[str, ...] = (), **more: Any) -> Any:
    return {
        "type": "OS::Heat::SoftwareConfig",
        "properties": {
            "group": group,
            "config": content,
            "inputs": [{"name": name} for name in inputs],
            "outputs": [{"name": name} for name in outputs],
            **more,
        },
    }


def deployment(server_name: str, config_name: str, signal: str = "CFN_SIGNAL", **more: Any) -> dict[str, Any]:
    return {
        "type": "OS::Heat::SoftwareDeployment",
        "properties": {
            "server": {"get_resource": server_name},
            "config": {"get_resource": config_name},
            "signal_transport": signal,
            **more,
        },
    }


def template(resources: dict[str, Any], outputs: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": resources,
        "outputs": {name: {"value": {"get_attr": path}} for name, path in outputs.items()},
    }


def test_every_transport_and_signal_combination(cloud: Cloud) -> None:
    resources: dict[str, Any] = {"config": config("script", SCRIPT, ("host",), ("word",))}
    outputs: dict[str, list[Any]] = {}
    for transport in TRANSPORTS:
        resources[transport] = server(transport)
        for signal in SIGNALS:
            name = f"{transport} {signal}"
            resources[name] = deployment(transport, "config", signal, input_values={"word": f"by {signal}"})
            outputs |= {f"{name} {key}": [name, key] for key in ("deploy_stdout", "deploy_stderr", "host")}

    cloud.deploy("matrix", template(resources, outputs))

    shown = cloud.outputs("matrix")
    for transport in TRANSPORTS:
        [host] = {shown[f"{transport} {signal} host"] for signal in ANSWERING}
        assert host.startswith(f"matrix-{transport}".lower().replace("_", "-"))
        for signal in ANSWERING:
            assert shown[f"{transport} {signal} deploy_stdout"] == f"by {signal} to CREATE\n"
            assert shown[f"{transport} {signal} deploy_stderr"] == "warning\n"
        assert shown[f"{transport} NO_SIGNAL deploy_stdout"] is None
    cloud.delete("matrix")


PUPPET = """file { '/etc/by-puppet': content => "$::word\\n" }
notify { "puppet says $::word": }
"""
ANSIBLE = """- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - {copy: {content: "{{ word }}\n", dest: /etc/by-ansible}}
"""
INIT = {"config": {"files": {"/etc/by-cfn-init": {"content": "by cfn-init\n", "mode": "000644"}}}}
CHECK = "#!/bin/sh\ncat /etc/by-puppet /etc/by-ansible /etc/by-cfn-init"
FAILING = "#!/bin/sh\necho to be said\necho broken >&2\nexit 3"


def test_hooks_actions_and_failures(cloud: Cloud) -> None:
    """Puppet, Ansible and cfn-init change the guest; actions have scripts of their own; a failure has the output."""
    word: dict[str, Any] = {"input_values": {"word": "hello"}}
    last = {"depends_on": ["by_puppet", "by_ansible", "by_cfn_init"]}
    resources: dict[str, Any] = {
        "server": server("POLL_SERVER_HEAT"),
        "puppet": config("puppet", PUPPET, inputs=("word",)),
        "ansible": config("ansible", ANSIBLE, inputs=("word",)),
        "init": {"type": "OS::Heat::StructuredConfig", "properties": {"group": "cfn-init", "config": INIT}},
        "check": config("script", CHECK),
        "life": config("script", '#!/bin/sh\necho "$deploy_action" >>/etc/actions; cat /etc/actions'),
        "by_puppet": deployment("server", "puppet", **word),
        "by_ansible": deployment("server", "ansible", "HEAT_SIGNAL", **word),
        "by_cfn_init": deployment("server", "init"),
        "checked": deployment("server", "check") | last,
        "lived": deployment("server", "life", actions=["CREATE", "UPDATE", "SUSPEND", "RESUME", "DELETE"]),
    }
    definition = template(resources, {name: [name, "deploy_stdout"] for name in ("checked", "lived")})
    cloud.deploy("hooks", definition)
    shown = cloud.outputs("hooks")
    assert shown["checked"].split() == ["hello", "hello", "by", "cfn-init"]
    assert shown["lived"] == "CREATE\n"

    resources["lived"]["properties"]["input_values"] = {"new": "value"}
    cloud.update("hooks", definition)
    assert cloud.outputs("hooks")["lived"] == "CREATE\nUPDATE\n"
    resources["failing"] = config("script", FAILING)
    resources["failed"] = deployment("server", "failing")
    status, reason = cloud.updated("hooks", definition)
    assert status == "UPDATE_FAILED"
    assert "Deployment exited with non-zero status code: 3" in reason
    cloud.delete("hooks")


def test_heat_cfntools(guests: Shell, cloud: Cloud) -> None:
    """cfn-init sets the guest up by the metadata of its resource, cfn-signal says so, cfn-hup runs a hook when the
    metadata changes, and cfn-get-metadata shows it."""
    ask = f"cfn-get-metadata -s tools -r server --credential-file {cfntools.CREDENTIALS}"
    watching = f"while sleep 1; do cfn-hup --no-daemon; {ask} >/etc/cfn/shown; done >/dev/null 2>&1 &\n"
    [*others] = (guests.directory / "guests").glob("*/disk/base")
    cloud.deploy("tools", cfntools.template("hello\n", watching))
    assert cloud.outputs("tools")["data"] == '{"booted": "hello"}'
    [disk] = set((guests.directory / "guests").glob("*/disk/base")) - set(others)
    assert not (disk / "etc/cfn/hooked").exists()

    def shows(greeting: str) -> bool:
        shown = disk / "etc/cfn/shown"
        try:
            metadata = json.loads(shown.read_text().splitlines()[0])
        except (OSError, IndexError, json.JSONDecodeError):  # it is being written
            return False
        files = metadata["AWS::CloudFormation::Init"]["config"]["files"]
        return bool(files["/etc/cfn/greeting"]["content"] == greeting)

    until(lambda: shows("hello\n"))
    cloud.update("tools", cfntools.template("good morning\n", watching))
    until((disk / "etc/cfn/hooked").exists)
    until(lambda: shows("good morning\n"))
    cloud.delete("tools")


ACTIONS = """#!/bin/sh
echo "$deploy_action" >>/etc/actions; cat /etc/actions
"""


ROUND_TRIP_SECONDS = 5.0
"""The processor time in a guest, with its polls, from a deployment to its result."""


def processor_time(server: str) -> float:
    """The processor time that the guest of a server has used since it was started."""
    processes = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if server.encode() in place.joinpath("cmdline").read_bytes():
                processes.append(int(place.name))
    return metering.processor_time(min(processes)).used


def test_deployments_act_on_the_actions_of_their_stack(cloud: Cloud) -> None:
    """A deployment of another stack than the server's sees each action; the last one before it is deleted."""
    machine = template({"server": server("POLL_SERVER_CFN")}, {})
    machine["outputs"] = {"id": {"value": {"get_resource": "server"}}}
    cloud.deploy("machine", machine)
    resources = {"life": config("script", ACTIONS), "lived": deployment("server", "life")}
    properties = resources["lived"]["properties"]
    properties |= {"server": cloud.outputs("machine")["id"], "actions": ["CREATE", "SUSPEND", "RESUME", "DELETE"]}
    definition = template(resources, {"lived": ["lived", "deploy_stdout"]})
    cloud.deploy("acts", definition)
    for action in ("suspend", "resume"):
        before = processor_time(properties["server"])
        cloud.act("acts", action)
        assert processor_time(properties["server"]) - before < ROUND_TRIP_SECONDS
    cloud.delete("acts")

    properties["actions"] = ["CREATE"]
    cloud.deploy("acts", definition)
    assert cloud.outputs("acts")["lived"].split() == ["CREATE", "SUSPEND", "RESUME", "DELETE", "CREATE"]
    cloud.delete("acts")
    cloud.delete("machine")


ROLLING = """#!/bin/sh
echo "begin $(date +%s%N)"
[ "$word" = bad ] && [ "$(hostname)" = two ] && exit 1
sleep 1
cat /etc/structured
echo "end $(date +%s%N)"
"""


def test_groups_of_deployments_are_updated_in_batches(cloud: Cloud) -> None:
    """One server after the other, until one fails; the next update gets over that."""
    files = {"/etc/structured": {"content": {"get_input": "word"}, "mode": "000644"}}
    structured = {"group": "cfn-init", "inputs": [{"name": "word"}], "config": {"config": {"files": files}}}

    def definition(word: str, *names: str) -> dict[str, Any]:
        resources: dict[str, Any] = {name: server("POLL_SERVER_HEAT", name=name) for name in names}
        resources |= {
            "script": config("script", ROLLING, inputs=("word",)),
            "structured": {"type": "OS::Heat::StructuredConfig", "properties": structured},
        }
        servers = {name: {"get_resource": name} for name in names}
        for name, kind in (("structured", "Structured"), ("script", "Software")):
            resources[f"{name}_group"] = {
                "type": f"OS::Heat::{kind}DeploymentGroup",
                "properties": {"config": {"get_resource": name}, "servers": servers, "input_values": {"word": word}},
            }
        resources["script_group"] |= {
            "depends_on": "structured_group",
            "update_policy": {"rolling_update": {"max_batch_size": 1, "pause_time": 0}},
        }
        return template(resources, {"said": ["script_group", "deploy_stdouts"]})

    def spans() -> list[tuple[int, str, int]]:
        found = [output.split() for output in cloud.outputs("rolling")["said"].values()]
        return sorted((int(output[1]), output[2].removesuffix("end"), int(output[-1])) for output in found)

    cloud.deploy("rolling", definition("first", "one", "two"))
    assert [word for _, word, _ in spans()] == ["first", "first"]

    cloud.update("rolling", definition("second", "one", "two"))
    [(_, one, end), (begin, two, _)] = spans()
    assert (one, two) == ("second", "second") and end < begin, "a batch begins when the one before has ended"

    status, reason = cloud.updated("rolling", definition("bad", "one", "two"))
    assert status == "UPDATE_FAILED" and "non-zero status code: 1" in reason

    cloud.update("rolling", definition("third", "one", "two"))
    assert [word for _, word, _ in spans()] == ["third", "third"]
    cloud.delete("rolling")
