"""A real cluster: engine and API processes on a real database and broker, beside an emulated cloud."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import select

from openstack_emulator.testing import ServedCloud
from stoker.store import queries, tables
from stoker.store.database import Database
from stoker.store.records import Operation
from testing.forked_program import ENGINE_IMPORTS, ForkedProgram, run
from testing.servers import free_port, wait_until

LEASE, HEARTBEAT = 3.0, 0.5
PROGRAM = "stoker.cli.main:main"
IMPORTS = (
    *ENGINE_IMPORTS,
    "alembic.command",
    "kombu.transport.pyamqp",
    "pymysql",
    "psycopg",
    "sqlalchemy.dialects.mysql.pymysql",
    "sqlalchemy.dialects.postgresql.psycopg",
    "stoker.api.app",
    "stoker.cli.main",
    "stoker.processes.api_processes",
    "stoker.processes.engine",
)
"""Most of what the processes of a cluster import."""

NEXT_VERSION = "99.0.0"

CONFIGURATION = """
[DEFAULT]
transport_url = {broker}
control_exchange = {exchange}
rpc_response_timeout = 15
auth_encryption_key = {key}
host = {host}
stack_user_domain_name = heat
stack_domain_admin = heat_domain_admin
stack_domain_admin_password = secret
[database]
connection = {database}
max_retries = -1
retry_interval = 1
[engine]
lease_seconds = {lease}
heartbeat_seconds = {heartbeat}
deaths_limit = {deaths_limit}
status_port = {status_port}
[heat_api]
bind_host = 127.0.0.1
bind_port = {api_port}
[heat_api_cfn]
bind_host = 127.0.0.1
bind_port = {cfn_port}
[oslo_messaging_rabbit]
{broker_options}
kombu_reconnect_delay = 0.2
rabbit_retry_interval = 1
[oslo_messaging_notifications]
driver = messagingv2
[keystone_authtoken]
www_authenticate_uri = {cloud}/identity/v3
auth_type = password
auth_url = {cloud}/identity/v3
username = heat
password = secret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""


Start = Callable[[list[str], BinaryIO], "ForkedProgram | subprocess.Popen[bytes]"]
"""Starts the command with some arguments; it writes both of its streams to the file."""


def forked(arguments: list[str], output: BinaryIO) -> ForkedProgram:
    """The command of this release."""
    return ForkedProgram(PROGRAM, ["stoker", *arguments], imports=IMPORTS, stdout=output, stderr=output)


def next_version(arguments: list[str], output: BinaryIO) -> subprocess.Popen[bytes]:
    """The command of a release to come, by an interpreter of its own."""
    program = f"import stoker; stoker.__version__ = {NEXT_VERSION!r}; from stoker.cli.main import main; main()"
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=output, stderr=output)


