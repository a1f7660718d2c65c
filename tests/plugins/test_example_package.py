"""The manual's package of plug-ins, installed by pip and used through the APIs of a running Stoker."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from keystoneauth1.exceptions import BadRequest

from stoker.base.extensions import PluginInvalid
from tests.cli.agent_cloud import Cloud, until
from tests.cli.cli_shell import ANY_PORTS, Shell, shell_in
from tests.plugins.ledger import Ledger, running_ledger

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("example package")]
"""One process of the tests installs the package and runs a Stoker with it."""

PACKAGE = Path(__file__).with_name("example_package")
TEMPLATE = (PACKAGE / "accounts.yaml").read_text()
TYPE = "Ledger::Account"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that pip has installed the package in."""
    source = tmp_path_factory.mktemp("source") / "package"
    shutil.copytree(PACKAGE, source)
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", target, source], check=True)
    return target


@pytest.fixture(scope="module")
def shell(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A user with a running Stoker that has the package."""
    user = shell_in(tmp_path_factory.mktemp("user"))
    user.environment["PYTHONPATH"] = str(installed)
    user.ok("up", "--detach", "--pace", "0.1", *ANY_PORTS)
    yield user
    user.ok("down")


@pytest.fixture(scope="module")
def ledger(shell: Shell) -> Iterator[Ledger]:
    """The ledger service, in the catalog of the emulated cloud."""
    with running_ledger() as running:
        admin = Cloud(shell).admin
        identity = f"{str(admin.get_endpoint(service_type='identity')).removesuffix('/v3')}/v3"
        made = admin.post(f"{identity}/services", json={"service": {"type": "ledger", "name": "ledger"}}).json()
        endpoint = {
            "service_id": made["service"]["id"],
            "interface": "public",
            "url": running.url,
            "region_id": "RegionOne",
        }
        admin.post(f"{identity}/endpoints", json={"endpoint": endpoint})
        running.add(name="company", code="ALL-0001", budget=0)
        yield running


@pytest.fixture
def cloud(shell: Shell, ledger: Ledger) -> Cloud:
    return Cloud(shell)


def begin(cloud: Cloud, name: str, template: Any = TEMPLATE, **more: Any) -> None:
    body = {"stack_name": name, "template": template, "parameters": {"parent": "company"}, **more}
    cloud.user.post(cloud.stacks(), json=body)


def ended(cloud: Cloud, name: str) -> dict[str, Any]:
    until(lambda: not cloud.show(name)["stack_status"].endswith("IN_PROGRESS"))
    return cloud.show(name)


def change(cloud: Cloud, name: str, template: Any = TEMPLATE, *, preview: str = "", **parameters: Any) -> Any:
    place = f"{cloud.stacks()}/{name}/{cloud.show(name)['id']}{preview}"
    body = {"template": template, "parameters": {"parent": "company", **parameters}}
    return cloud.user.put(place, json=body)


def accounts(ledger: Ledger) -> list[dict[str, Any]]:
    return [account for account in ledger.accounts.values() if account["name"] == "operations"]


def test_the_package_uses_every_entry_point() -> None:
    """The manual's page shows each kind of plug-in."""

    def groups(project: Path) -> set[str]:
        declared = tomllib.loads(project.read_text())["project"]["entry-points"]
        return {group for group in declared if group.startswith("stoker.")}

    own = groups(Path(__file__).parents[2] / "packages" / "stoker" / "pyproject.toml")
    assert groups(PACKAGE / "pyproject.toml") == own - {"stoker.template_types"} | {
        "stoker.lifecycle",
        "stoker.update_policies",
    }


def test_the_api_lists_what_the_package_offers(cloud: Cloud) -> None:
    root = cloud.stacks().removesuffix("/stacks")
    assert TYPE in cloud.user.get(f"{root}/resource_types").json()["resource_types"]
    schema = cloud.user.get(f"{root}/resource_types/{TYPE}").json()["properties"]
    assert {"custom_constraint": "ledger.account"} in schema["parent"]["constraints"]
    server = cloud.user.get(f"{root}/resource_types/OS::Nova::Server").json()["properties"]
    transports = server["software_config_transport"]["constraints"][0]["allowed_values"]
    assert transports[-1] == "POLL_LEDGER" and "POLL_SERVER_CFN" in transports
    versions = cloud.user.get(f"{root}/template_versions").json()["template_versions"]
    assert "heat_template_version.2026-04-01-ledger" in {version["version"] for version in versions}
    place = f"{root}/template_versions/heat_template_version.2026-04-01-ledger/functions"
    functions = {entry["functions"] for entry in cloud.user.get(place).json()["template_functions"]}
    assert {"ledger_code", "get_param"} <= functions


def test_type_service_finder_function_version_and_lifecycle(cloud: Cloud, ledger: Ledger) -> None:
    """One stack: its version has the function, its type the service, its property the finder."""
    company = next(account["id"] for account in ledger.accounts.values() if account["name"] == "company")
    begin(cloud, "one")
    shown = ended(cloud, "one")
    assert shown["stack_status"] == "CREATE_COMPLETE", shown["stack_status_reason"]
    (made,) = accounts(ledger)
    assert (made["code"], made["budget"], made["parent"]) == ("OPS-0042", 100, company)
    assert cloud.outputs("one") == {"code": "OPS-0042"}
    change(cloud, "one", budget=200)
    assert ended(cloud, "one")["stack_status"] == "UPDATE_COMPLETE"
    assert accounts(ledger)[0] == {**made, "budget": 200}
    cloud.delete("one")
    assert accounts(ledger) == []
    texts = [entry["text"] for entry in ledger.entries.values() if entry["kind"] == "operation"]
    assert texts[:3] == ["CREATE COMPLETE of one", "UPDATE COMPLETE of one", "DELETE COMPLETE of one"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [({"parent": "nobody"}, "nobody"), ({"number": 12345}, "the number must be between 0 and 9999")],
)
def test_constraints_and_functions_refuse_invalid_values(cloud: Cloud, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        begin(cloud, "wrong", parameters={"parent": "company", **given})


def test_the_constraint_on_codes(cloud: Cloud) -> None:
    template = yaml.safe_load(TEMPLATE)
    template["resources"]["account"]["properties"]["code"] = "ops 42"
    template["heat_template_version"] = "2026-04-01-ledger"
    with pytest.raises(BadRequest, match="'ops 42' is not a code of the ledger"):
        begin(cloud, "wrong", template)


def test_the_sink_gets_events(cloud: Cloud, ledger: Ledger) -> None:
    begin(cloud, "told", environment={"event_sinks": [{"type": "ledger", "account": "company"}]})
    assert ended(cloud, "told")["stack_status"] == "CREATE_COMPLETE"

    def statuses() -> list[str]:
        found = [entry["text"] for entry in ledger.entries.values() if entry["kind"] == "event"]
        return [f"{text['resource_name']} {text['resource_status']}" for text in found]

    until(lambda: "told COMPLETE" in statuses())
    assert statuses().index("account COMPLETE") < statuses().index("told COMPLETE")
    cloud.delete("told")
    with pytest.raises(BadRequest, match="account must be the name or ID of an account"):
        begin(cloud, "wrong", environment={"event_sinks": [{"type": "ledger"}]})


def test_the_lifecycle_plug_in_refuses_a_deletion(cloud: Cloud, ledger: Ledger) -> None:
    begin(cloud, "kept")
    assert ended(cloud, "kept")["stack_status"] == "CREATE_COMPLETE"
    audit = ledger.add(name="kept", status="audited")
    cloud.user.delete(f"{cloud.stacks()}/kept/{cloud.show('kept')['id']}")
    until(lambda: cloud.show("kept")["stack_status"] == "DELETE_FAILED")
    assert cloud.show("kept")["stack_status_reason"] == (
        "The plug-in ledger-audit refuses the operation: The stack kept is being audited. Delete it after the audit."
    )
    assert len(accounts(ledger)) == 1
    del ledger.accounts[audit["id"]]
    cloud.delete("kept")
    assert accounts(ledger) == []


def test_the_update_policy_refuses_changes(cloud: Cloud, ledger: Ledger) -> None:
    begin(cloud, "paid")
    ended(cloud, "paid")
    plan = change(cloud, "paid", preview="/preview", budget=50).json()["plan"]
    (step,) = [step for step in plan["steps"] if step["kind"] == "refuse"]
    message = "the update policy ledger-budgets forbids it: the budget must not be reduced from 100 to 50"
    assert step["reasons"] == [{"code": "policy", "subject": "ledger-budgets", "message": message}]
    changes: list[dict[str, Any]] = [{"budget": 50}, {"number": 43}]
    for parameters in changes:
        change(cloud, "paid", **parameters)
        shown = ended(cloud, "paid")
        assert shown["stack_status"] == "UPDATE_FAILED"
        assert "the update policy ledger-budgets forbids it" in shown["stack_status_reason"]
        assert [(account["code"], account["budget"]) for account in accounts(ledger)] == [("OPS-0042", 100)]
    empty = {"heat_template_version": "2021-04-16", "parameters": {"parent": {"type": "string"}}}
    change(cloud, "paid", empty)
    assert "accounts must be kept for ten years" in ended(cloud, "paid")["stack_status_reason"]
    cloud.delete("paid")


def test_configuration_and_signal_through_the_transports(cloud: Cloud, ledger: Ledger) -> None:
    """The test is the agent in the server: it polls the document, and writes its signal to the other one."""
    begin(cloud, "web", (PACKAGE / "server.yaml").read_text(), parameters={})

    def deployments() -> list[dict[str, Any]]:
        for document in list(ledger.documents.values()):
            if found := document.get("deployments"):
                return list(found)
        return []

    until(lambda: bool(deployments()))
    (deployment,) = deployments()
    assert deployment["config"] == "echo ready"
    inputs = {entry["name"]: entry["value"] for entry in deployment["inputs"]}
    assert (inputs["deploy_signal_transport"], inputs["deploy_signal_verb"]) == ("LEDGER_SIGNAL", "PUT")
    requests.put(inputs["deploy_signal_id"], json={"deploy_stdout": "ready\n", "deploy_status_code": 0}, timeout=10)
    shown = ended(cloud, "web")
    assert shown["stack_status"] == "CREATE_COMPLETE", shown["stack_status_reason"]
    assert cloud.outputs("web") == {"said": "ready\n"}
    cloud.delete("web")
    assert ledger.documents == {}


def test_parts_are_unknown_without_the_package(tmp_path: Path) -> None:
    """The command line reads the same entry points as the engine."""
    shell = shell_in(tmp_path)
    file = tmp_path / "accounts.yaml"
    file.write_text(TEMPLATE)
    result = shell.stoker("lint", str(file))
    assert result.status != 0
    assert "2026-04-01-ledger" in result.out + result.err


def test_the_template_is_valid_offline_with_the_package(installed: Path, tmp_path: Path) -> None:
    shell = shell_in(tmp_path)
    result = shell.stoker("lint", str(PACKAGE / "accounts.yaml"), variables={"PYTHONPATH": str(installed)})
    assert result.status == 0, result.out + result.err


def test_a_broken_package_prevents_the_start_with_its_name(installed: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(installed, broken)
    (broken / "stoker_ledger" / "functions.py").write_text("import no_such_module\n")
    result = shell_in(tmp_path).fails("up", "--detach", *ANY_PORTS, variables={"PYTHONPATH": str(broken)})
    assert "stoker-ledger (stoker.template_functions: ledger = stoker_ledger.functions:FUNCTIONS)" in result
    assert "no_such_module" in result
    assert PluginInvalid.__name__ not in result
