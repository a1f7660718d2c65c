"""The commands of the manual's page about clusters, run as they are printed, on the ports of the tests' own servers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from testing.servers import HOST, PostgreSQL, RabbitMQ, free_port, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md"
BLOCK = re.compile(r"^```(?P<language>sh|ini)\n(?P<text>.*?)^```$", re.M | re.S)
TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"word": {"type": "OS::Heat::RandomString"}}}


def printed() -> dict[str, str]:
    """The page's commands that set servers up, its configuration, and its commands that start processes."""
    shell = [match["text"] for match in BLOCK.finditer(PAGE.read_text()) if match["language"] == "sh"]
    (servers,) = (text for text in shell if "install -y postgresql" in text)
    (processes,) = (text for text in shell if "stoker db sync" in text)
    (configuration,) = (match["text"] for match in BLOCK.finditer(PAGE.read_text()) if match["language"] == "ini")
    return {"servers": servers, "configuration": configuration, "processes": processes}


def replaced(text: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, f"the page does not say {old!r}"
        text = text.replace(old, new)
    return text


def set_up(text: str, postgresql: PostgreSQL, rabbitmq: RabbitMQ) -> None:
    """Make users and a database on servers that run already, where our own user has the page's name for one."""
    psql = f"psql -q -h {HOST} -p {postgresql.port} -U stoker postgres"
    changes = {"runuser -u postgres -- psql": psql, "stoker": "example", "-U example": "-U stoker"}
    commands = [line for line in text.splitlines() if not line.startswith(("apt-get", "service"))]
    assert len(commands) == 3
    sql = replaced(commands[0], changes)
    subprocess.run(["bash", "-ec", sql], check=True, capture_output=True, text=True)
    for command in commands[1:]:
        rabbitmq.run(*rabbitmq.control(command.replace("'", "").split()[1:]))


@pytest.fixture
def ports() -> dict[str, str]:
    """Free ports in the places of those that the page names."""
    return {name: str(free_port()) for name in ("8004", "8014", "9101", "9102", "9103", "8000")}


@pytest.fixture
def example(
    tmp_path: Path, postgresql: PostgreSQL, rabbitmq: RabbitMQ, served: ServedCloud, ports: dict[str, str]
) -> Iterator[Path]:
    """The example running in a directory of its own."""
    page = printed()
    set_up(page["servers"], postgresql, rabbitmq)
    changes = {
        "rabbit://stoker:change-me@127.0.0.1/": f"rabbit://stoker:change-me@{HOST}:{rabbitmq.port}/",
        "postgresql+psycopg://stoker:change-me@127.0.0.1/stoker": (
            f"postgresql+psycopg://example:change-me@{HOST}:{postgresql.port}/example"
        ),
        "http://127.0.0.1:5000": served.url,
    }
    apart = f"control_exchange = example\n[heat_api_cfn]\nbind_port = {ports['8000']}\n[DEFAULT]\n"
    text = replaced(page["configuration"], changes).replace("[DEFAULT]\n", f"[DEFAULT]\n{apart}", 1)
    (tmp_path / "heat.conf").write_text(text)
    changes = {
        "8004": ports["8004"],
        "8014": ports["8014"],
        "910%s\\n' $number $number": "%s\\n' $number ${STATUS[$number]}",
    }
    commands = replaced(page["processes"], changes)
    prefix = f"STATUS=(0 {ports['9101']} {ports['9102']} {ports['9103']})\n"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with (tmp_path / "log").open("ab") as log:
        shell = subprocess.Popen(
            ["bash", "-ec", f"{prefix}{commands}\nwait"],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    yield tmp_path
    os.killpg(shell.pid, signal.SIGKILL)
    shell.wait()


def serves(health: Callable[[], bytes | None]) -> bool:
    """Whether an engine says that it receives calls."""
    return bool(json.loads(health() or b"{}").get("receives_calls"))


def test_the_worked_example_works(example: Path, served: ServedCloud, ports: dict[str, str]) -> None:
    one, other = (f"http://{HOST}:{ports[name]}" for name in ("8004", "8014"))
    try:
        wait_until(lambda: all(asked(url, "/healthcheck") is not None for url in (one, other)), "both APIs answer", 240)
        wait_until(lambda: up(one, served) == {"engine1", "engine2", "engine3"}, "three engines are up", 240)
    except AssertionError:
        pytest.fail((example / "log").read_text(errors="replace")[-4000:])
    for name in ("9101", "9102", "9103"):
        health = partial(asked, f"http://{HOST}:{ports[name]}", "/healthcheck")
        wait_until(partial(serves, health), "the engine receives calls")
        assert json.loads(health() or b"{}") == {"healthy": True, "problems": [], "receives_calls": True}
    token, project = demo(served)
    asked(one, f"/v1/{project}/stacks", token, {"stack_name": "web", "template": TEMPLATE})
    shown = f"/v1/{project}/stacks?name=web"

    def complete() -> bool:
        stacks = json.loads(asked(other, shown, token) or b"{}").get("stacks", [])
        return [stack["stack_status"] for stack in stacks] == ["CREATE_COMPLETE"]

    wait_until(complete, "what one API was asked for is seen at the other")


def up(url: str, served: ServedCloud) -> set[str]:
    token = served.token("admin", "admin")
    project = served.call("GET", "/identity/v3/auth/projects", token=token).json["projects"][0]["id"]
    services = json.loads(asked(url, f"/v1/{project}/services", token) or b"{}").get("services", [])
    return {service["host"] for service in services if service["status"] == "up"}


def demo(served: ServedCloud) -> tuple[str, str]:
    token = served.token("demo", "demo")
    projects = served.call("GET", "/identity/v3/auth/projects", token=token).json["projects"]
    return token, next(project["id"] for project in projects if project["name"] == "demo")


def asked(url: str, path: str, token: str = "", body: Any = None) -> bytes | None:
    """The answer's body; None when there is none, or not a good one."""
    headers = {"X-Auth-Token": token, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=60) as answer:
            found: bytes = answer.read()
            return found
    except OSError:
        return None
