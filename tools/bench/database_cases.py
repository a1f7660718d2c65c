"""The same work on SQLite, PostgreSQL and MariaDB, by one engine and by two: `python -m tools.bench databases`.

Every variant is a cluster as in production: engines and an API process of their own, with RabbitMQ between them, beside
an emulated cloud. The work asks next to nothing of the cloud, so that the database is what differs. The servers are
those of the tests: installed with apt-get where they are missing, started on private ports, removed in the end.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import aiohttp

from testing.servers import DatabaseServer, MariaDB, PostgreSQL, RabbitMQ, ServerMissing, free_port, running, wait_until
from tools.bench.lifecycle_cases import CLIENTS, Client, peak_memory

STACKS = 60
MEMBERS = 60
RUNS = 2
ENGINES = (1, 2)
STOKER = [str(Path(sys.executable).with_name("stoker"))]

CONFIGURATION = """
[DEFAULT]
transport_url = {broker}
control_exchange = {name}
auth_encryption_key = 0123456789abcdef0123456789abcdef
host = {host}
max_stacks_per_tenant = -1
max_resources_per_stack = -1
[database]
connection = {database}
[engine]
status_port = {status_port}
[heat_api]
bind_host = 127.0.0.1
bind_port = {api_port}
[keystone_authtoken]
www_authenticate_uri = {identity}
auth_type = password
auth_url = {identity}
username = heat
password = secret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""
RESOURCES = {
    **{f"word{number}": {"type": "OS::Heat::RandomString"} for number in range(5)},
    **{
        f"text{number}": {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": [f"word{number}", "value"]}}}
        for number in range(5)
    },
}
MEMBER = {"heat_template_version": "2021-04-16", "resources": RESOURCES}
GROUP = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "members": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": MEMBERS, "resource_def": {"type": "member.yaml"}},
        }
    },
}


def measure() -> list[dict[str, Any]]:
    """The records of all variants; those whose server cannot be had are left out, and that is said."""
    records: list[dict[str, Any]] = []
    with ExitStack() as opened:
        directory = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="stoker-bench-")))
        try:
            broker = opened.enter_context(running(RabbitMQ))
        except ServerMissing as error:
            print(f"databases: left out, there is no message broker: {error}", file=sys.stderr)
            return []
        identity = opened.enter_context(_emulator(directory))
        for kind in (None, PostgreSQL, MariaDB):
            try:
                server = opened.enter_context(running(kind)) if kind is not None else None
            except ServerMissing as error:
                print(f"databases: this one is left out: {error}", file=sys.stderr)
                continue
            for engines in ENGINES:
                records += _variant(directory, broker.url, server, identity, engines)
    return _with_ratios(records)


def _with_ratios(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each record beside that of the same work on SQLite by one engine."""
    base = {record["phase"]: record["wall_s"] for record in records if record["case"] == _title("SQLite", 1)}
    for record in records:
        ratio = record["wall_s"] / base[record["phase"]]
        record["ratio"] = {"to": "SQLite, 1 engine", "value": ratio}
    return records


def _title(database: str, engines: int) -> str:
    return f"{database}, {engines} engine{'s' if engines > 1 else ''}"


@contextmanager
def _emulator(directory: Path) -> Iterator[str]:
    """An emulated cloud: its identity service's URL."""
    port = directory / "cloud-port"
    with _process(
        [sys.executable, "-m", "openstack_emulator", "up", "--port", "0", "--port-file", str(port)], directory
    ):
        wait_until(port.exists, "the emulated cloud is there")
        yield f"http://127.0.0.1:{port.read_text()}/identity/v3"


@contextmanager
def _process(command: list[str], directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with the context; what it says goes into a file."""
    with (directory / "processes.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _variant(
    directory: Path, broker: str, server: DatabaseServer | None, identity: str, engines: int
) -> list[dict[str, Any]]:
    title = _title(type(server).__name__ if server is not None else "SQLite", engines)
    name = title.lower().replace(", ", "_").replace(" ", "_")
    url = server.new_database(name) if server is not None else f"sqlite:///{directory / name}.db"
    place = {"identity": identity, "rest": f"http://127.0.0.1:{free_port()}/v1"}
    with ExitStack() as opened:
        ports = [free_port() for _ in range(engines)]
        configurations = []
        for number, port in enumerate(ports):
            path = directory / f"{name}{number}.conf"
            text = CONFIGURATION.format(
                broker=broker,
                name=name,
                host=f"engine{number}",
                database=url,
                status_port=port,
                api_port=place["rest"].split(":")[2].partition("/")[0],
                identity=identity,
            )
            path.write_text(text)
            configurations.append(str(path))
        subprocess.run([*STOKER, "db", "sync", "--config-file", configurations[0]], check=True, capture_output=True)
        processes = [
            opened.enter_context(_process([*STOKER, "engine", "--config-file", path], directory))
            for path in configurations
        ]
        opened.enter_context(_process([*STOKER, "api", "--config-file", configurations[0]], directory))
        for port in ports:
            wait_until(partial(_receives_calls, f"http://127.0.0.1:{port}/healthcheck"), "the engine receives calls")
        wait_until(lambda: _answers(place["rest"].replace("/v1", "/healthcheck")), "the API answers")
        return asyncio.run(_work(place, title, [process.pid for process in processes]))


def _receives_calls(url: str) -> bool:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return bool(json.load(answer)["receives_calls"])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except HTTPException:  # as of a server that is in the middle of starting
        return False


async def _work(place: dict[str, Any], title: str, engines: list[int]) -> list[dict[str, Any]]:
    """The best of several runs of the work, once the processes are warm."""
    found: dict[str, dict[str, Any]] = {}
    async with aiohttp.ClientSession() as session:
        client = Client(session, place)
        await client.log_in()
        await _stacks(client, "warm", CLIENTS)
        for run in range(RUNS):
            for phase, count, work in (
                ("stacks of 10", STACKS, _stacks(client, f"s{run}x", STACKS)),
                ("nested stacks of 10", MEMBERS, _group(client, f"group{run}")),
            ):
                before = sum(map(_cpu_seconds, engines))
                began = time.perf_counter()
                await work
                wall = round(time.perf_counter() - began, 2)
                spent = round(sum(map(_cpu_seconds, engines)) - before, 2)
                memory = {"engine": sum(map(peak_memory, engines))}
                record = {"case": title, "phase": phase, "n": count, "wall_s": wall}
                record |= {"cpu_total_s": spent, "rss_max_mb": memory}
                found[phase] = min(found.get(phase, record), record, key=lambda each: each["wall_s"])
    return list(found.values())


async def _stacks(client: Client, prefix: str, count: int) -> None:
    """Create small stacks, many at a time."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            name = f"{prefix}{number}"
            await client.act("POST", "/stacks", {"stack_name": name, "template": MEMBER}, name)

    await asyncio.gather(*(work() for _ in range(CLIENTS)))


async def _group(client: Client, name: str) -> None:
    """Create one stack with many nested ones, which engines share."""
    files = {"member.yaml": json.dumps(MEMBER)}
    await client.act("POST", "/stacks", {"stack_name": name, "template": GROUP, "files": files}, name)


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
