"""Snapshots, abandoning and adopting with the commands `openstack` and `stoker`, against an embedded Stoker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stoker.cli.main import cli
from tests.cli.cli_shell import ANY_PORTS, OpenStack, Shell, sdk_connection, shell_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cli-snapshots"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning:openstack"),
]

TEMPLATE = """
heat_template_version: 2021-04-16
parameters:
  text: {type: string, default: before}
  word: {type: string, hidden: true}
resources:
  disk: {type: "OS::Cinder::Volume", properties: {size: 1, metadata: {text: {get_param: text}}}}
  random: {type: "OS::Heat::RandomString"}
  told: {type: "OS::Heat::Value", properties: {value: {get_param: word}}}
outputs:
  random: {value: {get_attr: [random, value]}}
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home = tmp_path_factory.mktemp("snapshots")
    (home / "template.yaml").write_text(TEMPLATE)
    user = shell_in(home)
    user.ok("up", "--detach", *ANY_PORTS)
    yield user
    user.ok("down")


@pytest.fixture(scope="module")
def client(shell: Shell) -> Iterator[OpenStack]:
    with OpenStack(shell) as running:
        yield running


def json_of(client: OpenStack, *arguments: str) -> Any:
    return client.run(*arguments, "-f", "json")


def template_in(shell: Shell) -> str:
    return str(shell.directory.parent / "template.yaml")


def create(client: OpenStack, template: str, name: str) -> None:
    client.run("stack", "create", "-t", template, "--parameter", "word=very secret", "--wait", "--poll", "1", name)


def until(client: OpenStack, stack: str, status: str) -> None:
    for _ in range(1200):
        shown = json_of(client, "stack", "show", stack)["stack_status"]
        if shown == status:
            return
        assert not shown.endswith("FAILED"), shown
    raise AssertionError(f"{stack} has not become {status}")


def test_snapshots(shell: Shell, client: OpenStack) -> None:
    create(client, template_in(shell), "snapped")
    taken = json_of(client, "stack", "snapshot", "create", "--name", "first", "snapped")
    assert (taken["name"], taken["status"]) == ("first", "IN_PROGRESS")
    until(client, "snapped", "SNAPSHOT_COMPLETE")
    listed = json_of(client, "stack", "snapshot", "list", "snapped")
    assert [(row["id"], row["name"], row["status"]) for row in listed] == [(taken["ID"], "first", "COMPLETE")]
    shown = json_of(client, "stack", "snapshot", "show", "snapped", taken["ID"])["snapshot"]
    assert shown["data"]["resources"]["disk"]["resource_data"]["backup_id"]
    client.run(
        "stack", "update", "-t", template_in(shell), "--existing", "--parameter", "text=after", "--wait", "snapped"
    )  # fmt: skip
    client.run("stack", "snapshot", "restore", "snapped", taken["ID"])
    until(client, "snapped", "RESTORE_COMPLETE")
    assert json_of(client, "stack", "show", "snapped")["parameters"]["text"] == "before"
    [volume] = [row["ID"] for row in json_of(client, "volume", "list")]
    assert json_of(client, "volume", "show", volume)["properties"] == {"text": "before"}
    client.run("stack", "snapshot", "delete", "snapped", taken["ID"])
    for _ in range(600):
        if not json_of(client, "stack", "snapshot", "list", "snapped"):
            break
    assert json_of(client, "volume", "backup", "list") == []
    client.run("stack", "delete", "--yes", "--wait", "snapped")


def test_abandon_and_adopt(shell: Shell, client: OpenStack, tmp_path: Path) -> None:
    create(client, template_in(shell), "moving")
    random = json_of(client, "stack", "output", "show", "moving", "random")["output_value"]
    [volume] = [row["ID"] for row in json_of(client, "volume", "list")]
    exported, abandoned = tmp_path / "exported.json", tmp_path / "abandoned.json"
    client.run("stack", "export", "--output-file", str(exported), "moving")
    client.run("stack", "abandon", "--output-file", str(abandoned), "moving")
    text = abandoned.read_text()
    assert "very secret" not in text and random not in text
    assert json.loads(exported.read_text())["resources"] == json.loads(text)["resources"]
    assert [row["Stack Name"] for row in json_of(client, "stack", "list")] == []
    assert [row["ID"] for row in json_of(client, "volume", "list")] == [volume]
    adopted = client.run("stack", "adopt", "--adopt-file", str(abandoned), "--wait", "moved")
    assert "ADOPT_COMPLETE" in adopted
    assert json_of(client, "stack", "output", "show", "moved", "random")["output_value"] == random
    assert json_of(client, "stack", "resource", "show", "moved", "disk")["physical_resource_id"] == volume
    client.run("stack", "delete", "--yes", "--wait", "moved")
    assert json_of(client, "volume", "list") == []


