"""A cluster of Stoker beside real services, set up with the commands of the manual, and removed again.

docs/how-to/cluster.md and docs/how-to/keystone.md are what is run; only names, passwords and addresses differ.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import requests

from testing.servers import HOST, MariaDB, RabbitMQ, free_port, wait_until
from tools.conformance.place import HIDDEN_TAG
from tools.realcloud.lab import Account, Lab, LabMissing
from tools.realcloud.operators.manual import block, blocks, replaced

PROGRAMS = Path(sys.executable).parent
SERVICE_USER = "stoker-operator"
STACK_DOMAIN = "stoker-operator"
DOMAIN_ADMINISTRATOR = "stoker_operator_admin"
SERVICES = ("orchestration", "cloudformation")
ENGINES = 2
_SECONDS = 240.0
_EXTRA = """
[DEFAULT]
template_fetch_networks = 127.0.0.0/8
remote_cloud_networks = 127.0.0.0/8
hidden_stack_tags = {hidden}
allow_trusts_redelegation = true
control_exchange = {exchange}
[heat_api_cfn]
bind_port = {cfn}
"""
"""What the lab needs beside the pages: its addresses are on the loopback interface, and its ports are free ones."""


@dataclass(frozen=True)
class Servers:
    """The message broker and the database server of an installation."""

    rabbitmq: RabbitMQ
    mariadb: MariaDB


@contextmanager
def servers() -> Iterator[Servers]:
    """RabbitMQ and MariaDB on private ports; removed in the end."""
    started: list[RabbitMQ | MariaDB] = []
    try:
        for kind in (RabbitMQ, MariaDB):
            server = kind()
            started.append(server)
            server.prepare()
            server.start()
        rabbitmq, mariadb = started
        assert isinstance(rabbitmq, RabbitMQ)
        assert isinstance(mariadb, MariaDB)
        yield Servers(rabbitmq, mariadb)
    finally:
        for server in started:
            server.remove()


def configuration(values: Mapping[str, str]) -> str:
    """Return heat.conf: the examples of the pages, one after the other.

    `values` are the URLs `database`, `broker`, `keystone` and `cfn`, the `password` of all users, and the `region`.
    """
    [cluster] = blocks("cluster.md", "ini")
    [identity] = blocks("keystone.md", "ini")
    cluster = replaced(
        cluster,
        {
            "rabbit://stoker:change-me@127.0.0.1/": values["broker"],
            "postgresql+psycopg://stoker:change-me@127.0.0.1/stoker": values["database"],
            "http://127.0.0.1:5000/identity/v3": values["keystone"],
        },
    )
    identity = replaced(
        identity,
        {
            "stack_user_domain_name = heat": f"stack_user_domain_name = {STACK_DOMAIN}",
            "stack_domain_admin = heat_domain_admin": f"stack_domain_admin = {DOMAIN_ADMINISTRATOR}",
            "http://controller:8000": values["cfn"],
            "http://controller:5000/v3": values["keystone"],
            "username = heat": f"username = {SERVICE_USER}",
            "change-me": values["password"],
            "region_name_for_services = RegionOne": f"region_name_for_services = {values['region']}",
        },
    )
    return f"{cluster}\n{identity}"


def processes(ports: Mapping[str, int]) -> str:
    """Return the shell commands that start the processes on these ports (`api`, `other`, `status0` …)."""
    commands = block("cluster.md", "sh", "stoker db sync")
    status = " ".join(str(ports[f"status{number}"]) for number in range(ENGINES))
    changes = {
        "for number in 1 2 3": f"for number in {' '.join(str(number + 1) for number in range(ENGINES))}",
        "910%s\\n' $number $number": "%s\\n' $number ${STATUS[$number]}",
        "8004 8014": f"{ports['api']} {ports['other']}",
    }
    return f"STATUS=(0 {status})\n{replaced(commands, changes)}\nwait"


class Installation:
    """One cluster: its configuration in `home`, and its processes. `region` is where it is registered.

    Several installations share the servers, and the users and the stack domain in Keystone.
    """

    def __init__(self, lab: Lab, server_group: Servers, home: Path, region: str) -> None:
        self._lab, self._servers, self.home, self.region = lab, server_group, home, region
        self.ports = {name: free_port() for name in ("api", "other", "cfn", *(f"status{n}" for n in range(ENGINES)))}
        self.api = f"http://{HOST}:{self.ports['api']}"
        self.other_api = f"http://{HOST}:{self.ports['other']}"
        self.cfn = f"http://{HOST}:{self.ports['cfn']}"
        self._shell: subprocess.Popen[bytes] | None = None

    # -- set up -------------------------------------------------------------------------------------------------------

    def configure(self) -> None:
        """Write heat.conf."""
        self.home.mkdir(parents=True, exist_ok=True)
        name = f"stoker_{self.ports['api']}"
        text = configuration(
            {
                "database": self._servers.mariadb.new_database(name),
                "broker": self._servers.rabbitmq.url,
                "keystone": self._lab.administrator.auth["auth_url"],
                "password": self._lab.administrator.auth["password"],
                "cfn": self.cfn,
                "region": self.region,
            }
        )
        own = _EXTRA.format(cfn=self.ports["cfn"], hidden=HIDDEN_TAG, exchange=name)
        (self.home / "heat.conf").write_text(text + own, encoding="utf-8")

    def register(self) -> str:
        """Create in Keystone what is missing, and return what the command says."""
        [commands] = blocks("keystone.md", "sh")
        self._lab.write_clouds(self.home / "clouds.yaml")
        changes = {"--os-cloud admin": "--os-cloud operator-admin", "http://controller:8004": self.api}
        return self.run(replaced(commands, changes))

    def start(self) -> None:
        """Create the tables, start the processes, and wait until they serve requests."""
        script = processes(self.ports)
        with (self.home / "log").open("ab") as log:
            self._shell = subprocess.Popen(
                ["bash", "-ec", script],
                cwd=self.home,
                env=self._environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        for url in (self.api, self.other_api, self.cfn, *self._engines()):
            wait_until(partial(_healthy, url), f"{url} answers", _SECONDS)

    def _engines(self) -> list[str]:
        return [f"http://{HOST}:{self.ports[f'status{number}']}" for number in range(ENGINES)]

    def stop(self) -> None:
        """Stop all processes."""
        if self._shell is None:
            return
        group = self._shell.pid
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGTERM)
            self._shell.wait()
            with suppress(AssertionError):
                wait_until(lambda: not _exists(group), "the processes have ended")
            os.killpg(group, signal.SIGKILL)

    def run(self, commands: str) -> str:
        """Run commands of the manual to their end, and return their output. Raises LabMissing with it if one fails."""
        done = subprocess.run(
            ["bash", "-ec", commands],
            check=False,
            cwd=self.home,
            env=self._environment(),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise LabMissing(f"{commands}: {done.stdout}{done.stderr}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "STOKER_"))}
        return {
            **kept,
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "OS_CLIENT_CONFIG_FILE": str(self.home / "clouds.yaml"),
        }


def _healthy(url: str) -> bool:
    return requests.get(f"{url}/healthcheck", timeout=10).ok


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def installed(lab: Lab, server_group: Servers, home: Path, region: str) -> Iterator[Installation]:
    """An installation that runs and is registered in Keystone; stopped in the end."""
    installation = Installation(lab, server_group, home, region)
    installation.configure()
    print(installation.register(), flush=True)
    try:
        installation.start()
        yield installation
    finally:
        installation.stop()


# -- Keystone ---------------------------------------------------------------------------------------------------------


def unregister(lab: Lab) -> None:
    """Remove from Keystone what `stoker keystone-setup` has created.

    Raises LabMissing if the catalog has an orchestration service that is not ours.
    """
    account = lab.administrator
    ours = _found(account, "user", name=SERVICE_USER)
    services = [one for one in _found(account, "service") if one["type"] in SERVICES]
    if services and not ours:
        raise LabMissing("The lab's catalog has an orchestration service already: remove it first.")
    for service in services:
        _delete(account, "service", service)
    for domain in _found(account, "domain", name=STACK_DOMAIN):
        account.ask("identity", "PATCH", f"/v3/domains/{domain['id']}", json={"domain": {"enabled": False}})
        _delete(account, "domain", domain)
    for user in ours:
        _delete(account, "user", user)


def remove_region(lab: Lab, name: str) -> None:
    """Remove a region with its endpoints, if it is there."""
    account = lab.administrator
    for region in _found(account, "region"):
        if region["id"] == name:
            for endpoint in _found(account, "endpoint", region_id=name):
                _delete(account, "endpoint", endpoint)
            _delete(account, "region", region)


def _found(account: Account, kind: str, **fields: str) -> list[Mapping[str, Any]]:
    listed: list[Mapping[str, Any]] = account.ask("identity", "GET", f"/v3/{kind}s", params=fields)[f"{kind}s"]
    return listed


def _delete(account: Account, kind: str, one: Mapping[str, Any]) -> None:
    account.ask("identity", "DELETE", f"/v3/{kind}s/{one['id']}")
