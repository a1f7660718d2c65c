"""A Heat of our own beside the lab's: its own database, message queue, ports and region, with encrypted values.

The lab (a folder with the programs of a real Heat, its Keystone, MariaDB and RabbitMQ) is only used: nothing of its own
Heat is changed. What is made here is removed at the end.
"""

from __future__ import annotations

import configparser
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openstack
import requests

NAME = "takeover"
REGION = "TakeoverRegion"
API_PORT, CFN_PORT = 16004, 16005
DATABASE = "heat_takeover"


class LabMissing(Exception):
    """The lab is not there, or does not run."""


@dataclass
class Lab:
    """The running lab in a folder (`LAB_DIR` of its scripts), whose scripts are in `scripts`."""

    folder: Path
    scripts: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    def found(cls, folder: Path | None, scripts: Path | None) -> Lab:
        """Return the lab. Raises LabMissing with what to do."""
        if folder is None or scripts is None:
            raise LabMissing(
                "Name the lab with a real Heat: LAB_DIR (its folder) and LAB_SCRIPTS (the folder of its up.sh)."
            )
        if not (scripts / "lib.sh").exists() or not (folder / "up/etc/heat.conf").exists():
            raise LabMissing(f"There is no lab in {folder} (up/etc/heat.conf) with scripts in {scripts} (lib.sh).")
        lab = cls(folder, scripts)
        try:
            requests.get(lab.setting("keystone_authtoken", "auth_url"), timeout=60)
        except requests.RequestException as error:
            raise LabMissing(f"The lab does not run; start it with {scripts}/up.sh.") from error
        return lab

    @cached_property
    def settings(self) -> configparser.RawConfigParser:
        """The settings of the lab's own Heat."""
        parser = configparser.RawConfigParser(strict=False)
        parser.read(self.folder / "up/etc/heat.conf")
        return parser

    def setting(self, section: str, name: str) -> str:
        """Return a setting of the lab's own Heat."""
        return self.settings.get(section, name)

    @property
    def programs(self) -> Path:
        """The folder of Heat's programs."""
        return self.folder / "up/venv/bin"

    @property
    def identity(self) -> str:
        """The URL of Keystone."""
        return self.setting("keystone_authtoken", "auth_url")

    @property
    def broker(self) -> str:
        """The URL of the broker's virtual host for this Heat."""
        return self.setting("DEFAULT", "transport_url").rstrip("/") + f"/{NAME}"

    @property
    def database(self) -> str:
        """The URL of this Heat's database."""
        place = urlsplit(self.setting("database", "connection"))
        return place._replace(path=f"/{DATABASE}").geturl()

    def shell(self, command: str) -> str:
        """Run a command with the functions of the lab's scripts."""
        environment = {**os.environ, "LAB_DIR": str(self.folder)}
        script = f". {self.scripts}/lib.sh; {command}"
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr or done.stdout}")
        return done.stdout

    def connection(self, who: str = "demo", region: str = REGION) -> openstack.connection.Connection:
        """Return a connection of a user of the lab to this Heat's region."""
        return openstack.connect(
            auth={
                "auth_url": f"{self.identity}/v3", "username": who, "password": f"lab-{who}", "project_name": who,
                "user_domain_name": "Default", "project_domain_name": "Default",
            },
            region_name=region,
            load_envvars=False,
            load_yaml_config=False,
        )  # fmt: skip

    def own(self) -> openstack.connection.Connection:
        """Return a connection to the lab's own Heat."""
        return self.connection(region=self.setting("DEFAULT", "region_name_for_services"))

    # -- setting up ------------------------------------------------------------------------------------------

    def configuration(self, home: Path, **more: Mapping[str, str]) -> Path:
        """Write heat.conf for this Heat."""
        parser = configparser.RawConfigParser()
        parser.read_dict({name: dict(self.settings.items(name)) for name in ("DEFAULT", *self.settings.sections())})
        url = f"http://127.0.0.1:{CFN_PORT}"
        parser["DEFAULT"].update(
            transport_url=self.broker,
            host=NAME,
            log_dir=str(home),
            region_name_for_services=REGION,
            heat_metadata_server_url=url,
            heat_waitcondition_server_url=f"{url}/v1/waitcondition",
            encrypt_parameters_and_properties="true",
        )
        parser["database"]["connection"] = self.database
        parser["heat_api"] = {"bind_port": str(API_PORT)}
        parser["heat_api_cfn"] = {"bind_port": str(CFN_PORT)}
        for section, values in more.items():
            if section != "DEFAULT" and not parser.has_section(section):
                parser.add_section(section)
            parser[section].update(values)
        path = home / "heat.conf"
        with path.open("w") as file:
            parser.write(file)
        return path

    def recreate_database(self, name: str = DATABASE) -> None:
        """Make an empty database that Heat's database user owns."""
        owner = urlsplit(self.database).username
        hosts = self.shell(f"sql -N -e \"SELECT host FROM mysql.user WHERE user='{owner}'\"").split()
        grants = "; ".join(f"GRANT ALL ON {name}.* TO '{owner}'@'{host}'" for host in hosts)
        charset = "utf8mb3" if name == DATABASE else "utf8mb4"
        create = f"CREATE DATABASE {name} CHARACTER SET {charset}"
        self.shell(f'sql -e "DROP DATABASE IF EXISTS {name}; {create}; {grants}"')

    @contextmanager
    def catalogued(self) -> Iterator[None]:
        """Register this Heat's endpoints in a region of its own."""
        admin: Any = self.connection("admin", self.setting("DEFAULT", "region_name_for_services")).identity
        for region in [region for region in admin.regions() if region.id == REGION]:
            self._forget(admin, region.id)
        admin.create_region(id=REGION)
        try:
            services = {service.type: service.id for service in admin.services()}
            for kind, url in (
                ("identity", self.identity),
                ("orchestration", f"http://127.0.0.1:{API_PORT}/v1/%(project_id)s"),
                ("cloudformation", f"http://127.0.0.1:{CFN_PORT}/v1"),
            ):
                for interface in ("public", "internal", "admin"):
                    admin.create_endpoint(service_id=services[kind], interface=interface, url=url, region_id=REGION)
            yield
        finally:
            self._forget(admin, REGION)

    @staticmethod
    def _forget(admin: Any, region: str) -> None:
        for endpoint in admin.endpoints():
            if endpoint.region_id == region:
                admin.delete_endpoint(endpoint)
        admin.delete_region(region)

    @contextmanager
    def heat(self, home: Path) -> Iterator[None]:
        """Run this Heat with an empty database."""
        home.mkdir(parents=True, exist_ok=True)
        path = self.configuration(home)
        self.recreate_database()
        user = urlsplit(self.broker).username
        self.shell(
            f"mqctl delete_vhost {NAME} >/dev/null 2>&1; mqctl add_vhost {NAME} >/dev/null && "
            f"mqctl set_permissions -p {NAME} {user} '.*' '.*' '.*'"
        )
        subprocess.run(
            [self.programs / "heat-manage", "--config-file", path, "db_sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.start(home, path)
            yield
        finally:
            self.stop()

    def start(self, home: Path, path: Path) -> None:
        """Start Heat's engine and APIs."""
        self._spawn(home, "engine", self.programs / "heat-engine", "--config-file", path)
        extra = f"--config-file {path}"
        self._wsgi(home, "api", API_PORT, "heat.wsgi.api", extra)
        self._wsgi(home, "cfn", CFN_PORT, "heat.wsgi.cfn", extra)
        stacks = self.connection().orchestration
        deadline = time.monotonic() + 90
        while True:
            try:
                list(stacks.stacks())
                return
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def _wsgi(self, home: Path, name: str, port: int, module: str, extra: str) -> None:
        self._spawn(
            home, name, self.programs / "uwsgi", "--http-socket", f"127.0.0.1:{port}", "--module",
            f"{module}:application", "--virtualenv", self.programs.parent, "--master", "--processes", "1", "--threads",
            "4", "--enable-threads", "--lazy-apps", "--buffer-size", "65535", "--die-on-term", "--disable-logging",
            "--need-app", "--add-header", "Connection: close", "--listen", "100", "--pyargv", extra,
        )  # fmt: skip

    def _spawn(self, home: Path, name: str, *command: object) -> None:
        log = (home / f"{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(
            [str(word) for word in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop this Heat."""
        for process in self.processes.values():
            with_children(process, number)
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                with_children(process, signal.SIGKILL)
                process.wait()
        self.processes.clear()

    def remove(self, *databases: str) -> None:
        """Remove databases and the queue."""
        drop = "; ".join(f"DROP DATABASE IF EXISTS {name}" for name in databases)
        self.shell(f'sql -e "{drop}"; mqctl delete_vhost {NAME} >/dev/null 2>&1 || true')


def with_children(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process that we started, and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
