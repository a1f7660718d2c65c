"""What a tenant of an embedded Stoker notices of hostile clients of another tenant."""

from __future__ import annotations

import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

CLIENTS = 8
SECONDS = 5.0
"""How long an attack lasts that may fill the engine's memory."""
MOST_MILLISECONDS = 400.0
"""Of an answer to a neighbour; not counted while other processes of the machine have the processors.

Slow processors take up to 330 for the requests of eight attackers that are in progress; without turns, it is seconds.
"""

STOKER = str(Path(sys.executable).with_name("stoker"))

Record = Callable[[str, object], None]
"""pytest's `record_property`."""

Act = Callable[[requests.Session, int], int]
"""What a hostile client does once, with its number and a connection of its own; returns the status that it got."""


@dataclass
class Service:
    """An embedded Stoker."""

    rest: str
    identity: str
    engine: int
    processes: tuple[int, ...]

    def login(self, user: str, password: str, project: str) -> Tenant:
        """A tenant with a token."""
        domain = {"id": "default"}
        who = {"user": {"name": user, "password": password, "domain": domain}}
        body: dict[str, Any] = {
            "auth": {
                "identity": {"methods": ["password"], "password": who},
                "scope": {"project": {"name": project, "domain": domain}},
            }
        }
        answer = requests.post(f"{self.identity}/auth/tokens", json=body, timeout=30)
        answer.raise_for_status()
        identifier = answer.json()["token"]["project"]["id"]
        return Tenant(f"{self.rest}/{identifier}", answer.headers["X-Subject-Token"])

    def processor_time(self) -> float:
        """Seconds of processor time that the service's processes and those that they started have used."""
        return sum(map(_ticks, self.processes)) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Megabytes that the engine's process has taken at the most."""
        lines = Path(f"/proc/{self.engine}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def _ticks(process: int) -> int:
    """Return the processor time of a process, of its children that run, and of those that have ended (proc(5))."""
    place = Path(f"/proc/{process}")
    try:
        own = sum(int(field) for field in place.joinpath("stat").read_text().rpartition(")")[2].split()[11:15])
        children = {int(child) for task in place.glob("task/*/children") for child in task.read_text().split()}
    except FileNotFoundError:  # it has ended: its parent has its time
        return 0
    return own + sum(map(_ticks, children))


@dataclass
class Tenant:
    """A user of the service in one project."""

    url: str
    token: str

    def session(self) -> requests.Session:
        """A connection of the tenant's own."""
        session = requests.Session()
        session.headers.update({"X-Auth-Token": self.token, "Content-Type": "application/json"})
        return session

    def create(self, name: str, template: Mapping[str, Any], seconds: float = 120) -> str:
        """Create a stack, wait until it is complete, and return its URL."""
        session = self.session()
        made = session.post(f"{self.url}/stacks", data=body(name, template), timeout=60)
        made.raise_for_status()
        url = f"{self.url}/stacks/{name}/{made.json()['stack']['id']}"
        end = time.monotonic() + seconds
        status = ""
        while status != "CREATE_COMPLETE" and time.monotonic() < end:
            time.sleep(0.2)
            status = session.get(url, timeout=60).json()["stack"]["stack_status"]
        assert status == "CREATE_COMPLETE"
        return url


def body(name: str, template: Any, **more: Any) -> bytes:
    """The body of a request that creates a stack."""
    return json.dumps({"stack_name": name, "template": template, **more}).encode()


@contextmanager
def started(data: Path) -> Iterator[Service]:
    """An embedded Stoker in a directory."""
    ports = ("--api-port", "0", "--cfn-port", "0", "--cloud-port", "0")
    subprocess.run([STOKER, "up", "--detach", "--data-dir", str(data), *ports], check=True, capture_output=True)
    try:
        place: Mapping[str, Any] = json.loads((data / "endpoints.json").read_text())
        yield Service(place["rest"], place["identity"], place["pids"]["engine"], tuple(place["pids"].values()))
    finally:
        subprocess.run([STOKER, "down", "--data-dir", str(data)], check=True, capture_output=True)


def sending(tenant: Tenant, bodies: Sequence[tuple[str, bytes]]) -> Act:
    """Send bodies to their paths, each client in an order of its own."""
    turns = [itertools.cycle(random.Random(number).sample(bodies, len(bodies))) for number in range(CLIENTS)]

    def act(session: requests.Session, number: int) -> int:
        path, content = next(turns[number])
        return session.post(f"{tenant.url}{path}", data=content, timeout=60).status_code

    return act


@contextmanager
def attacked(tenant: Tenant, act: Act) -> Iterator[list[int]]:
    """While it lasts, clients act again and again; gives the statuses that they get."""
    ended, statuses = threading.Event(), list[int]()

    def attack(number: int) -> None:
        session = tenant.session()
        while not ended.is_set():
            try:
                statuses.append(act(session, number))
            except requests.RequestException:
                session = tenant.session()

    threads = [threading.Thread(target=attack, args=(number,), daemon=True) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield statuses
    finally:
        ended.set()
        for thread in threads:
            thread.join(60)


def waits(service: Service, neighbour: Tenant, seconds: float) -> list[float]:
    """Milliseconds that each answer to `stack list` takes.

    On a busy machine, this is the processor time that the service has used until the answer, for whomever: with a
    fair share for the neighbour it is short, however long the service waits for a processor.
    """
    session, found = neighbour.session(), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began, used = time.monotonic(), service.processor_time()
        session.get(f"{neighbour.url}/stacks", timeout=60).raise_for_status()
        found.append(min(time.monotonic() - began, service.processor_time() - used) * 1000)
        time.sleep(0.02)
    return found


def measured(service: Service, attacker: Tenant, act: Act, record_property: Record, seconds: float = SECONDS) -> float:
    """Return the engine's memory in MB after an attack of some seconds. Its neighbour's answers are checked here."""
    neighbour = service.login("admin", "secret", "admin")
    with attacked(attacker, act) as statuses:
        under_attack = statistics.quantiles(waits(service, neighbour, seconds), n=20)[-1]
    memory = service.memory()
    record_property("neighbour_p95_ms", under_attack)
    record_property("engine_memory_mb", memory)
    print(f"p95 {under_attack:.0f} ms under attack; {memory:.0f} MB; {len(statuses)} hostile answers")
    assert statuses and max(statuses) < 500, statuses
    assert under_attack < MOST_MILLISECONDS
    return memory
