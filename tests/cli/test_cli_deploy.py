"""`stoker deploy`, `plan`, `delete`, `stack …` and `demo` against a running Stoker."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
import yaml

from testing.servers import wait_until
from tests.cli.agent_cloud import Cloud
from tests.cli.cli_shell import BIN, EXAMPLES, Result, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

HELLO = str(EXAMPLES / "hello.yaml")
NETWORK = str(EXAMPLES / "network.yaml")
WEB = str(EXAMPLES / "web-tier" / "web-tier.yaml")


def exit_code_of_plan(shell: Shell, *arguments: str) -> int:
    return shell.stoker("plan", *arguments, "--detailed-exitcode").status


def test_stack_is_planned_created_updated_and_deleted(embedded: Shell) -> None:
    assert "not a terminal" in embedded.fails("deploy", "hello", "-t", HELLO)
    assert exit_code_of_plan(embedded, "hello", "-t", HELLO) == 2
    assert "+ word" in embedded.ok("plan", "hello", "-t", HELLO).out
    made = embedded.ok("deploy", "hello", "-t", HELLO, "--yes")
    assert "word  CREATE_COMPLETE" in made.out
    assert "greeting = Hello, " in made.out

    assert exit_code_of_plan(embedded, "hello", "-t", HELLO) == 0
    assert "No changes: " in embedded.ok("plan", "hello", "-t", HELLO).out
    plan = embedded.ok("plan", "hello", "-t", HELLO, "-P", "length=12", "-f", "json").json
    (step,) = plan["steps"][:1]
    assert (step["kind"], step["changes"][0]["before"], step["changes"][0]["after"]) == ("replace", 8, 12)
    changed = embedded.ok("deploy", "hello", "-t", HELLO, "-P", "length=12", "--yes")
    assert "word (replaced)  DELETE_COMPLETE" in changed.out

    assert "hello: DELETE_COMPLETE" in embedded.ok("delete", "hello", "--yes").out
    assert "There is no stack hello." in embedded.fails("delete", "hello", "--yes")


def test_outputs_only_update_asks_no_confirmation(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "outputs.yaml"
    text = "heat_template_version: 2021-04-16\nresources: {a: {type: OS::Heat::None}}\noutputs: {out: {value: WORD}}\n"
    template.write_text(text.replace("WORD", "one"))
    embedded.ok("deploy", "outputs", "-t", str(template), "--yes")
    template.write_text(text.replace("WORD", "two"))
    assert "out = two" in embedded.ok("deploy", "outputs", "-t", str(template)).out
    embedded.ok("delete", "outputs", "--yes")


def test_parameters_keep_the_values_of_the_last_deployment(embedded: Shell, tmp_path: Path) -> None:
    template, environment = tmp_path / "kept.yaml", tmp_path / "e.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "parameters:\n"
        "  size: {type: number, default: 1}\n"
        "  key: {type: string, hidden: true}\n"
        "  old: {type: string, default: a}\n"
        "resources: {a: {type: OS::Heat::TestResource, properties: {value: {get_param: size}}}}\n"
        "outputs: {size: {value: {get_param: size}}}\n"
    )
    given = ("-P", "size=7", "-P", "key=s3cret", "-P", "old=b")
    tags = ("--tag", "stoker:heal", "--tag", "mine")
    assert "size = 7" in embedded.ok("deploy", "kept", "-t", str(template), *given, *tags, "--yes").out
    template.write_text(template.read_text().replace("  old: {type: string, default: a}\n", ""))
    assert exit_code_of_plan(embedded, "kept", "-t", str(template)) == 0
    assert "parameters.key\n" in embedded.fails("plan", "kept", "-t", str(template), "--reset-parameters")
    reset = ("-P", "key=s3cret", "--reset-parameters")
    assert exit_code_of_plan(embedded, "kept", "-t", str(template), *reset) == 2
    environment.write_text("parameters: {size: 9}\n")
    assert "size = 9" in embedded.ok("deploy", "kept", "-t", str(template), "-e", str(environment), "--yes").out
    saved = tmp_path / "kept.plan"
    embedded.ok("plan", "kept", "-t", str(template), "-P", "size=3", "-o", str(saved))
    assert "size = 3" in embedded.ok("deploy", str(saved)).out
    assert json.loads(embedded.ok("stack", "list", "-c", "tags", "-f", "json").out)[0]["tags"] == [
        "stoker:heal",
        "mine",
    ]
    embedded.ok("delete", "kept", "--yes")


def test_resources_show_their_dependencies_in_progress(embedded: Shell) -> None:
    parts = {
        "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}},
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": "a-server",
                "signal_transport": "HEAT_SIGNAL",
            },
        },
    }
    Cloud(embedded).create("waits", {"heat_template_version": "2021-04-16", "resources": parts})
    wait_until(lambda: "Waiting for the agent" in embedded.ok("stack", "resources", "waits").out, "the reason is shown")
    assert "Waiting" not in embedded.ok("stack", "resources", "waits", "-f", "value").out
    embedded.ok("delete", "waits", "--yes")


def test_superseded_deployment_fails(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "waiting.yaml"
    text = (
        "heat_template_version: 2021-04-16\n"
        "resources:\n"
        "  handle: {type: OS::Heat::WaitConditionHandle}\n"
        "  waits: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 600}}\n"
    )
    command = ("deploy", "superseded", "-t", str(template), "--yes")
    template.write_text(text)
    with embedded.start(*command) as first:
        assert any("handle  CREATE_COMPLETE" in line for line in first.stdout)
        template.write_text(f"{text}  more: {{type: OS::Heat::None}}\n")
        refused = embedded.fails(*command)
        assert "--if-busy wait" in refused and len(history(embedded, "superseded")) == 1
        with embedded.start(*command, "--if-busy", "take-over") as second:
            wait_until(lambda: len(history(embedded, "superseded")) == 2, "the update has begun")
            embedded.ok("stack", "signal", "superseded", "handle")
            output, _ = second.communicate(timeout=60)
        _, error = first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (1, 0)
    assert re.search("In progress on superseded: the CREATE operation .* of demo, since 20", output)
    assert "superseded: UPDATE_COMPLETE" in output
    assert "Superseded by the UPDATE operation " in error and "not as defined by this deployment" in error
    embedded.ok("delete", "superseded", "--yes")


def test_a_deployment_can_wait_for_the_one_in_progress(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "slow.yaml"
    thing, more = "{type: OS::Heat::TestResource, properties: {wait_secs: 2}}", "{type: OS::Heat::RandomString}"
    template.write_text(f"heat_template_version: 2021-04-16\nresources: {{thing: {thing}}}\n")
    Cloud(embedded).create("slow", {"heat_template_version": "2021-04-16", "resources": {}})
    with embedded.start("deploy", "slow", "-t", str(template), "--yes") as first:
        wait_until(lambda: len(history(embedded, "slow")) == 2, "the update has begun")
        template.write_text(f"heat_template_version: 2021-04-16\nresources: {{thing: {thing}, more: {more}}}\n")
        waited = embedded.ok("deploy", "slow", "-t", str(template), "--yes", "--if-busy", "wait").out
        first.communicate(timeout=60)
    assert first.returncode == 0
    assert "Waiting on slow for the UPDATE operation " in waited and "Plan: 1 to create" in waited
    assert "slow: UPDATE_COMPLETE" in waited and len(history(embedded, "slow")) == 3
    embedded.ok("delete", "slow", "--yes")


def history(shell: Shell, name: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = shell.ok("stack", "history", name, "-f", "json").json
    return rows


@pytest.fixture(scope="module")
def network(embedded: Shell) -> Shell:
    """A user with the stack `net`."""
    embedded.ok("deploy", "net", "-t", NETWORK, "--yes", "-P", "dns_nameservers=192.0.2.1")
    return embedded


def test_every_output_format_is_supported(network: Shell) -> None:
    columns = ["resource_name", "resource_type", "resource_status", "physical_resource_id"]
    rows = network.ok("stack", "resources", "net", "-f", "json").json
    assert [list(row) for row in rows] == [columns] * 4
    assert {row["resource_name"] for row in rows} == {"network", "subnet", "router", "interface"}
    assert yaml.safe_load(network.ok("stack", "resources", "net", "-f", "yaml").out) == rows
    table = network.ok("stack", "resources", "net").out
    assert "OS::Neutron::RouterInterface" in table
    assert "\x1b" not in table
    names = network.ok("stack", "resources", "net", "-f", "value", "-c", "resource_name").out
    assert names.split() == [row["resource_name"] for row in rows]
    status = network.ok("stack", "show", "net", "-f", "value", "-c", "stack_status").out
    assert status == "CREATE_COMPLETE\n"
    assert "links" not in network.ok("stack", "show", "net", "-f", "json").json
    assert "no field 'nix'" in network.fails("stack", "show", "net", "-c", "nix")


def test_template_environment_files_and_events_of_stack(network: Shell) -> None:
    template = yaml.safe_load(network.ok("stack", "template", "net").out)
    assert template == yaml.safe_load(Path(NETWORK).read_text()) | {"heat_template_version": "2021-04-16"}
    events = network.ok("stack", "events", "net", "-f", "json").json
    assert events[0]["resource_status"] == "CREATE_IN_PROGRESS"
    assert events[-1]["resource_status"] == "CREATE_COMPLETE"
    outputs = network.ok("stack", "outputs", "net", "-f", "json").json
    assert [output["output_key"] for output in outputs] == ["network", "router_address"]
    assert "net" in network.ok("stack", "list", "-f", "value", "-c", "stack_name").out.split()


def test_the_resource_that_has_an_object_is_found(network: Shell) -> None:
    rows = network.ok("stack", "resources", "net", "-f", "json").json
    identifier = next(row["physical_resource_id"] for row in rows if row["resource_name"] == "network")
    found = network.ok("find", identifier, "-f", "json", "-c", "stack_name", "-c", "path", "-c", "owns").json
    assert found == [{"stack_name": "net", "path": "network", "owns": True}]
    assert "OS::Neutron::Net" in network.ok("find", f"id={identifier}").out
    address = network.ok("stack", "outputs", "net", "-f", "value", "-c", "output_value").out.split()[-1]
    assert network.ok("find", address, "-f", "value", "-c", "path").out.split() == ["router"]
    nothing = network.stoker("find", "name=no-such-object", "-f", "json")
    assert (nothing.status, nothing.json) == (1, [])
    assert network.stoker("find", "name=a", "name=b").status == 2
    assert network.stoker("find", "name=").status == 2
    assert "policy" in network.fails("find", "a", "--all-projects").lower()


def test_failure_names_resource_service_and_message(embedded: Shell) -> None:
    fault = {"on": "POST /network/v2.0/subnets", "status": 400, "message": "the moon is in the way", "times": 9}
    control = embedded.endpoints()["identity"].replace("/identity/v3", "/control/faults")
    body = json.dumps({"do": "fail", **fault}).encode()
    urllib.request.urlopen(urllib.request.Request(control, body, {"Content-Type": "application/json"})).close()
    try:
        result = embedded.stoker("deploy", "failing", "-t", NETWORK, "--yes")
    finally:
        urllib.request.urlopen(urllib.request.Request(control, method="DELETE")).close()
    assert result.status == 1
    assert "subnet  CREATE_FAILED" in result.out
    assert "the moon is in the way" in result.err
    assert "failing: UPDATE_COMPLETE" in embedded.ok("deploy", "failing", "-t", NETWORK, "--yes").out
    embedded.ok("delete", "failing", "--yes")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("resources: {a: {type: OS::Heat::Nix}}", "bad.yaml:2:23  resources.a.type"),
        ("resources: {a: [", "bad.yaml:3:1\n"),
        ("resources: {a: {type: gone.yaml}}", "gone.yaml cannot be read"),
    ],
)
def test_problems_of_a_template_are_reported_with_their_places(
    embedded: Shell, tmp_path: Path, text: str, message: str
) -> None:
    template = tmp_path / "bad.yaml"
    template.write_text(f"heat_template_version: 2021-04-16\n{text}\n")
    assert message in embedded.fails("deploy", "bad", "-t", str(template), "--yes")


def test_problems_of_environments_and_the_template_are_reported_together_as_the_linter_does(
    embedded: Shell, tmp_path: Path
) -> None:
    template, environment, unread = tmp_path / "bad.yaml", tmp_path / "environment.yaml", tmp_path / "unread.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\nparameters: {n: {type: number}}\nresources:\n  a: {type: X::Y}\n"
        "  b:\n    type: OS::Heat::Value\n    properties: {valu: {get_param: n}}\n  c: {type: X::Z}\n"
    )
    environment.write_text("foo: 1\nparameters:\n  n: many\nresource_registry:\n  X::Y: [1]\n")
    linted = embedded.stoker("lint", str(template), "-e", str(environment)).out.partition("\n\n6 errors in 2 files")[0]
    assert [linted.count(words) for words in ("foo: 1", "'many'", "X::Y", "'valu'", "'X::Z'")] == [1, 1, 2, 1, 1]
    refused = embedded.fails("plan", "bad", "-t", str(template), "-e", str(environment))
    assert refused.partition(":\n")[2].strip() == linted.strip()
    unread.write_text("parameters: {\n")
    refused = embedded.fails("plan", "bad", "-t", str(template), "-e", str(unread))
    assert f"--> {unread}:2:1" in refused
    assert "'valu'" in refused
    assert "X::Y" not in refused


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [
        (["stack", "show", "nix"], {}, "There is no stack nix."),
        (["stack", "list", "--data-dir", "nowhere"], {}, "stoker up"),
        (["stack", "list", "--os-cloud", "nix"], {}, "no cloud 'nix'"),
        (
            ["stack", "list"],
            {"OS_AUTH_URL": "http://127.0.0.1:1/identity", "OS_USERNAME": "a", "OS_PASSWORD": "b"},
            "The identity service at http",
        ),
        (["stack", "list"], {"OS_AUTH_URL": "http://127.0.0.1:1", "OS_AUTH_TYPE": "magic"}, "'magic'"),
    ],
)
def test_commands_fail_with_one_clear_message(
    embedded: Shell, arguments: list[str], variables: dict[str, str], expected: str
) -> None:
    message = embedded.fails(*arguments, variables=variables)
    assert message.startswith("stoker: ")
    assert expected in message
    assert len(message.splitlines()) == 1


def test_openrc_variables_select_the_service(embedded: Shell) -> None:
    openrc = embedded.directory / "openrc-admin"
    lines = [line.removeprefix("export ") for line in openrc.read_text().splitlines() if line.startswith("export ")]
    variables = dict(line.split("=", 1) for line in lines)
    owner = embedded.ok("deploy", "of-admin", "-t", HELLO, "--yes", variables=variables)
    assert "CREATE_COMPLETE" in owner.out
    assert "of-admin" not in embedded.ok("stack", "list").out
    embedded.ok("delete", "of-admin", "--yes", variables=variables)


def test_the_web_tier_with_its_environment(embedded: Shell) -> None:
    large = str(EXAMPLES / "web-tier" / "large.yaml")
    made = embedded.ok("deploy", "web", "-t", WEB, "-e", large, "-P", "count=1", "--yes")
    assert "servers.0.server  CREATE_COMPLETE" in made.out
    assert exit_code_of_plan(embedded, "web", "-t", WEB, "-e", large, "-P", "count=1") == 0
    assert "parent_resource" in embedded.ok("stack", "resources", "web", "-n", "5").out.partition("\n")[0]
    nested = embedded.ok("stack", "resources", "web", "-n", "5", "-f", "json").json
    assert {"port", "server", "data", "attachment"} < {row["resource_name"] for row in nested}
    grown = embedded.ok("deploy", "web", "-t", WEB, "-e", large, "-P", "count=2", "--yes")
    assert "servers.1.server  CREATE_COMPLETE" in grown.out
    assert "servers.0.server" not in grown.out
    embedded.ok("delete", "web", "--yes")


def test_the_demonstration_shows_a_deployment_and_a_change_and_cleans_up(embedded: Shell, tmp_path: Path) -> None:
    result: Result = embedded.ok("demo", variables={"TMPDIR": str(tmp_path)})
    for line in ("8 to create.", "count = 2 -> 3", "servers.2.server  CREATE_COMPLETE", "web: DELETE_COMPLETE"):
        assert line in result.out
    assert list(tmp_path.iterdir()) == []


def test_terminal_shows_tree_and_asks_for_confirmation(embedded: Shell) -> None:
    controller, terminal = pty.openpty()
    command = [str(BIN / "stoker"), "deploy", "shown", "-t", HELLO]
    environment = {**embedded.environment, "TERM": "xterm"}
    with subprocess.Popen(command, env=environment, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        os.write(controller, b"y\n")
        written = b"".join(iter(lambda: read_terminal(controller), b"")).decode()
        assert process.wait(60) == 0
    os.close(controller)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    assert "Apply these changes? [y/N]:" in shown
    assert "└── ✓ word  CREATE_COMPLETE" in shown
    assert "greeting = Hello, " in shown
    embedded.ok("delete", "shown", "--yes")


def test_missing_values_are_asked_for_and_hidden_ones_not_shown(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "asked.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "parameters:\n"
        "  word: {type: string, description: What to say}\n"
        "  key: {type: string, hidden: true}\n"
        'outputs: {word: {value: {list_join: [" ", ["na\\u00efve", {get_param: word}]]}}}\n'
    )
    controller, terminal = pty.openpty()
    command = [str(BIN / "stoker"), "deploy", "asked", "-t", str(template)]
    environment = {**embedded.environment, "TERM": "xterm", "PYTHONIOENCODING": "ascii"}
    with subprocess.Popen(command, env=environment, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        written = b""
        for prompt, reply in ((b"Parameter word: ", b"hello\n"), (b"Parameter key: ", b"s3cret\n")):
            while prompt not in written:
                more = read_terminal(controller)
                assert more, written
                written += more
            os.write(controller, reply)
        written += b"".join(iter(lambda: read_terminal(controller), b""))
        assert process.wait(60) == 0, written
    os.close(controller)
    assert b"What to say" in written
    assert b"s3cret" not in written
    assert b"asked: CREATE_COMPLETE" in written
    assert b"word = na?ve hello" in written
    embedded.ok("delete", "asked", "--yes")


def read_terminal(controller: int) -> bytes:
    """What the process at the terminal wrote; nothing once it has gone."""
    try:
        return os.read(controller, 65536)
    except OSError:  # Linux tells the end of a terminal in this way
        return b""


def test_every_command_help_has_examples(embedded: Shell) -> None:
    listed = embedded.ok("--help").out
    assert "after showing the plan." in listed
    for command in (["up"], ["down"], ["status"], ["deploy"], ["plan"], ["delete"], ["demo"], ["stack", "list"]):
        assert command[0] in listed
        assert "Examples:" in embedded.ok(*command, "--help").out


def test_interrupted_command_leaves_operation_running(embedded: Shell, tmp_path: Path) -> None:
    template = tmp_path / "slow.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "resources:\n"
        "  quick: {type: OS::Heat::TestResource}\n"
        "  slow: {type: OS::Heat::TestResource, properties: {action_wait_secs: {create: 600}}}\n"
    )
    with embedded.start("deploy", "looked-away", "-t", str(template), "--yes") as process:
        assert any("quick  CREATE_COMPLETE" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert "The operation on looked-away continues." in process.stderr.read()
    assert embedded.ok("stack", "show", "looked-away", "-f", "json").json["stack_status"] == "CREATE_IN_PROGRESS"
    embedded.ok("delete", "looked-away", "--yes")


def test_events_are_followed_until_the_stack_is_deleted(embedded: Shell) -> None:
    embedded.ok("deploy", "followed", "-t", HELLO, "--yes")
    command = ("stack", "events", "followed", "--follow", "-f", "json", "-c", "resource_status")
    with embedded.start(*command) as process:
        seen = [json.loads(process.stdout.readline())["resource_status"] for _ in range(4)]
        assert seen[-1] == "CREATE_COMPLETE"
        embedded.ok("delete", "followed", "--yes")
        seen += [json.loads(line)["resource_status"] for line in process.stdout]
        assert process.wait(60) == 0
    assert seen[-1] == "DELETE_COMPLETE"
