"""An embedded Stoker whose engine was killed with operations in progress."""

from __future__ import annotations

import json
import sqlite3
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import ANY_PORTS, Shell

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cli-local")]

MEMBERS = 60
GROUP = f"""
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties: {{count: {MEMBERS}, resource_def: {{type: leaf.yaml}}}}
"""
LEAF = """
heat_template_version: 2021-04-16
resources:
  waits: {type: OS::Heat::TestResource, properties: {wait_secs: 3000}}
"""
WAITING = "select count(*) from operations where status = 'RUNNING' and waiting_epoch = epoch"
"""How many operations are recorded to wait only, so that they cannot have killed their engine."""


def read(shell: Shell, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{shell.directory / 'stoker.db'}?mode=ro", uri=True, timeout=60)) as connection:
        return connection.execute(query).fetchall()


def place(shell: Shell) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shell.directory / "endpoints.json").read_text())
    return found


def until_all_wait(shell: Shell) -> None:
    while read(shell, WAITING) != [(MEMBERS + 2,)]:  # with those of the group and of the root
        shell.ok("stack", "list")


def test_restarted_engine_serves_requests_at_once(shell: Shell, tmp_path: Path) -> None:
    """Kill the engine twice while a tree of stacks is in progress, and start it again."""
    (tmp_path / "group.yaml").write_text(GROUP)
    (tmp_path / "leaf.yaml").write_text(LEAF)
    shell.ok("up", "--detach", *ANY_PORTS, timeout=300)
    shell.openstack("stack", "create", "-t", str(tmp_path / "group.yaml"), "tree", timeout=300)
    for _ in range(2):
        until_all_wait(shell)
        shell.kill("supervisor", "engine")  # the supervisor first, which would restart the engine
        shell.ok("up", "--detach", timeout=300)
        with urllib.request.urlopen(f"{place(shell)['rest'].rpartition('/')[0]}/readyz", timeout=30) as answer:
            assert json.load(answer)["ready"]
        [stack] = shell.ok("stack", "list", "-f", "json").json
        assert stack["stack_status"] == "CREATE_IN_PROGRESS"
    assert read(shell, "select count(*) from operation_deaths where verdict = 'CHARGED'") == [(0,)]
    assert {status for (status,) in read(shell, "select distinct status from operations")} <= {"PENDING", "RUNNING"}