def test_openstacksdk_exports_and_abandons(shell: Shell, client: OpenStack) -> None:
    create(client, template_in(shell), "exported")
    with sdk_connection(shell) as sdk:
        heat = sdk.orchestration
        stack = heat.find_stack("exported")
        exported = heat.export_stack(stack)
        assert (exported["name"], set(exported["resources"])) == ("exported", {"disk", "random", "told"})
        assert heat.abandon_stack(stack)["resources"] == exported["resources"]
        assert heat.find_stack("exported") is None
        [volume] = sdk.block_storage.volumes(details=False)
        sdk.block_storage.delete_volume(volume)
        sdk.block_storage.wait_for_delete(volume, interval=0.1, wait=30)


def test_stoker_command_exports_and_abandons(shell: Shell, tmp_path: Path) -> None:
    runner = CliRunner(env={**shell.environment, "OS_CLOUD": "", "OS_AUTH_URL": ""})

    def run(*words: str, status: int = 0) -> str:
        done = runner.invoke(cli, words)
        assert done.exit_code == status, done.output
        return done.output

    document = tmp_path / "web.json"
    run("deploy", "web", "-t", template_in(shell), "-P", "word=secret", "--yes")
    assert "SNAPSHOT_COMPLETE" in run("snapshot", "create", "web", "first")
    assert "web is not suspended: its state is SNAPSHOT_COMPLETE." in run("stack", "resume", "web", status=1)
    [taken] = json.loads(run("snapshot", "list", "web", "-f", "json"))
    assert (taken["name"], taken["status"]) == ("first", "COMPLETE")
    run("deploy", "web", "-t", template_in(shell), "-P", "text=after", "--yes")
    assert "RESTORE_COMPLETE" in run("snapshot", "restore", "web", "first", "--yes")
    assert "first" in run("snapshot", "show", "web", taken["id"])
    assert "web has no snapshot second; it has first." in run("snapshot", "delete", "web", "second", "--yes", status=1)
    run("snapshot", "delete", "web", "first", "--yes")
    identifier = run("snapshot", "create", "web").split()[-1]
    run("snapshot", "delete", "web", identifier, "--yes")

    assert json.loads(run("stack", "export", "web"))["name"] == "web"
    assert "not a terminal" in run("stack", "abandon", "web", status=1)
    run("stack", "abandon", "web", "-o", str(document), "--yes")
    assert document.stat().st_mode & 0o777 == 0o600
    assert "There is no stack web." in run("outputs", "web", status=1)
    assert "ADOPT_COMPLETE" in run("stack", "adopt", "moved", str(document))
    document.write_text("[]")
    assert "not the document of a stack" in run("stack", "adopt", "again", str(document), status=1)

    word = run("outputs", "moved", "random").strip()
    assert json.loads(run("outputs", "moved", "-f", "json")) == {"random": word}
    assert json.loads(run("outputs", "moved", "random", "-f", "json")) == word
    assert word in run("outputs", "moved")
    assert "did you mean random?" in run("outputs", "moved", "randm", status=1)
    lines = run("logs", "moved").splitlines()
    assert lines[-1].endswith("moved  ADOPT_COMPLETE  Stack ADOPT completed successfully")
    assert run("logs", "moved", "-n", "1").splitlines() == lines[-1:]
    assert run("logs", "moved", "--failed") == ""
    assert [json.loads(line)["path"] for line in run("logs", "moved", "--json").splitlines()].count("moved") == 2
    run("delete", "moved", "--yes")


