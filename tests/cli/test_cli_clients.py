"""OpenStack's own clients against an embedded Stoker, set up by nothing but the files that `stoker up` writes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openstack
import pytest
from cli_shell import ANY_PORTS, EXAMPLES, Shell, shell_in
from openstack.config import OpenStackConfig

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cli-embedded"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning:openstack"),
]

HELLO = str(EXAMPLES / "hello.yaml")
WEB = str(EXAMPLES / "web-tier" / "web-tier.yaml")


def json_of(shell: Shell, *arguments: str) -> Any:
    return json.loads(shell.openstack(*arguments, "-f", "json").out)


def test_the_openstack_command(embedded: Shell) -> None:
    created = embedded.openstack("stack", "create", "-t", WEB, "--parameter", "count=1", "--wait", "--poll", "1", "osc")
    assert "CREATE_COMPLETE" in created.out
    assert "osc" in [stack["Stack Name"] for stack in json_of(embedded, "stack", "list")]
    assert json_of(embedded, "stack", "show", "osc")["stack_status"] == "CREATE_COMPLETE"
    resources = json_of(embedded, "stack", "resource", "list", "-n", "5", "osc")
    assert {"servers", "0", "server", "attachment"} < {row["resource_name"] for row in resources}
    assert json_of(embedded, "stack", "resource", "show", "osc", "network")["resource_type"] == "OS::Neutron::Net"
    assert len(json_of(embedded, "stack", "event", "list", "osc")) >= 18
    assert "url" in json_of(embedded, "stack", "output", "show", "--all", "osc")
    assert [server["Name"] for server in json_of(embedded, "server", "list")] == ["web-0"]
    updated = embedded.openstack("stack", "update", "-t", WEB, "--parameter", "count=2", "--wait", "osc")
    assert "UPDATE_COMPLETE" in updated.out
    assert len(json_of(embedded, "server", "list")) == 2
    embedded.openstack("stack", "delete", "--yes", "--wait", "osc")
    assert "osc" not in [stack["Stack Name"] for stack in json_of(embedded, "stack", "list")]
    assert json_of(embedded, "server", "list") == []
    assert json_of(embedded, "volume", "list") == []


def test_the_openstack_command_about_templates_and_types(embedded: Shell) -> None:
    validated = json_of(embedded, "orchestration", "template", "validate", "-t", HELLO)
    assert validated["Parameters"]["length"]["Default"] == 8
    types = [row["Resource Type"] for row in json_of(embedded, "orchestration", "resource", "type", "list")]
    assert {"OS::Heat::RandomString", "OS::Nova::Server"} < set(types)
    shown = json_of(embedded, "orchestration", "resource", "type", "show", "OS::Heat::RandomString")
    assert shown["properties"]["length"]["type"] == "integer"


def sdk_connection(shell: Shell) -> Any:
    """openstacksdk, set up by the files that `up` writes."""
    config = OpenStackConfig(config_files=[str(shell.directory / "clouds.yaml")], load_envvars=False)
    return openstack.connection.Connection(config=config.get_one(cloud="stoker"))


@pytest.fixture
def sdk(embedded: Shell) -> Iterator[Any]:
    with sdk_connection(embedded) as connection:
        yield connection


def test_openstacksdk(sdk: Any, tmp_path: Path) -> None:
    heat = sdk.orchestration
    template = (EXAMPLES / "hello.yaml").read_text()
    made = heat.create_stack(name="sdk", template=template, parameters={"length": 5})
    made = heat.wait_for_status(made, status="CREATE_COMPLETE", failures=["CREATE_FAILED"], interval=1, wait=30)
    found = heat.find_stack("sdk")
    assert found.id == made.id
    assert heat.get_stack(found).outputs[0]["output_key"] == "greeting"
    assert [resource.name for resource in heat.resources(found)] == ["word"]
    assert {event.resource_name for event in heat.stack_events(found)} == {"sdk", "word"}
    heat.update_stack(found, template=template, parameters={"length": 6})
    heat.wait_for_status(
        heat.get_stack(found), status="UPDATE_COMPLETE", failures=["UPDATE_FAILED"], interval=1, wait=30
    )
    heat.delete_stack(found)
    heat.wait_for_delete(found, interval=1, wait=30)
    assert heat.find_stack("sdk") is None


def test_a_token_that_was_checked_is_remembered(embedded: Shell, sdk: Any) -> None:
    headers = {"X-Auth-Token": sdk.auth_token}
    url = f"{embedded.endpoints()['rest']}/{sdk.current_project_id}/stacks"
    control = embedded.endpoints()["identity"].replace("/identity/v3", "/control/faults")
    fault = {"on": "GET /identity/v3/auth/tokens", "do": "fail", "status": 503, "times": 99, "message": "away"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        assert answer.status == 200
    body = json.dumps(fault).encode()
    urllib.request.urlopen(urllib.request.Request(control, body, {"Content-Type": "application/json"})).close()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            assert answer.status == 200
    finally:
        urllib.request.urlopen(urllib.request.Request(control, method="DELETE")).close()


def test_the_cloudformation_port_wants_signed_requests(embedded: Shell) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{embedded.endpoints()['cfn']}/?Action=ListStacks")
    with refusal.value as answer:
        assert answer.status == 403
        assert b"<Code>MissingAuthenticationToken</Code>" in answer.read()


def test_stoker_works_on_a_cloud_of_clouds_yaml(embedded: Shell, tmp_path: Path) -> None:
    """The embedded cloud of another Stoker stands for the real one; that one's own stacks are not ours."""
    user = shell_in(tmp_path)
    files = {"OS_CLIENT_CONFIG_FILE": str(embedded.directory / "clouds.yaml")}
    try:
        user.ok("up", "--detach", "--cloud", "stoker", *ANY_PORTS[:4], **files)
        assert [row["program"] for row in user.ok("status", "-f", "json").json] == ["engine and API"]
        user.ok("deploy", "elsewhere", "-t", str(EXAMPLES / "network.yaml"), "--yes", **files)
        assert "elsewhere" not in embedded.ok("stack", "list").out
        networks = [row["Name"] for row in json_of(embedded, "network", "list")]
        assert "elsewhere-net" in networks
        with sdk_connection(user) as connection:  # the override in its clouds.yaml leads past the cloud's own catalog
            assert [stack.name for stack in connection.orchestration.stacks()] == ["elsewhere"]
        here = {"OS_CLIENT_CONFIG_FILE": str(user.directory / "clouds.yaml"), "OS_CLOUD": "stoker"}
        assert user.ok("stack", "list", "-f", "value", "-c", "stack_name", **here).out == "elsewhere\n"
        user.ok("delete", "elsewhere", "--yes", **files)
    finally:
        user.ok("down")
