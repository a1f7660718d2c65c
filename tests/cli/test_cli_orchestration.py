"""The commands of OpenStack's client that are not about stacks: software configurations, deployments, the service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.cli_shell import OpenStack, Shell, openstack

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

SESSION = str(Path(__file__).with_name("session.yaml"))
SERVER = "7d1c3b2e-0000-4000-8000-000000000001"


def test_service_descriptions(embedded: Shell) -> None:
    build, versions, functions, conditions, types, long, filtered, template, validated = openstack(
        embedded,
        "orchestration build info -f json",
        "orchestration template version list -f json",
        "orchestration template function list heat_template_version.2021-04-16 -f json",
        "orchestration template function list heat_template_version.2021-04-16 --with_conditions -f json",
        "orchestration resource type list -f json",
        "orchestration resource type show OS::Heat::Value --long -f json",
        "orchestration resource type list --filter name=OS::Heat::Random --long -f json",
        "orchestration resource type show OS::Heat::Value --template-type hot -f json",
        f"orchestration template validate -t {SESSION} --show-nested --ignore-errors 99001 --parameter word=a -f json",
    )
    (services,) = openstack(embedded, "orchestration service list -f json", cloud="stoker-admin")
    assert build["engine"]["revision"]
    assert "heat_template_version.2021-04-16" in {row["Version"] for row in versions}
    assert {row["Functions"] for row in functions} < {row["Functions"] for row in conditions}
    assert {"Resource Type": "OS::Heat::Value"} in types
    assert (long["resource_type"], [row["Resource Type"] for row in filtered]) == (
        "OS::Heat::Value",
        ["OS::Heat::RandomString"],
    )
    assert "value" in template["parameters"]
    assert validated["Parameters"]["word"]["Value"] == "a"
    assert [row["Status"] for row in services] == ["up"]


@pytest.fixture
def client(embedded: Shell) -> Iterator[OpenStack]:
    with OpenStack(embedded) as running:
        yield running


def test_configurations_and_deployments(client: OpenStack, tmp_path: Path) -> None:
    script, definition = tmp_path / "script.sh", tmp_path / "definition.yaml"
    script.write_text("echo $who\n")
    definition.write_text("inputs: [{name: who, default: nobody}]\noutputs: [{name: said}]\n")
    create = f"software config create --config-file {script} --definition-file {definition} --group script"
    config, other = client(f"{create} greet -f json"), client(f"{create} other -f json")
    configs = client("software config list --limit 5 -f json")
    assert {config["id"], other["id"]} <= {row["id"] for row in configs}
    assert client(f"software config list --marker {configs[0]['id']} --limit 4 -f json") == configs[1:]
    assert client(f"software config show {config['id']} -f json")["group"] == "script"
    assert client(f"software config show --config-only {config['id']}").strip() == "echo $who"
    deployment = client(
        f"software deployment create greeting --config {config['id']} --server {SERVER} --input-value who=me "
        "--action CREATE --signal-transport NO_SIGNAL --timeout 10 -f json",
    )
    listed = client(f"software deployment list --server {SERVER} --long -f json")
    assert [row["id"] for row in listed] == [deployment["id"]]
    shown = client(f"software deployment show {deployment['id']} --long -f json")
    assert (shown["action"], shown["server_id"]) == ("CREATE", SERVER)
    (reported,) = json.loads(client(f"software deployment metadata show {SERVER}"))
    values = {entry["name"]: entry.get("value") for entry in reported["inputs"]}
    assert (reported["group"], values["who"]) == ("script", "me")
    assert client(f"software deployment output show {deployment['id']} --all --long") == ""  # nothing has come yet
    client(f"software deployment delete {deployment['id']}")
    client(f"software config delete {config['id']} {other['id']}")