def test_drift_is_shown_and_corrected(shell: Shell, tmp_path: Path) -> None:
    runner = CliRunner(env={**shell.environment, "OS_CLOUD": "", "OS_AUTH_URL": ""})
    template = tmp_path / "net.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "resources:\n"
        "  net: {type: 'OS::Neutron::Net', properties: {name: drifting}}\n"
        "  lost: {type: 'OS::Neutron::Net'}\n"
        "  secret: {type: 'OS::Barbican::Secret', properties: {name: s, payload: x}}\n"
        "  user: {type: 'AWS::IAM::User'}\n"
    )

    def run(*words: str, status: int = 0) -> str:
        done = runner.invoke(cli, words)
        assert done.exit_code == status, done.output
        return done.output

    deploy = ("deploy", "drifting", "-t", str(template), "--yes")
    run(*deploy)
    assert run("drift", "drifting", "--last").splitlines()[-1] == "The objects have not been checked yet."
    same, when, *gaps = run("drift", "drifting").splitlines()
    assert same == "No changes: nothing that could be compared differs from the stack drifting."
    assert re.fullmatch(r"Compared with the cloud at [-0-9]+T[:0-9]+Z: 2 in sync, 2 not comparable\.", when)
    assert gaps == [
        "Not comparable: secret (OS::Barbican::Secret): payload (the service does not show it with the object).",
        "Not comparable: user (AWS::IAM::User): objects of this type cannot be compared.",
    ]
    lost = json.loads(run("stack", "resource", "drifting", "lost", "-f", "json"))["physical_resource_id"]
    with sdk_connection(shell) as sdk:
        sdk.network.update_network(sdk.network.find_network("drifting"), name="other")
        sdk.network.delete_network(lost)
    shown = run("drift", "drifting", status=2)
    assert '~ name = "other" -> "drifting"' in shown
    assert "its object was deleted outside Stoker" in shown
    assert "name changed outside Stoker" in shown
    assert {step["kind"] for step in json.loads(run("drift", "drifting", "-f", "json", status=2))["steps"]} >= {
        "update", "create",
    }  # fmt: skip
    of_record = run("plan", "drifting", "-t", str(template), "--no-refresh")
    assert "No changes: the template matches the record of the stack drifting." in of_record
    assert "The cloud was not asked: --refresh=all asks it." in of_record
    assert "contradict" in run("plan", "drifting", "-t", str(template), "--no-refresh", "--refresh=all", status=2)
    for options in ((), ("--refresh",), ("--refresh=all",)):
        assert "Plan: 1 to create, 1 to change." in run("plan", "drifting", "-t", str(template), *options)
    run("deploy", "drifting", "-t", str(template), "--no-refresh", "--yes")
    run("drift", "drifting", status=2)
    assert "every 600 seconds" in run("drift", "drifting", "--watch", "detect")
    assert "net, lost differed" in run("drift", "drifting", "--last", status=2)
    assert "operator's default" in run("drift", "drifting", "--watch", "default")
    assert "alone" in run("drift", "drifting", "--watch", "off", "--last", status=2)
    plan = tmp_path / "drifting.plan"
    assert "Plan: 1 to create, 1 to change." in run("plan", "drifting", "-t", str(template), "-o", str(plan))
    assert "Compared with the cloud at" in run("show", str(plan))
    run("deploy", str(plan))
    run("drift", "drifting")
    with sdk_connection(shell) as sdk:
        sdk.network.delete_network(sdk.network.find_network("drifting"))
    shown = run("plan", "drifting", "--destroy")
    assert (
        "- net  OS::Neutron::Net\n      # the stack is deleted\n      # its object was deleted outside Stoker\n"
        in shown
    )
    assert "1 in sync, 1 different" in shown
    assert "outside Stoker" not in run("delete", "drifting", "--dry-run", "--no-refresh")
    run("delete", "drifting", "--yes")


def test_an_object_of_another_owner_that_is_gone_is_shown_as_missing(shell: Shell, tmp_path: Path) -> None:
    runner = CliRunner(env={**shell.environment, "OS_CLOUD": "", "OS_AUTH_URL": ""})
    with sdk_connection(shell) as sdk:
        theirs = sdk.network.create_network(name="theirs").id
    template = tmp_path / "refers.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "resources:\n"
        f"  theirs: {{type: 'OS::Neutron::Net', external_id: {theirs}}}\n"
        "  own: {type: 'OS::Neutron::Net', properties: {name: own}}\n"
    )

    def run(*words: str, status: int = 0) -> str:
        done = runner.invoke(cli, words)
        assert done.exit_code == status, done.output
        return done.output

    run("deploy", "refers", "-t", str(template), "--yes")
    assert "No changes" in run("drift", "refers")
    with sdk_connection(shell) as sdk:
        sdk.network.delete_network(theirs)
    shown = run("drift", "refers", status=2)
    assert "  ? theirs  OS::Neutron::Net\n      # its object was deleted outside Stoker\n" in shown
    assert "Plan: 1 missing." in shown and "1 different" in shown and "--revert" not in shown
    assert "does not exist" in run("drift", "refers", "--accept", "--yes", status=1)
    assert "under other names" in run("drift", "refers", "--revert", status=1)
    with sdk_connection(shell) as sdk:
        sdk.network.update_network(sdk.network.find_network("own"), name="other")
    shown = run("drift", "refers", "--revert", "--yes", status=1)
    assert "Plan: 1 to change, 1 missing." in shown and "refers: UPDATE_COMPLETE" in shown
    assert "Not brought back, as the objects do not belong to the stack (external_id): theirs." in shown
    assert "Plan: 1 missing." in run("drift", "refers", status=2)
    run("delete", "refers", "--yes")


