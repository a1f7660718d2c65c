"""`stoker up` under the load of many clients: reads in processes of their own, which end with it."""

from __future__ import annotations

import json
import os
import signal
import threading
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from testing.servers import wait_until
from tests.cli.cli_shell import ANY_PORTS, Shell, sdk_connection

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::PendingDeprecationWarning:openstack")]

WORDS = {f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(300)}
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": WORDS}
CLIENTS = 4


class Clients:
    """Clients that validate a template again and again."""

    def __init__(self, url: str, token: str) -> None:
        self.request = urllib.request.Request(
            f"{url}/validate",
            json.dumps({"template": TEMPLATE}).encode(),
            {"X-Auth-Token": token, "Content-Type": "application/json"},
        )
        self.stopped = threading.Event()
        self.answers = 0

    def work(self, _number: int) -> None:
        while not self.stopped.is_set():
            with urllib.request.urlopen(self.request, timeout=60) as answer:
                assert json.load(answer)["Parameters"] == {}
            self.answers += 1


def started(shell: Shell) -> list[int]:
    """The processes that the engine has started to serve reads, as it has logged them."""
    lines = (shell.directory / "engine.log").read_text().splitlines()
    return [int(line.split("the process ")[1].split(",")[0]) for line in lines if "Reads are served by" in line]


def runs(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def answered(shell: Shell, until: Callable[[], object], what: str) -> None:
    """Let clients send requests until something has happened; all of them must be answered."""
    with sdk_connection(shell) as sdk:
        clients = Clients(f"{shell.endpoints()['rest']}/{sdk.current_project_id}", sdk.auth_token)
    with ThreadPoolExecutor(CLIENTS) as threads:
        working = threads.map(clients.work, range(CLIENTS))
        try:
            wait_until(until, what)
        finally:
            clients.stopped.set()
        assert list(working) == [None] * CLIENTS
    assert clients.answers


def test_reader_processes_start_under_load_and_end_with_engine(shell: Shell, tmp_path: Path) -> None:
    configured = tmp_path / "readers.conf"
    configured.write_text("[engine]\nreaders = 1\n")
    shell.ok("up", "--detach", *ANY_PORTS, "--config-file", str(configured))
    assert started(shell) == []
    answered(shell, lambda: len(started(shell)) == 1, "a process is started")
    [process] = started(shell)
    assert runs(process)
    rows = shell.ok("status", "-f", "json").json
    assert [(row["state"], row["pid"]) for row in rows if row["program"] == "reader"] == [("running", process)]

    def killed() -> bool:
        if runs(process):
            os.kill(process, signal.SIGKILL)
        return f"The process {process}, which served reads" in (shell.directory / "engine.log").read_text()

    answered(shell, killed, "the end of the process is noticed")
    rows = shell.ok("status", "-f", "json", "-c", "program", "-c", "restarts", "-c", "reason").json
    [reader] = [row for row in rows if row["program"] == "reader"]
    assert reader["restarts"] == 1 and f"the process {process} has ended" in reader["reason"]
    shell.ok("down")

    shell.ok("up", "--detach")
    answered(shell, lambda: len(started(shell)) == 2, "a process is started")
    shell.ok("down")
    assert not any(map(runs, started(shell)))
