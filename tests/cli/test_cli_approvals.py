"""Approvals and change windows, as users of the command see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from stoker.cli.client.change_requests import wait_for_window
from stoker.cli.terminal.errors import CommandFailed
from tests.cli.cli_shell import Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

TEMPLATE = """
heat_template_version: 2021-04-16
parameters: {value: {type: string, default: one}}
resources: {thing: {type: OS::Heat::TestResource, properties: {value: {get_param: value}}}}
"""


def as_manager(shell: Shell) -> dict[str, str]:
    """The variables of a manager of the same project."""
    clouds = yaml.safe_load((shell.directory / "clouds.yaml").read_text())["clouds"]["stoker"]
    found = {f"OS_{name.upper()}": str(value) for name, value in clouds["auth"].items()}
    return {**found, "OS_USERNAME": "admin", "OS_IDENTITY_API_VERSION": "3", "OS_PASSWORD": "secret"}


def test_managers_set_policies_and_others_list_them(embedded: Shell, tmp_path: Path) -> None:
    template, policies = tmp_path / "shop.yaml", tmp_path / "policies.yaml"
    template.write_text(TEMPLATE)
    written = (
        "policies:\n- name: one-only\n  types: [OS::Heat::TestResource]\n  expression: step.properties.value == 'one'\n"
    )
    policies.write_text(written)
    manager = as_manager(embedded)
    embedded.ok("deploy", "governed", "-t", str(template), "--yes")
    assert "There are no policies for plans of governed." in embedded.ok("policies", "governed").err
    assert "does not allow" in embedded.fails("policies", "governed", "--set", str(policies))
    reported = embedded.ok("policies", "governed", "--set", str(policies), variables=manager).out
    assert f"Plans of governed must satisfy the policies of {policies}." in reported
    assert embedded.ok("policies", "governed", "-f", "value").out.split()[:3] == ["one-only", "stack", "deny"]
    assert embedded.ok("policies", "governed", "--text").out == written

    denied = embedded.fails("deploy", "governed", "-t", str(template), "-P", "value=two", "--yes")
    assert "error[one-only]" in denied and "resources.thing" in denied
    policies.write_text(written.replace("types", "typos"))
    wrong = embedded.fails("policies", "governed", "--set", str(policies), variables=manager)
    assert "The policies cannot be used:" in wrong and f"{policies}:3:3" in wrong and "did you mean 'types'?" in wrong
    assert "typos: [OS::Heat::TestResource]" in wrong
    embedded.ok("policies", "governed", "--remove", variables=manager)

    policies.write_text(written)
    two = ("plan", "governed", "-t", str(template), "-P", "value=two", "--policy", str(policies))
    tried = embedded.fails(*two)
    assert "error[one-only]" in tried and "resources.thing" in tried, "it is tried without being set"
    assert "Denied" not in embedded.ok("plan", "fresh", "-t", str(template), "--policy", str(policies)).out
    assert "--as-of" in embedded.stoker("plan", "governed", "--as-of", "x", "--policy", str(policies)).err
    policies.write_text(written.replace("types", "typos"))
    assert "did you mean 'types'?" in embedded.fails(*two)
    embedded.ok("deploy", "governed", "-t", str(template), "-P", "value=two", "--yes")
    embedded.ok("delete", "governed", "--yes")


def test_saved_plan_is_approved_by_another_user(embedded: Shell, tmp_path: Path) -> None:
    template, control, plan = tmp_path / "shop.yaml", tmp_path / "control.yaml", tmp_path / "shop.plan"
    template.write_text(TEMPLATE)
    control.write_text("approvals: [{number: 1}]\nvalid_hours: 24\n")
    manager = as_manager(embedded)
    embedded.ok("deploy", "shop", "-t", str(template), "--yes")
    assert "does not allow" in embedded.fails("change-control", "shop", "--set", str(control))
    reported = embedded.ok("change-control", "shop", "--set", str(control), variables=manager).out
    assert f"Changes of shop need what {control} says." in reported
    assert yaml.safe_load(embedded.ok("change-control", "shop").out)["valid_hours"] == 24

    embedded.ok("plan", "shop", "-t", str(template), "-P", "value=two", "-o", str(plan))
    assert "Nobody has asked" in embedded.fails("approve", str(plan), "--yes", variables=manager)
    assert "needs the approval of 1 other person" in embedded.fails("deploy", str(plan))
    assert embedded.ok("approvals").err == "No changes wait for your approval.\n"
    [identifier] = embedded.ok("approvals", "-f", "value", "-c", "id", variables=manager).out.split()
    assert "author" in embedded.fails("approve", identifier, "--yes")
    shown = embedded.ok("approve", identifier, "--yes", "--comment", "as discussed", variables=manager).out
    assert "1 to change" in shown and "The change of shop is approved." in shown
    embedded.ok("deploy", str(plan))
    assert "USED" in embedded.ok("approvals", "--all").out

    deletion = embedded.fails("delete", "shop", "--yes")
    assert "needs the approval" in deletion
    [waiting] = embedded.ok("approvals", "-f", "value", "-c", "id", variables=manager).out.split()
    embedded.ok("break-glass", waiting, "--reason", "the shop is down", variables=manager)
    embedded.ok("delete", "shop", "--yes")


class Closed:
    """A service whose window opens after some questions about it."""

    def __init__(self, *opens_at: str | None) -> None:
        self._left = list(opens_at)

    def call(self, method: str, path: str, body: Any = None, query: Any = None) -> Any:
        assert (method, path) == ("GET", "/change_control")
        found = self._left.pop(0) if self._left else "now"
        return {"change_control": {"open": found == "now", "opens_at": found}}


def test_a_deployment_waits_until_a_window_opens() -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=90)).isoformat()
    pauses: list[float] = []
    notes: list[str] = []
    service: Any = Closed(soon, soon)
    wait_for_window(service, None, notes.append, pauses.append)
    assert pauses == [60.0, 60.0] and notes == [f"Waiting for the change window, which opens at {soon}."]
    never: Any = Closed(None)
    with pytest.raises(CommandFailed, match="two years"):
        wait_for_window(never, None, notes.append, pauses.append)
