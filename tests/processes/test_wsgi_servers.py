"""The APIs under the WSGI servers that operators use, each a real process on real sockets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import SystemClock
from testing.servers import free_port, wait_until

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

BIN = Path(sys.executable).parent
APACHE, MOD_WSGI = Path("/usr/sbin/apache2"), Path("/usr/lib/apache2/modules/mod_wsgi.so")
LIBRARY = Path("/usr/lib") / f"python{sys.version_info.major}.{sys.version_info.minor}"
"""Debian's apache2-bin, libapache2-mod-wsgi-py3, and the Python that it embeds."""

UNPRIVILEGED = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.getuid() == 0 else []
"""Apache and mod_wsgi refuse to serve as root, who may be the only one to whom the virtual environment is readable."""

SERVERS = {
    "gunicorn": [
        f"{BIN}/gunicorn", "--bind", "127.0.0.1:{port}", "--workers", "{processes}", "--threads", "4",
        "{module}:application",
    ],
    "uwsgi": [
        f"{BIN}/uwsgi", "--http-socket", "127.0.0.1:{port}", "--master", "--processes", "{processes}",
        "--threads", "4", "--enable-threads", "--need-app", "--die-on-term", "--module", "{module}:application",
    ],
    "mod_wsgi": [*UNPRIVILEGED, str(APACHE), "-D", "FOREGROUND", "-f", "{directory}/apache.conf"],
}  # fmt: skip

APACHE_CONFIGURATION = """
ServerRoot {directory}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {directory}/apache.pid
DefaultRuntimeDir {directory}
ErrorLog {directory}/log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule wsgi_module {mod_wsgi}
WSGISocketPrefix {directory}/wsgi
WSGIDaemonProcess stoker processes={processes} threads=8 python-home={directory}/venv
WSGIProcessGroup stoker
WSGIApplicationGroup %{{GLOBAL}}
WSGIScriptAlias / {directory}/stoker.wsgi
WSGIPassAuthorization On
"""
SCRIPT = """
import os

os.environ["STOKER_CONFIG_FILES"] = "{settings}"
from {module} import application  # noqa
"""


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock())) as served:
        yield served


@pytest.fixture(scope="module", params=SERVERS)
def started(
    request: pytest.FixtureRequest, served: ServedCloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of the Orchestration API, which each server loads once."""
    with running(request.param, "stoker.wsgi.api", served, tmp_path_factory.mktemp(request.param), 2) as url:
        yield url


class running:  # noqa: N801  used as a function
    """A server with one of the two APIs; its URL. Each of its processes may load the API."""

    def __init__(self, server: str, module: str, served: ServedCloud, directory: Path, processes: int) -> None:
        settings, port = directory / "heat.conf", free_port()
        settings.write_text(CONFIGURATION.format(cloud=served.url, broker=free_port()))
        if server == "mod_wsgi":
            self.prepare_apache(directory, settings, port, module, processes)
        self.log = (directory / "log").open("ab")
        self.process = subprocess.Popen(
            [
                word.format(port=port, module=module, directory=directory, processes=processes)
                for word in SERVERS[server]
            ],
            env={"STOKER_CONFIG_FILES": str(settings), "PATH": "/usr/bin:/bin"},
            stdout=self.log,
            stderr=self.log,
        )
        self.url = f"http://127.0.0.1:{port}"

    @staticmethod
    def prepare_apache(directory: Path, settings: Path, port: int, module: str, processes: int) -> None:
        if not all(path.exists() for path in (APACHE, MOD_WSGI, LIBRARY)):
            pytest.skip("apache2-bin and libapache2-mod-wsgi-py3 for this version of Python are not installed")
        (directory / "stoker.wsgi").write_text(SCRIPT.format(settings=settings, module=module))
        (directory / "apache.conf").write_text(
            APACHE_CONFIGURATION.format(directory=directory, port=port, mod_wsgi=MOD_WSGI, processes=processes)
        )
        packages = directory / "venv/lib" / LIBRARY.name / "site-packages"
        packages.mkdir(parents=True)
        (packages / "tests.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
        (directory / "venv/bin").mkdir()
        (directory / "venv/bin/python").symlink_to("/usr/bin/python3")
        (directory / "venv/pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")

    def __enter__(self) -> str:
        try:
            wait_until(self.answers, "the server answers")
        except BaseException:
            self.__exit__()
            raise
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
    assert "the URL contains another" in answer.json()["error"]["message"]


def test_an_unreachable_broker(started: str, served: ServedCloud) -> None:
    """Nothing listens on the broker's port; the answer is bounded by `rpc_response_timeout` and the time to connect."""
    token = served.token("demo", "demo")
    shown = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
    project = shown.json["token"]["project"]["id"]
    for _ in range(2):
        answer = requests.get(f"{started}/v1/{project}/stacks", headers={"X-Auth-Token": token}, timeout=10)
        assert answer.status_code == 503
        assert "The message broker cannot be reached" in answer.json()["error"]["message"]


@pytest.mark.parametrize("server", SERVERS)
def test_the_query_api(server: str, served: ServedCloud, tmp_path: Path) -> None:
    with running(server, "stoker.wsgi.cfn", served, tmp_path, 1) as url:
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
