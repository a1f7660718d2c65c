"""Stoker beside a real cloud, started as a user does, and requests to its REST API."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from keystoneauth1.exceptions import ClientException

from tools.realcloud.lab import Account, Lab

STOKER = str(Path(sys.executable).with_name("stoker"))
CLOUDS = "OS_CLIENT_CONFIG_FILE"
POLL_SECONDS = 0.5
TIMEOUT = 660.0
"""Seconds after which an operation counts as stuck: those of its time limit, and a minute."""
_ANSWERED = (0, 2)
"""The exit statuses of a command that has done what was asked: 2 says that there are differences."""
_DELETIONS = 3
"""Attempts to delete a stack."""
_DEFAULTS = {"disable_rollback": True, "timeout_mins": 10}


class Refused(Exception):
    """The API has refused a request, or has not answered it."""


class Stuck(Exception):
    """An operation did not end in time."""


class Stacks:
    """The stacks of an account, at the endpoint that the catalog has for the Orchestration API."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.url = ""
        """The URL of another Orchestration API for the project, instead of the endpoint in the catalog."""

    def send(self, method: str, path: str, **options: Any) -> Any:
        """Return the body of the response. Raises Refused, also when there is none."""
        try:
            answer = self.account.send("orchestration", method, f"{self.url}{path}", **options)
        except ClientException as error:
            raise Refused(f"no answer: {error}") from error
        if answer.status_code >= 400:
            body = answer.json() if "json" in answer.headers.get("Content-Type", "") else {}
            raise Refused(f"{answer.status_code} {body.get('error', {}).get('message', answer.text[:300])}")
        return answer.json() if answer.content else None

    # -- stacks -------------------------------------------------------------------------------------------------------

    def create(self, name: str, template: Mapping[str, Any], files: Mapping[str, str], **options: Any) -> str:
        """Begin to create a stack, and return its path; `options` are further keys of the request."""
        body = {"stack_name": name, "template": template, "files": files, **_DEFAULTS, **options}
        return f"/stacks/{name}/{self.send('POST', '/stacks', json=body)['stack']['id']}"

    def update(self, stack: str, template: Mapping[str, Any], files: Mapping[str, str], **options: Any) -> None:
        """Begin to update a stack; `options` are further keys of the request, such as `converge`."""
        self.send("PUT", stack, json={"template": template, "files": files, **_DEFAULTS, **options})

    def act(self, stack: str, action: str) -> None:
        """Begin an action: check, suspend, resume."""
        self.send("POST", f"{stack}/actions", json={action: None})

    def show(self, stack: str) -> dict[str, Any]:
        """Return the stack, without evaluating its outputs."""
        shown: dict[str, Any] = self.send("GET", stack, params={"resolve_outputs": "false"})["stack"]
        return shown

    def ended(self, stack: str, seconds: float = TIMEOUT) -> tuple[str, str]:
        """Return the status and its reason when the operation on a stack has ended. Raises Stuck."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            shown = self.show(stack)
            if not shown["stack_status"].endswith("_IN_PROGRESS"):
                return shown["stack_status"], shown["stack_status_reason"]
            time.sleep(POLL_SECONDS)
        raise Stuck(f"still {shown['stack_status']} after {seconds:.0f} s")

    def delete(self, stack: str, seconds: float = TIMEOUT) -> tuple[str, str]:
        """Delete a stack, and return the status and its reason. Raises Stuck.

        A deletion that fails is tried again a few times, so that nothing is left; the outcome is that of the first.
        """
        outcomes: list[tuple[str, str]] = []
        while len(outcomes) < _DELETIONS and (not outcomes or outcomes[-1][0] != "DELETE_COMPLETE"):
            self.send("DELETE", stack)
            outcomes.append(self.ended(stack, seconds))
        return outcomes[0]

    def clear(self, name: str) -> None:
        """Delete the stack with a name, which an earlier run has left, if there is one. Raises Refused and Stuck."""
        for found in self.send("GET", "/stacks", params={"name": name})["stacks"]:
            self.delete(f"/stacks/{name}/{found['id']}")

    def resource(self, stack: str, name: str) -> dict[str, Any]:
        """Return a resource of a stack."""
        shown: dict[str, Any] = self.send("GET", f"{stack}/resources/{name}")["resource"]
        return shown


class Engine(Stacks):
    """A Stoker that uses one account of the cloud."""

    def __init__(self, account: Account, name: str, home: Path, clouds: Path, settings: Path) -> None:
        super().__init__(account)
        self._name, self._clouds, self._settings = name, clouds, settings
        self.data = home / name

    def start(self) -> None:
        """Start it on free ports, the first time, or on the same ports again."""
        ports = ["--api-port", "0", "--cfn-port", "0"] if not self.url else []
        arguments = ["--data-dir", str(self.data), "--cloud", self._name, "--config-file", str(self._settings), *ports]
        self._run("up", "--detach", *arguments)
        endpoints = json.loads((self.data / "endpoints.json").read_text())
        self.url = f"{endpoints['rest']}/{self.account.project_id}"

    def stop(self) -> None:
        """Stop it; its data is kept."""
        self._run("down", "--data-dir", str(self.data))

    def kill(self) -> None:
        """Kill its process, which gets no chance to finish anything."""
        os.kill(int((self.data / "engine.pid").read_text()), signal.SIGKILL)

    def command(self, *arguments: str) -> tuple[int, Any]:
        """Return the exit status of a command of `stoker` and its JSON output; of several lines, the last one.

        Raises Refused with its message if it fails.
        """
        done = subprocess.run(
            [STOKER, *arguments, "--data-dir", str(self.data)],
            check=False,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        if done.returncode not in _ANSWERED:
            raise Refused(f"stoker {' '.join(arguments)}: {done.stderr[-2000:]}")
        try:
            return done.returncode, json.loads(
                done.stdout if done.stdout.startswith("{\n") else done.stdout.splitlines()[-1]
            )
        except (ValueError, IndexError):
            raise Refused(f"stoker {' '.join(arguments)}: {(done.stderr or done.stdout)[-2000:]}") from None

    def _run(self, *arguments: str) -> None:
        subprocess.run([STOKER, *arguments], check=True, env=self._environment(), stdout=subprocess.DEVNULL)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_"))}
        return {**kept, CLOUDS: str(self._clouds)}


@contextmanager
def running(lab: Lab, home: Path, settings: Path, accounts: Collection[str]) -> Iterator[dict[str, Engine]]:
    """A Stoker for each of these accounts of the lab; stopped in the end."""
    clouds = home / "clouds.yaml"
    lab.write_clouds(clouds)
    engines = {name: Engine(lab.accounts[name], name, home, clouds, settings) for name in accounts}
    try:
        for engine in engines.values():
            engine.start()
        yield engines
    finally:
        for engine in engines.values():
            engine.stop()