class Process:
    """A process of the cluster, which runs at once. `port` is where it tells how it is."""

    def __init__(self, arguments: list[str], log: Path, port: int, start: Start = forked) -> None:
        self.log = log
        self.port = port
        self._arguments = arguments
        self._start = start
        self.start()

    def start(self) -> None:
        """Start the process again after it has ended."""
        with self.log.open("ab") as output:
            self.process = self._start(self._arguments, output)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        return self.process.wait(60)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def status(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def ready(self) -> bool:
        """Whether it does what it is for."""
        return self.status("/healthcheck")[0] == 200


class Engine(Process):
    """An engine process; `id` is that of its record."""

    def __init__(self, arguments: list[str], log: Path, host: str, status_port: int, start: Start) -> None:
        super().__init__(arguments, log, status_port, start)
        self.host, self.id = host, ""

    def receives_calls(self) -> bool:
        """Whether the broker's messages reach it; release 0.1.0 does not tell."""
        return bool(json.loads(self.status("/healthcheck")[1]).get("receives_calls", True))


class Cluster:
    """`deaths_limit` is 0 unless a test sets it: most kill engines at random, and no operation is to blame for that.

    `engines(n)` makes n of them run; `call` is a request to the API as the user demo.

    `exchange` keeps clusters on one broker apart, `broker_options` are lines for the section oslo_messaging_rabbit.
    """

    deaths_limit = 0

    def __init__(
        self, directory: Path, database_url: str, broker: str, served: ServedCloud, exchange: str, broker_options: str
    ) -> None:
        self.directory = directory
        self.served = served
        self.database_url = database_url
        self.broker = broker
        self.exchange = exchange
        self.broker_options = broker_options
        self.api_port, self.cfn_port = free_port(), free_port()
        self.running: list[Engine] = []
        self.others: list[Process] = []
        self._count = 0
        self._projects: dict[str, str] = {}
        config = self._config("api", 0)
        self._run("db", "sync", "--config-file", str(config))
        self.api = Process(["api", "--config-file", str(config)], directory / "api.log", self.api_port)
        self.database = Database(database_url)

    def addresses(self, host: str) -> tuple[str, str]:
        """The URLs of database and broker for a process on a host."""
        return self.database_url, self.broker

    def _config(self, host: str, status_port: int, lease: float = LEASE) -> Path:
        path = self.directory / f"{host}.conf"
        database, broker = self.addresses(host)
        path.write_text(
            CONFIGURATION.format(
                broker=broker, exchange=self.exchange, key="k" * 32, host=host, database=database,
                lease=lease, heartbeat=HEARTBEAT, deaths_limit=self.deaths_limit,
                status_port=status_port or "", api_port=self.api_port,
                cfn_port=self.cfn_port, cloud=self.served.url, broker_options=self.broker_options,
            ).replace("status_port = \n", "")
        )  # fmt: skip
        return path

    # -- processes ---------------------------------------------------------------------------------------------

    def engines(self, number: int) -> list[Engine]:
        """Make exactly this many engines run and be known as alive."""
        self.running = [engine for engine in self.running if engine.alive]
        while len(self.running) > number:
            engine = self.running.pop()
            engine.signal(signal.SIGTERM)
            engine.ended()
        new = [self.start_engine() for _ in range(number - len(self.running))]
        found = self.await_engines() if number else []
        for engine in new:
            wait_until(engine.receives_calls, f"{engine.host} receives calls")
        if new:
            wait_until(self._know_each_other, "each engine has found the others at a heartbeat")
        return found

    def _know_each_other(self) -> bool:
        columns = tables.engines.c
        query = select(columns.started_at, columns.seen_at).where(columns.id.in_([each.id for each in self.running]))
        rows = self.database.read_now(lambda connection: connection.execute(query).all())
        return bool(min(row.seen_at for row in rows) > max(row.started_at for row in rows) + HEARTBEAT)

    def await_engines(self) -> list[Engine]:
        """Wait until the engines that run, and no others, are known as alive."""
        for engine in self.running:
            self._await_record(engine)
        hosts = {engine.host for engine in self.running}
        wait_until(lambda: self.up() == hosts, f"the engines {hosts} are up")
        return list(self.running)

    def start_engine(self, lease: float = LEASE, start: Start = forked) -> Engine:
        """One engine more; it is not waited for."""
        self._count += 1
        host, port = f"host{self._count}", free_port()
        config = self._config(host, port, lease)
        log = self.directory / f"{host}.log"
        engine = Engine(["engine", "--config-file", str(config)], log, host, port, start)
        self.running.append(engine)
        return engine

    def start_api(self) -> Process:
        """One API process more; it is not waited for."""
        port = free_port()
        more = self.directory / f"api-{port}.conf"
        more.write_text(f"[heat_api]\nbind_port = {port}\n")
        configs = [word for path in (self.directory / "api.conf", more) for word in ("--config-file", str(path))]
        api = Process(["api", *configs], self.directory / f"api-{port}.log", port)
        self.others.append(api)
        return api

    def start_query_api(self) -> str:
        """The CloudFormation interface beside the other one: its URL."""
        config = str(self.directory / "api.conf")
        self.others.append(Process(["api-cfn", "--config-file", config], self.directory / "api-cfn.log", self.cfn_port))
        return f"http://127.0.0.1:{self.cfn_port}/v1/"

    def _await_record(self, engine: Engine) -> None:
        def known() -> bool:
            assert engine.alive, engine.output()
            query = select(tables.engines.c.id).where(tables.engines.c.host == engine.host)
            engine.id = self.database.read_now(lambda c: c.execute(query).scalar()) or ""
            return bool(engine.id)

        wait_until(known, f"{engine.host} reports itself")

    def up(self) -> set[str]:
        """Hosts of the engines that the API shows as up."""
        status, answer = self.call("GET", "/services", user="admin")
        if status != 200:
            return set()
        return {service["host"] for service in answer["services"] if service["status"] == "up"}

    def command(self, *words: str) -> str:
        """What a command says about the cluster's database."""
        return self._run(*words, "--config-file", str(self.directory / "api.conf"))

    def _run(self, *arguments: str) -> str:
        done = run(PROGRAM, ["stoker", *arguments], imports=IMPORTS, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> None:
        for process in (*self.running, *self.others, self.api):
            if process.alive:
                process.signal(signal.SIGCONT)
                process.signal(signal.SIGKILL)
            process.ended()
        self.database.close()

    # -- the API -----------------------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: Any = None, user: str = "demo") -> tuple[int, Any]:
        """One request below the user's project; status 0 when the API cannot be reached."""
        token = self.served.token(user, user)
        project = self.project(user)
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.api_port}/v1/{project}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-Auth-Token": token, "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")
        except urllib.error.URLError:
            return 0, None

    def project(self, user: str) -> str:
        """The id of the user's project, which is named like the user; kept, since what waits calls the API often."""
        if user not in self._projects:
            token = self.served.token(user, user)
            answer = self.served.call("GET", "/identity/v3/auth/projects", token=token).json["projects"]
            self._projects[user] = next(project["id"] for project in answer if project["name"] == user)
        return self._projects[user]

    def create(self, name: str, template: str, files: Mapping[str, str] | None = None, **more: Any) -> str:
        body = {"stack_name": name, "template": template, "files": files or {}, **more}
        status, answer = self.call("POST", "/stacks", body)
        assert status == 201, (status, answer)
        identifier: str = answer["stack"]["id"]
        return identifier

    def stack(self, name: str) -> dict[str, Any]:
        status, answer = self.call("GET", f"/stacks/{name}?resolve_outputs=false")
        return answer["stack"] if status == 200 else {"stack_status": str(status), "stack_status_reason": ""}

    def resources(self, name: str) -> list[dict[str, Any]]:
        _, answer = self.call("GET", f"/stacks/{name}")
        path = f"/stacks/{name}/{answer['stack']['id']}/resources?nested_depth=4"
        resources: list[dict[str, Any]] = self.call("GET", path)[1]["resources"]
        return resources

    def settle(self, *names: str, state: str = "CREATE_COMPLETE") -> None:
        """Wait until no operation runs on these stacks, and require that all are in `state`."""

        def settled() -> bool:
            states = self.states()
            return all(states.get(name, "").endswith(("COMPLETE", "FAILED")) for name in names)

        wait_until(settled, f"{', '.join(names)} are done", 120)
        states = self.states()
        wrong = [name for name in names if states.get(name) != state]
        assert not wrong, [self.stack(name) for name in wrong]

    def states(self) -> dict[str, str]:
        """How all stacks of the user stand, by name; none while the API cannot be reached."""
        status, answer = self.call("GET", "/stacks")
        return {stack["stack_name"]: stack["stack_status"] for stack in answer["stacks"]} if status == 200 else {}

    def remove(self, *names: str) -> None:
        """Delete stacks, and wait until they are gone."""
        for name in names:
            assert self.call("DELETE", f"/stacks/{name}/{self.stack(name)['id']}")[0] == 204
        wait_until(lambda: self._reachable() and not self.states().keys() & set(names), "all is deleted", 120)

    def _reachable(self) -> bool:
        return self.call("GET", "/stacks?limit=1")[0] == 200

    # -- what is recorded, and what is there ---------------------------------------------------------------------

    def operations(self, *stack_ids: str) -> list[Operation]:
        """All operations, nested ones included, of trees of stacks."""
        joined = select(tables.operations).join(tables.stacks, tables.stacks.c.id == tables.operations.c.stack_id)
        query = joined.where(tables.stacks.c.root_id.in_(stack_ids))
        return [Operation.of(row) for row in self.database.read_now(lambda c: c.execute(query).all())]

    def owned_by(self, engine: Engine) -> int:
        """How many unfinished operations the engine has claimed."""
        where = (tables.operations.c.owner == engine.id) & (tables.operations.c.status == "RUNNING")
        return len(self.database.read_now(lambda c: c.execute(select(tables.operations.c.id).where(where)).all()))

    def unfinished(self, stack_id: str) -> list[Operation]:
        found: list[Operation] = self.database.read_now(queries.unfinished_of, stack_id)
        return found

    def networks(self) -> Counter[str]:
        """Networks of the user in the cloud, by name."""
        listed = self.served.call("GET", "/network/v2.0/networks?shared=False", token=self.served.token("demo", "demo"))
        mine = [item for item in listed.json["networks"] if item["name"].startswith("net-")]
        return Counter(item["name"] for item in mine)
