"""Templates that others wrote for Heat, deployed as they are; where they are not at hand, the tests are skipped."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from testing import corpus
from tests.cli.cli_shell import Shell

CORPUS = corpus.folder()
HOT = CORPUS / "hot" if CORPUS else Path()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group(__name__),
    pytest.mark.skipif(CORPUS is None, reason=corpus.ABSENT),
]
SERVER = {"key_name": "community", "image": "cirros"}

TEMPLATES: dict[str, dict[str, str]] = {
    "hello_world.yaml": {**SERVER, "admin_pass": "Abcdef1", "db_port": "50000"},
    "vm_with_cinder.yaml": {**SERVER, "network": "private"},
    "resource_group/resource_group.yaml": {},
    "resource_group/resource_group_index_lookup.yaml": {},
    "resource_group/random.yaml": {"lengths": "4,5", "index": "1"},
    "resource_group/server_with_volumes.yaml": {"key_name": "community", "image_id": "cirros"},
    "swift.yaml": {},
    "condition.yaml": {},
    "servers_in_new_neutron_net.yaml": {
        **SERVER,
        "flavor": "m1.tiny",
        "public_net": "public",
        "private_net_name": "community-net",
        "private_net_cidr": "10.5.5.0/24",
        "private_net_gateway": "10.5.5.1",
        "private_net_pool_start": "10.5.5.10",
        "private_net_pool_end": "10.5.5.90",
    },
}


@pytest.fixture(scope="session")
def keypair(embedded: Shell, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """The key that the templates ask for, made by a template of ours."""
    template = tmp_path_factory.mktemp("key") / "key.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "resources:\n  key: {type: OS::Nova::KeyPair, properties: {name: community, save_private_key: true}}\n"
    )
    embedded.ok("deploy", "community-key", "-t", str(template), "--yes")
    return embedded


def deploy(shell: Shell, template: str, name: str, parameters: dict[str, str]) -> dict[str, Any]:
    values = [word for item in parameters.items() for word in ("-P", "=".join(item))]
    shell.ok("deploy", name, "-t", str(HOT / template), "--yes", *values)
    return shown(shell, name)


def shown(shell: Shell, name: str) -> dict[str, Any]:
    found: dict[str, Any] = shell.ok("stack", "show", name, "-f", "json").json
    return found


@pytest.mark.parametrize("template", list(TEMPLATES))
def test_a_template_of_the_community_is_deployed_and_removed(keypair: Shell, template: str) -> None:
    name = "community-" + template.rpartition("/")[2].removesuffix(".yaml").replace("_", "-")
    assert deploy(keypair, template, name, TEMPLATES[template])["stack_status"] == "CREATE_COMPLETE"
    keypair.ok("delete", name, "--yes")


def test_addresses_of_servers_are_outputs(keypair: Shell) -> None:
    deploy(keypair, "servers_in_new_neutron_net.yaml", "addresses", TEMPLATES["servers_in_new_neutron_net.yaml"])
    outputs = {
        row["output_key"]: row["output_value"] for row in keypair.ok("stack", "outputs", "addresses", "-f", "json").json
    }
    assert outputs["server1_private_ip"].startswith("10.5.5.")
    assert outputs["server2_public_ip"].startswith("172.24.4.")
    keypair.ok("delete", "addresses", "--yes")


def test_a_wait_condition_is_signalled_with_the_command_that_it_gives(keypair: Shell, tmp_path: Path) -> None:
    source = json.loads((keypair.directory / "endpoints.json").read_text())
    assert source["rest"]
    template = str(HOT / "native_waitcondition.yaml")
    parameters = ["--parameter", "key_name=community", "--parameter", "image=cirros"]
    keypair.openstack("stack", "create", "-t", template, *parameters, "waiting")
    command = ""
    for _ in range(60):
        rows = keypair.ok("stack", "outputs", "waiting", "-f", "json").json
        command = next(
            (str(row["output_value"]) for row in rows if row["output_key"] == "curl_cli" and row["output_value"]), ""
        )
        if command:
            break
        time.sleep(0.1)
    words = command.replace("'", "").split()
    token, url = words[words.index("X-Auth-Token:") + 1], words[-1]
    for number in range(5):
        body = json.dumps({"status": "SUCCESS", "id": str(number), "data": f"data{number}"}).encode()
        headers = {"X-Auth-Token": token, "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=20) as answer:
            assert answer.status == 200
    for _ in range(100):
        if "IN_PROGRESS" not in str(shown(keypair, "waiting")):
            break
        time.sleep(0.1)
    outputs = {
        row["output_key"]: row["output_value"] for row in keypair.ok("stack", "outputs", "waiting", "-f", "json").json
    }
    assert json.loads(outputs["wc_data"]) == {str(number): f"data{number}" for number in range(5)}
    keypair.ok("delete", "waiting", "--yes")
