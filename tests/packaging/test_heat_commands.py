"""The programs with the names of Heat's, which a distribution of its own installs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.store import claims, tables
from stoker.store.database import Database
from stoker.store.records import Resource
from stoker.store.sealing import Sealer
from stoker_foundation.clock import SystemClock
from stoker_heat_commands import environment, manage, status
from testing.servers import free_port, wait_until
from tests.packaging.environment import build
from tests.store.rows import engine, operation, stack

DISTRIBUTION = Path(__file__).parents[2] / "packages" / "stoker-heat-commands"
KEY = "k" * 32
CONFIGURATION = f"""
[DEFAULT]
auth_encryption_key = {KEY}
transport_url = rabbit://nobody:nothing@127.0.0.1:{{broker}}/
stack_user_domain_name = heat
stack_domain_admin = heat_domain_admin
stack_domain_admin_password = secret
[database]
connection = sqlite:///{{directory}}/stoker.db
[keystone_authtoken]
auth_type = password
auth_url = {{cloud}}/identity/v3
username = heat
password = secret
user_domain_name = Default
project_name = service
project_domain_name = Default
[heat_api]
bind_host = 127.0.0.1
bind_port = {{api}}
[heat_api_cfn]
bind_host = 127.0.0.1
bind_port = {{cfn}}
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    extra = {"orchestration": "http://127.0.0.1:1/v1/%(project_id)s", "cloudformation": "http://127.0.0.1:1/v1"}
    with ServedCloud(new_cloud(("image",), clock=SystemClock(), extra_endpoints=extra)) as served:
        yield served


@pytest.fixture
def settings(tmp_path: Path, served: ServedCloud) -> Path:
    path = tmp_path / "heat.conf"
    ports = {name: free_port() for name in ("broker", "api", "cfn")}
    path.write_text(CONFIGURATION.format(directory=tmp_path, cloud=served.url, **ports))
    return path