def test_drift_is_accepted_or_reverted(shell: Shell, tmp_path: Path) -> None:
    runner = CliRunner(env={**shell.environment, "OS_CLOUD": "", "OS_AUTH_URL": ""})
    template = tmp_path / "net.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\n"
        "parameters: {word: {type: string, hidden: true, default: swordfish}}\n"
        "resources:\n"
        "  net:\n"
        "    type: OS::Neutron::Net\n"
        "    properties: {name: accepted}\n"
        "  group: {type: OS::Neutron::SecurityGroup, properties: {name: g, description: {get_param: word}}}\n"
        "  ignored: {type: OS::Neutron::Net, properties: {name: ignored, tags: [a]}, ignore_drift: [name]}\n"
    )

    def run(*words: str, status: int = 0) -> str:
        done = runner.invoke(cli, words)
        assert done.exit_code == status, done.output
        return done.output

    def rename(former: str, name: str) -> None:
        with sdk_connection(shell) as sdk:
            sdk.network.update_network(sdk.network.find_network(former), name=name)

    run("deploy", "accepted", "-t", str(template), "--yes")
    rename("ignored", "another")
    same, _, ignored = run("drift", "accepted").splitlines()
    assert same.startswith("No changes")
    assert ignored == "Ignored, as the template says: ignored (OS::Neutron::Net): name (differs)."
    assert "Nothing was accepted" in run("drift", "accepted", "--accept", "--yes")
    rename("accepted", "theirs")
    with sdk_connection(shell) as sdk:
        sdk.network.update_security_group(sdk.network.find_security_group("g"), description="barracuda")
    assert "Use --yes to confirm" in run("drift", "accepted", "--accept", status=1)
    assert "contradict" in run("drift", "accepted", "--accept", "--revert", status=2)
    assert "for --accept" in run("drift", "accepted", "net", status=2)
    assert "nothing to confirm" in run("drift", "accepted", "--yes", status=2)
    accepted = run("drift", "accepted", "--accept", "-t", str(template), "--yes")
    place = f"# net: {template}:6\nnet:\n  properties:\n    name: theirs\n"
    assert "Accepted the values of 2 resources." in accepted
    assert place in accepted
    assert "    # description: (hidden)\n" in accepted
    assert "barracuda" not in accepted
    template.write_text(template.read_text().replace("name: accepted", "name: theirs"))
    assert "~ net" not in run("plan", "accepted", "-t", str(template), "--refresh=all")
    rename("theirs", "others")
    answer = json.loads(run("drift", "accepted", "--accept", "net", "--yes", "-f", "json"))
    assert [each["values"] for each in answer["accept_drift"]] == [{"name": "others"}]
    reverted = run("drift", "accepted", "--revert", "--yes")
    assert '~ name = "others" -> "accepted"' in reverted
    with sdk_connection(shell) as sdk:
        assert sdk.network.find_network("accepted") is not None
    run("drift", "accepted")
    assert "No changes" in run("drift", "accepted", "--revert")
    run("delete", "accepted", "--yes")


def test_failed_restore_reports_path_and_commands(shell: Shell, tmp_path: Path) -> None:
    runner = CliRunner(env={**shell.environment, "OS_CLOUD": "", "OS_AUTH_URL": ""})
    template = tmp_path / "bad.yaml"
    template.write_text(
        "heat_template_version: 2021-04-16\nresources:\n"
        "  good: {type: OS::Heat::TestResource}\n"
        "  bad: {type: OS::Heat::TestResource, depends_on: good, properties: {fail: true}}\n"
    )
    for options in ((), ("--rollback",)):
        failed = runner.invoke(cli, ["deploy", "failing", "-t", str(template), "--yes", *options])
        assert failed.exit_code == 1
        assert "resources.bad: Test Resource failed" in failed.stderr
        assert f"bad is declared at {template}:4:3." in failed.stderr
        assert "  stoker logs failing --failed " in failed.stderr
        assert ("stoker stack retry failing" in failed.stderr) == (not options)
        assert runner.invoke(cli, ["delete", "failing", "--yes"]).exit_code == 0
    cancelled = runner.invoke(cli, ["stack", "cancel", "failing"])
    assert "There is no stack failing" in cancelled.stderr
