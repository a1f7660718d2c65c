"""The commands of OpenStack's client that are not about stacks: software configurations, deployments, the service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-embedded")]

BATCH = Path(__file__).with_name("openstack_batch.py")
SESSION = str(Path(__file__).with_name("session.yaml"))
SERVER = "7d1c3b2e-0000-4000-8000-000000000001"


def openstack(shell: Shell, *commands: str, cloud: str = "stoker") -> list[Any]:
    """What commands print, those that are asked for JSON read; all of them must succeed."""
    files = {"OS_CLIENT_CONFIG_FILE": str(shell.directory / "clouds.yaml"), "OS_CLOUD": cloud}
    done = subprocess.run(
        [sys.executable, str(BATCH)],
        input=json.dumps([command.split() for command in commands]),
        env={**shell.environment, **files},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for command, result in zip(commands, results, strict=True):
        assert result["status"] == 0, f"{command}: {result['err']}"
    return [
        json.loads(result["out"]) if command.endswith("-f json") else result["out"]
        for command, result in zip(commands, results, strict=True)
    ]


def test_what_the_service_offers(embedded: Shell) -> None:
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


def test_configurations_and_deployments(embedded: Shell, tmp_path: Path) -> None:
    script, definition = tmp_path / "script.sh", tmp_path / "definition.yaml"
    script.write_text("echo $who\n")
    definition.write_text("inputs: [{name: who, default: nobody}]\noutputs: [{name: said}]\n")
    (config,) = openstack(
        embedded,
        f"software config create greet --config-file {script} --definition-file {definition} --group script -f json",
    )
    listed, shown, text, deployment = openstack(
        embedded,
        "software config list --limit 5 -f json",
        f"software config show {config['id']} -f json",
        f"software config show --config-only {config['id']}",
        f"software deployment create greeting --config {config['id']} --server {SERVER} --input-value who=me "
        "--action CREATE --signal-transport NO_SIGNAL -f json",
    )
    assert config["id"] in {row["id"] for row in listed}
    assert (shown["group"], text.strip()) == ("script", "echo $who")
    listed, shown, metadata, *_ = openstack(
        embedded,
        f"software deployment list --server {SERVER} --long -f json",
        f"software deployment show {deployment['id']} --long -f json",
        f"software deployment metadata show {SERVER}",
        f"software deployment output show {deployment['id']} --all",
        f"software deployment delete {deployment['id']}",
        f"software config delete {config['id']}",
    )
    assert [row["id"] for row in listed] == [deployment["id"]]
    assert (shown["action"], shown["server_id"]) == ("CREATE", SERVER)
    (told,) = json.loads(metadata)
    values = {entry["name"]: entry.get("value") for entry in told["inputs"]}
    assert (told["group"], values["who"]) == ("script", "me")