@pytest.fixture
def run(settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a program in this process: its exit status, and what it prints."""

    def run(main: Callable[[], None], *arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["program", "--config-file", str(settings), *arguments])
        try:
            main()
        except SystemExit as end:
            output = capsys.readouterr()
            code, text = (1, str(end.code)) if isinstance(end.code, str) else (end.code or 0, "")
            return code, output.out + output.err + text
        return 0, capsys.readouterr().out

    return run


def test_heat_manage_maintains_the_database(run: Run, settings: Path) -> None:
    assert run(manage.main, "db_version") == (0, "none\n")
    code, output = run(manage.main, "db_sync", "abc123")
    assert code == 1 and "only be upgraded to the revision of this release" in output
    code, output = run(manage.main, "--debug", "db_sync")
    revision = output.split()[-1].removesuffix(".")
    assert (code, run(manage.main, "db_version")) == (0, (0, f"{revision}\n"))
    assert run(manage.main, "db_sync", revision)[0] == 0

    now, sealer = SystemClock().now(), Sealer([KEY])
    database = Database(f"sqlite:///{settings.parent}/stoker.db")
    gone = stack("gone", deleted_at=now - 90000)
    there = stack("there", action="CREATE", status="IN_PROGRESS")
    member = Resource("u7", there.id, 0, "user", "T", "CREATE", "COMPLETE", "", 1.0)
    member = replace(member, state=sealer.seal({"data": {"access_key": "AK", "credential_id": "7"}}))
    running = operation(there.id, owner="dead", status="RUNNING")
    engines = [("alive", now), ("dead", now - 900), ("idle", now - 900)]
    with database.writing() as connection:
        for table, row in (("stacks", gone), ("stacks", there), ("resources", member), ("operations", running)):
            connection.execute(tables.metadata.tables[table].insert().values(row.values()))
        for name, seen in engines:
            claims.report(connection, engine(name, seen, host=f"host-{name}"))

    assert run(manage.main, "purge_deleted", "-g", "days", "2") == (0, "Removed 0 deleted stacks.\n")
    assert run(manage.main, "purge_deleted", "1", "-p", "other") == (0, "Removed 0 deleted stacks.\n")
    assert run(manage.main, "purge_deleted", "-g", "hours", "-b", "5", "1") == (0, "Removed 1 deleted stack.\n")
    code, output = run(manage.main, "service", "list")
    assert re.search("host-alive .* up ", output) and re.search("host-dead .* down ", output)
    assert run(manage.main, "service", "clean") == (0, "Removed the records of 1 engine that no longer run.\n")
    assert "host-dead" in run(manage.main, "service", "list")[1], "it owns an operation, which another will take over"
    assert run(manage.main, "resource_data_list", member.uuid) == (0, "access_key = AK\ncredential_id = 7\n")
    assert run(manage.main, "resource_data_list", "x")[0] == 1
    assert f"stoker operation show {running.id}" in run(manage.main, "reset_stack_status", there.id)[1]
    assert run(manage.main, "reset_stack_status", "x") == (1, "heat-manage: There is no stack x.")
    database.close()


def test_heat_manage_says_why_commands_are_not_needed(run: Run) -> None:
    for words in (["update_params", "encrypt"], ["migrate_properties_data"], ["migrate_convergence_1", "all"]):
        code, output = run(manage.main, *words)
        assert code == 0 and output.startswith("Nothing was changed, and nothing needs to be: ")
    assert run(manage.main, "update_params", "decrypt", "key", "--verbose-update-params")[0] == 1
    code, output = run(manage.main)
    assert code != 0 and "db_sync" in output


def test_heat_status_checks_what_the_configuration_names(run: Run, settings: Path) -> None:
    code, output = run(status.main, "upgrade", "check")
    assert code == 2 and "there are no tables; run `stoker db sync`" in " ".join(output.split()).replace("| ", "")
    run(manage.main, "db_sync")
    code, output = run(status.main, "upgrade", "check")
    assert code == 0, output
    assert output.count("Result: Success") == 5

    good = settings.read_text()
    (settings.parent / "policy.yaml").write_text('{"stacks:index": ""}')
    settings.write_text(good.replace("heat_domain_admin", "stranger").replace("[DEFAULT]", REGION))
    code, output = run(status.main, "upgrade", "check")
    assert code == 2
    output = " ".join(output.replace("|", " ").split())
    for words in ("is in JSON", "no orchestration and no cloudformation in the region North", "stranger (stack_domain"):
        assert words in output
    settings.write_text(good.replace("stack_domain_admin =", "#"))
    (settings.parent / "policy.yaml").unlink()
    assert run(status.main, "upgrade", "check")[0] == 1, "a warning"
    settings.write_text(good.replace("username = heat", "username = nobody"))
    assert "nobody ([keystone_authtoken] username) cannot log in" in run(status.main, "upgrade", "check")[1]


REGION = "[DEFAULT]\nregion_name_for_services = North\n"


def test_the_programs_refuse_to_start_beside_heat(monkeypatch: pytest.MonkeyPatch) -> None:
    class Heat:
        version = "27.0.1"

    monkeypatch.setattr(environment, "distribution", lambda name: Heat)
    with pytest.raises(SystemExit, match=r"openstack-heat 27\.0\.1 is installed"):
        environment.require_no_heat()

    def missing(name: str) -> None:
        raise PackageNotFoundError

    monkeypatch.setattr(environment, "distribution", missing)
    environment.require_no_heat()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the distribution, built from a copy, since a build writes beside the sources."""
    made = tmp_path_factory.mktemp("made")
    subprocess.run(["cp", "-r", DISTRIBUTION, made / "source"], check=True)
    wheel = build(made / "source", made / "wheels", made)
    options: list[str | Path] = ["-q", "--no-deps", "--disable-pip-version-check", "--target", made / "target"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    return made / "target"


class Started:
    """A program of the distribution; its output is in a file."""

    def __init__(self, installed: Path, directory: Path, *command: str | Path, **more: str) -> None:
        self.log = directory / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "HOME": str(directory), **more},
            )

    def answers(self, *ports: str) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return all(
                requests.get(f"http://127.0.0.1:{port}/healthcheck", timeout=10).status_code == 200 for port in ports
            )
        except requests.ConnectionError:
            return False

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@pytest.mark.slow
def test_heat_all_runs_the_three_programs(installed: Path, settings: Path, run: Run) -> None:
    assert {path.name for path in (installed / "bin").iterdir()} == {
        "heat-all", "heat-api", "heat-api-cfn", "heat-engine", "heat-manage", "heat-status", "heat-wsgi-api",
        "heat-wsgi-api-cfn",
    }  # fmt: skip
    run(manage.main, "db_sync")
    ports = re.findall(r"bind_port = (\d+)", settings.read_text())
    started = Started(installed, settings.parent, installed / "bin/heat-all", "--config-file", settings, "--debug")
    try:
        wait_until(lambda: started.answers(*ports), "both interfaces answer")
        wait_until(lambda: "is running on" in started.log.read_text(), "the engine runs")
    finally:
        ended = started.stop()
    assert ended == 0, started.log.read_text()


SERVERS = {
    "itself": ["{bin}/heat-wsgi-{name}", "--port", "{port}"],
    "uwsgi": [
        f"{Path(sys.executable).parent}/uwsgi", "--http-socket", "127.0.0.1:{port}", "--master", "--threads", "4",
        "--need-app", "--enable-threads", "--die-on-term", "--wsgi-file", "{bin}/heat-wsgi-{name}",
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("server", "name"), [("itself", "api"), ("uwsgi", "api-cfn")])
def test_the_files_for_wsgi_servers(installed: Path, settings: Path, server: str, name: str) -> None:
    port = str(free_port())
    command = [word.format(bin=installed / "bin", name=name, port=port) for word in SERVERS[server]]
    started = Started(installed, settings.parent, *command, STOKER_CONFIG_FILES=str(settings))
    try:
        wait_until(lambda: started.answers(port), "the server answers")
        path, expected = {"api": ("/v1/p/stacks", 401), "api-cfn": ("/v1/?Action=ListStacks", 403)}[name]
        assert requests.get(f"http://127.0.0.1:{port}{path}", timeout=30).status_code == expected
    finally:
        ended = started.stop()
    assert ended in (0, -signal.SIGTERM)
