"""The APIs under the WSGI servers that operators use, each a real process on real sockets."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from servers import free_port, wait_until
from stoker.base.clock import SystemClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud

pytestmark = pytest.mark.slow

CONFIGURATION = """
[DEFAULT]
transport_url = rabbit://nobody:nothing@127.0.0.1:{broker}/
rpc_response_timeout = 1
[keystone_authtoken]
auth_type = password
auth_url = {cloud}/identity/v3
username = heat
password = secret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""

SERVERS = {
    "gunicorn": ["gunicorn", "--bind", "127.0.0.1:{port}", "--workers", "2", "--threads", "4", "{module}:application"],
    "uwsgi": [
        "uwsgi", "--http-socket", "127.0.0.1:{port}", "--master", "--processes", "2", "--threads", "4",
        "--enable-threads", "--need-app", "--die-on-term", "--module", "{module}:application",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock())) as served:
        yield served


@pytest.fixture(params=SERVERS)
def started(request, served, tmp_path) -> Iterator[str]:
    """The URL of the Orchestration API."""
    with running(request.param, "stoker.wsgi.api", served, tmp_path) as url:
        yield url


class running:  # noqa: N801  used as a function
    """A server with one of the two APIs; its URL."""

    def __init__(self, server: str, module: str, served: ServedCloud, directory: Path) -> None:
        settings, port = directory / "heat.conf", free_port()
        settings.write_text(CONFIGURATION.format(cloud=served.url, broker=free_port()))
        program, *arguments = (word.format(port=port, module=module) for word in SERVERS[server])
        self.log = (directory / "log").open("ab")
        self.process = subprocess.Popen(
            [Path(sys.executable).parent / program, *arguments],
            env={"STOKER_CONFIG_FILES": str(settings), "PATH": "/usr/bin:/bin"},
            stdout=self.log,
            stderr=self.log,
        )
        self.url = f"http://127.0.0.1:{port}"

    def __enter__(self) -> str:
        wait_until(self.answers, "the server answers")
        return self.url

    def answers(self) -> bool:
        assert self.process.poll() is None, Path(self.log.name).read_text()
        try:
            return requests.get(f"{self.url}/healthcheck", timeout=10).status_code == 200
        except requests.ConnectionError:
            return False

    def __exit__(self, *failure: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) in (0, -signal.SIGTERM)
        self.log.close()


def test_the_orchestration_api(started: str, served: ServedCloud) -> None:
    assert requests.get(f"{started}/", timeout=10).status_code == 300
    assert requests.get(f"{started}/v1/p/stacks", timeout=10).status_code == 401
    headers = {"X-Auth-Token": served.token("demo", "demo")}
    answer = requests.get(f"{started}/v1/another/stacks", headers=headers, timeout=30)
    assert answer.status_code == 403, "the token is good, and for another project"
    assert "the URL names another" in answer.json()["error"]["message"]


@pytest.mark.parametrize("server", SERVERS)
def test_the_query_api(server: str, served: ServedCloud, tmp_path: Path) -> None:
    with running(server, "stoker.wsgi.cfn", served, tmp_path) as url:
        answer = requests.get(f"{url}/v1/?Action=ListStacks", timeout=30)
    assert answer.status_code == 403
    assert "MissingAuthenticationToken" in answer.text


def test_a_wrong_configuration_ends_the_server(tmp_path: Path) -> None:
    environment = {"STOKER_CONFIG_FILES": str(tmp_path / "missing.conf")}
    ended = subprocess.run(
        [sys.executable, "-c", "import stoker.wsgi.api"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "missing.conf" in ended.stderr
    assert "Traceback" not in ended.stderr
