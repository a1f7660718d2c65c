"""OpenStack's own clients against an embedded Stoker, configured with only the files that `stoker up` writes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openstack
import pytest
import yaml

from tests.cli.cli_shell import ANY_PORTS, EXAMPLES, OpenStack, Shell, sdk_connection, shell_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group(__name__),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning:openstack"),
]

CLOUDS = "OS_CLIENT_CONFIG_FILE"
HELLO = str(EXAMPLES / "hello.yaml")
OPTIONS = Path(__file__).with_name("options")
WEB = str(EXAMPLES / "web-tier" / "web-tier.yaml")


def json_of(shell: Shell, *arguments: str) -> Any:
    return json.loads(shell.openstack(*arguments, "-f", "json").out)


def test_the_openstack_command(embedded: Shell) -> None:
    others = {each["ID"] for kind in ("server", "volume") for each in json_of(embedded, kind, "list")}

    def own(kind: str) -> list[dict[str, Any]]:
        return [each for each in json_of(embedded, kind, "list") if each["ID"] not in others]

    by_interpreter = replace(embedded, imports=True)
    words = ("stack", "create", "-t", WEB, "--parameter", "count=1", "--wait", "--poll", "1")
    created = by_interpreter.openstack(*words, "osc")
    assert "CREATE_COMPLETE" in created.out
    assert "osc" in [stack["Stack Name"] for stack in json_of(embedded, "stack", "list")]
    assert json_of(embedded, "stack", "show", "osc")["stack_status"] == "CREATE_COMPLETE"
    resources = json_of(embedded, "stack", "resource", "list", "-n", "5", "osc")
    assert {"servers", "0", "server", "attachment"} < {row["resource_name"] for row in resources}
    assert json_of(embedded, "stack", "resource", "show", "osc", "network")["resource_type"] == "OS::Neutron::Net"
    assert len(json_of(embedded, "stack", "event", "list", "osc")) >= 18
    assert "url" in json_of(embedded, "stack", "output", "show", "--all", "osc")
    assert [server["Name"] for server in own("server")] == ["web-0"]
    with OpenStack(embedded) as client:
        assert "UPDATE_COMPLETE" in client(f"stack update -t {WEB} --parameter count=2 --wait osc")
        assert len(own("server")) == 2
        client("stack delete --yes --wait osc")
    assert "osc" not in [stack["Stack Name"] for stack in json_of(embedded, "stack", "list")]
    assert own("server") == []
    assert own("volume") == []


def test_the_openstack_command_about_templates_and_types(embedded: Shell) -> None:
    validated = json_of(embedded, "orchestration", "template", "validate", "-t", HELLO)
    assert validated["Parameters"]["length"]["Default"] == 8
    types = [row["Resource Type"] for row in json_of(embedded, "orchestration", "resource", "type", "list")]
    assert {"OS::Heat::RandomString", "OS::Nova::Server"} < set(types)
    shown = json_of(embedded, "orchestration", "resource", "type", "show", "OS::Heat::RandomString")
    assert shown["properties"]["length"]["type"] == "integer"


@pytest.fixture
def sdk(embedded: Shell) -> Iterator[Any]:
    with sdk_connection(embedded) as connection:
        yield connection


def test_openstacksdk(sdk: Any, tmp_path: Path) -> None:
    heat = sdk.orchestration
    template = (EXAMPLES / "hello.yaml").read_text()
    made = heat.create_stack(name="sdk", template=template, parameters={"length": 5})
    made = heat.wait_for_status(made, status="CREATE_COMPLETE", failures=["CREATE_FAILED"], interval=0.1, wait=30)
    found = heat.find_stack("sdk")
    assert found.id == made.id
    assert heat.get_stack(found).outputs[0]["output_key"] == "greeting"
    assert [resource.name for resource in heat.resources(found)] == ["word"]
    assert {event.resource_name for event in heat.stack_events(found)} == {"sdk", "word"}
    heat.update_stack(found, template=template, parameters={"length": 6})
    heat.wait_for_status(
        heat.get_stack(found), status="UPDATE_COMPLETE", failures=["UPDATE_FAILED"], interval=0.1, wait=30
    )
    heat.delete_stack(found)
    heat.wait_for_delete(found, interval=0.1, wait=30)
    assert heat.find_stack("sdk") is None


def settled(heat: Any, stack: Any, status: str) -> Any:
    found = heat.get_stack(stack)
    return heat.wait_for_status(
        found, status=status, failures=[f"{status.split('_')[0]}_FAILED"], interval=0.1, wait=60
    )


def test_openstacksdk_with_files_and_actions(sdk: Any) -> None:
    heat = sdk.orchestration
    sources = heat.read_env_and_templates(
        template_file=f"{OPTIONS}/stack.yaml",
        environment_files=[f"{OPTIONS}/environment.yaml", f"{OPTIONS}/word.yaml"],
    )
    previewed = heat.create_stack(preview=True, name="acted", **sources)
    assert (previewed.name, previewed.parameters["word"]) == ("acted", "overridden")
    assert heat.find_stack("acted") is None
    stack = settled(heat, heat.create_stack(name="acted", tags="blue,green", **sources), "CREATE_COMPLETE")
    assert stack.parameters["word"] == "overridden"
    assert [found.name for found in heat.stacks(tags=["blue", "green"], name="acted")] == ["acted"]
    assert heat.get_stack_environment(stack).parameters["word"] == "overridden"
    assert any(name.endswith("child.yaml") for name in heat.get_stack_files(stack))
    assert {resource.name for resource in heat.resources(stack)} == {"thing", "child", "handle"}
    heat.update_stack("acted", parameters={"word": "other"}, **sources)
    assert settled(heat, "acted", "UPDATE_COMPLETE").parameters["word"] == "other"
    for action in ("suspend", "resume", "check"):
        getattr(heat, f"{action}_stack")(stack)
        settled(heat, stack, f"{action.upper()}_COMPLETE")
    heat.delete_stack(stack)
    heat.wait_for_delete(stack, interval=0.1, wait=60)


def test_openstacksdk_validates(sdk: Any) -> None:
    heat = sdk.orchestration
    _, contents = heat.get_template_contents(template_file=HELLO)
    assert heat.validate_template(contents).parameters["length"]["Default"] == 8
    with pytest.raises(openstack.exceptions.BadRequestException, match="no resource type 'OS::Heat::Randm'"):
        heat.validate_template({"heat_template_version": "2021-04-16", "resources": {"a": {"type": "OS::Heat::Randm"}}})


def test_openstacksdk_with_configurations_and_deployments(sdk: Any) -> None:
    heat = sdk.orchestration
    outputs = [{"name": "said"}]
    config = heat.create_software_config(name="install", group="script", config="echo hello", outputs=outputs)
    assert heat.get_software_config(config.id).config == "echo hello"
    assert config.id in {found.id for found in heat.software_configs()}
    server = "7d1c3b2e-0000-4000-8000-000000000002"
    deployment = heat.create_software_deployment(config_id=config.id, server_id=server, action="CREATE")
    assert [found.id for found in heat.software_deployments(server_id=server)] == [deployment.id]
    heat.update_software_deployment(
        deployment, status="COMPLETE", status_reason="done", output_values={"said": "hello"}
    )  # fmt: skip
    found = heat.get_software_deployment(deployment.id)
    assert (found.status, found.status_reason, found.output_values) == ("COMPLETE", "done", {"said": "hello"})
    heat.delete_software_deployment(deployment)
    heat.delete_software_config(config)
    assert config.id not in {found.id for found in heat.software_configs()}


def test_openstacksdk_for_scripts(sdk: Any) -> None:
    """The SDK's calls that wait by themselves."""
    made = sdk.create_stack("scripted", template_file=HELLO, wait=True, timeout=60, length=4)
    assert made.status == "CREATE_COMPLETE" and made.outputs[0]["output_key"] == "greeting"
    assert [stack.name for stack in sdk.search_stacks("scripted")] == ["scripted"]
    assert "scripted" in [stack.name for stack in sdk.list_stacks()]
    assert (
        sdk.update_stack("scripted", template_file=HELLO, wait=True, timeout=60, length=6).parameters["length"] == "6"
    )
    assert sdk.delete_stack("scripted", wait=True) is True
    assert sdk.get_stack("scripted") is None


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
        user.ok("up", "--detach", "--cloud", "stoker", *ANY_PORTS[:4], variables=files)
        assert [row["program"] for row in user.ok("status", "-f", "json").json] == ["engine and API"]
        user.ok("deploy", "elsewhere", "-t", str(EXAMPLES / "network.yaml"), "--yes", variables=files)
        assert "elsewhere" not in embedded.ok("stack", "list").out
        networks = [row["Name"] for row in json_of(embedded, "network", "list")]
        assert "elsewhere-net" in networks
        with OpenStack(user) as client:
            stacks, networks = client("stack list -f json"), client("network list -f json")
        assert [stack["Stack Name"] for stack in stacks] == ["elsewhere"]
        assert "elsewhere-net" in [row["Name"] for row in networks]
        assert "password: secret" not in (user.directory / "clouds.yaml").read_text()
        with sdk_connection(user) as connection:
            assert [stack.name for stack in connection.orchestration.stacks()] == ["elsewhere"]
        here = {"OS_CLIENT_CONFIG_FILE": str(user.directory / "clouds.yaml"), "OS_CLOUD": "stoker"}
        assert user.ok("stack", "list", "-f", "value", "-c", "stack_name", variables=here).out == "elsewhere\n"
        user.ok("delete", "elsewhere", "--yes", variables=files)
    finally:
        user.ok("down")


def test_other_users_do_not_use_clouds_yaml_credentials(embedded: Shell, tmp_path: Path) -> None:
    """An administrator's login can check the tokens of everybody: these must get no objects with its rights."""
    user = shell_in(tmp_path)
    given = embedded.directory / "clouds.yaml"
    try:
        user.ok("up", "--detach", "--cloud", "stoker-admin", *ANY_PORTS[:4], variables={CLOUDS: str(given)})
        rest = json.loads((user.directory / "endpoints.json").read_text())["rest"]
        with sdk_connection(embedded) as connection:
            endpoint = f"{rest}/{connection.current_project_id}"
        other = {**yaml.safe_load(given.read_text())["clouds"]["stoker"], "orchestration_endpoint_override": endpoint}
        (tmp_path / "other.yaml").write_text(yaml.safe_dump({"clouds": {"other": other}}))
        theirs = {CLOUDS: str(tmp_path / "other.yaml"), "OS_CLOUD": "other"}
        refused = user.stoker("deploy", "taken", "-t", HELLO, "--yes", variables=theirs)
        assert refused.status == 1 and "log in as that user" in refused.err
        assert user.ok("stack", "list", "-f", "json", variables=theirs).json == []
    finally:
        user.ok("down")
