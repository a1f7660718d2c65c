"""A Stoker beside the lab, at the addresses that Heat had."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import requests

from tools.conformance.takeover.lab import API_PORT, CFN_PORT, Lab, with_children

STOKER = Path(sys.executable).with_name("stoker")
KEY = "7f3b0c2e9d8a4c15b6e1f0a2d3c4b5e6"
DATABASE = "stoker_takeover"


class Installation:
    """Its configuration is a copy of Heat's, with a database and a key of its own."""

    def __init__(self, lab: Lab, home: Path) -> None:
        self._lab = lab
        self._home = home
        database = urlsplit(lab.database)._replace(path=f"/{DATABASE}", query="").geturl()
        (home / "stoker").mkdir(exist_ok=True)
        self._config = lab.configuration(
            home / "stoker",
            DEFAULT={
                "auth_encryption_key": KEY,
                "max_resources_per_stack": "-1",
                "encrypt_parameters_and_properties": "false",
            },
            database={"connection": database},
            keystone_authtoken={"memcached_servers": ""},
        )

    def prepare(self) -> None:
        """Make an empty database with tables."""
        self._lab.recreate_database(DATABASE)
        self._stoker("db", "sync")

    def takeover(self, *options: str) -> str:
        """Run `stoker takeover`; return what it prints."""
        return self._stoker("takeover", "--from", self._lab.database, "--force", *options)

    def export(self, directory: Path) -> str:
        """Run `stoker takeover --export`; return what it prints, with its warnings."""
        return self._stoker("takeover", "--export", str(directory))

    def measured(self) -> tuple[float, float, float]:
        """Run `stoker takeover`; return the seconds, those of processor time, and the megabytes that it needed."""
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        self._stoker("takeover", "--from", self._lab.database, "--force")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        return time.monotonic() - began, processor, used.ru_maxrss / 1024

    def _stoker(self, *arguments: str) -> str:
        environment = {**os.environ, "HEAT_ENCRYPTION_KEY": self._lab.setting("DEFAULT", "auth_encryption_key")}
        command = [str(STOKER), *arguments[: 2 if arguments[0] == "db" else 1], "--config-file", str(self._config)]
        done = subprocess.run(
            [*command, *arguments[2 if arguments[0] == "db" else 1 :]],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 3):
            raise RuntimeError(f"stoker {arguments[0]}: {done.stderr}")
        return re.sub(r"\n\n+", "\n", done.stdout + (done.stderr if done.returncode else "")).strip()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run an engine and both APIs."""
        processes = []
        for name in ("engine", "api", "api-cfn"):
            log = (self._home / f"stoker-{name}.log").open("ab")
            command = [str(STOKER), name, "--config-file", str(self._config)]
            processes.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))
        try:
            for port in (API_PORT, CFN_PORT):
                _wait_for(f"http://127.0.0.1:{port}/healthcheck")
            time.sleep(5)
            yield
        finally:
            for process in processes:
                with_children(process, signal.SIGTERM)
            for process in processes:
                process.wait(30)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            requests.get(url, timeout=5)
            return
        except requests.RequestException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)
