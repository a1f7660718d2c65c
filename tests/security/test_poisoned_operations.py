"""Operations that kill the engine which runs them, on real processes: a crash loop ends, and others' work is done."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from testing.forked_program import ENGINE_IMPORTS, ForkedProgram, run
from testing.running_cluster import Cluster
from testing.servers import free_port, wait_until
from tests.security import poison

pytestmark = pytest.mark.slow
DIED = 9
SECONDS = 400.0  # starting an engine takes long on a busy machine


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(pace=0.02)) as served:
        yield served


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(poison.install(tmp_path)))


@pytest.fixture
def trigger(tmp_path: Path) -> Path:
    """As long as this file is there, engines die."""
    path = tmp_path / "trigger"
    path.touch()
    return path


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """As long as this file is there, the other tenant's resource is not ready."""
    path = tmp_path / "held"
    path.touch()
    return path


IMPORTS = (*ENGINE_IMPORTS, "stoker.cli.main", "stoker.cli.commands.cluster", "stoker.processes.embedded")


class Embedded:
    """An embedded Stoker that is started again whenever it dies, as a service manager does."""

    def __init__(self, directory: Path, served: ServedCloud) -> None:
        self.directory, self.served = directory, served
        self.port, self.deaths = free_port(), 0
        self._projects: dict[str, str] = {}
        self._arguments = [
            "--data-dir", str(directory), "--api-port", str(self.port), "--cfn-port", str(free_port()),
            "--identity", f"{served.url}/identity/v3",
        ]  # fmt: skip
        self._log = (directory.parent / "engine.log").open("ab")
        directory.mkdir()
        endpoints = {"rest": f"http://127.0.0.1:{self.port}/v1", "cfn": "", "identity": "", "cloud": None}
        (directory / "endpoints.json").write_text(json.dumps({**endpoints, "config_files": [], "pids": {}}))
        self.start()

    def start(self) -> None:
        program = "stoker.processes.embedded"
        self.process = ForkedProgram(
            program, [program, *self._arguments], imports=IMPORTS, stdout=self._log, stderr=self._log
        )

    def restart_if_dead(self) -> None:
        """Start it again if it has died of the poison."""
        code = self.process.poll()
        if code is not None:
            assert code == DIED, (self.directory.parent / "engine.log").read_text()[-3000:]
            self.deaths += 1
            self.start()

    def call(self, method: str, path: str, body: Any = None, user: str = "demo") -> tuple[int, Any]:
        token = self.served.token(user, user)
        if user not in self._projects:
            projects = self.served.call("GET", "/identity/v3/auth/projects", token=token).json["projects"]
            self._projects[user] = next(item["id"] for item in projects if item["name"] == user)
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/{self._projects[user]}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-Auth-Token": token, "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")
        except OSError:
            return 0, None

    def create(self, name: str, template: str, user: str = "demo", **more: Any) -> None:
        body = {"stack_name": name, "template": template, **more}

        def accepted() -> bool:
            status, answer = self.call("POST", "/stacks", body, user)
            assert status not in (400, 403), answer
            return status in (201, 409)

        wait_until(accepted, f"{name} is accepted", SECONDS)

    def state(self, name: str, user: str = "demo") -> str:
        status, answer = self.call("GET", f"/stacks/{name}?resolve_outputs=false", user=user)
        return str(answer["stack"]["stack_status"]) if status == 200 else ""

    def await_state(self, name: str, state: str, user: str = "demo") -> None:
        def reached() -> bool:
            self.restart_if_dead()
            return self.state(name, user) == state

        wait_until(reached, f"{name} is {state}", SECONDS)

    def command(self, *words: str) -> str:
        arguments = ["stoker", *words, "--data-dir", str(self.directory)]
        done = run("stoker.cli.main:main", arguments, imports=IMPORTS, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def set_aside(self) -> list[dict[str, Any]]:
        columns = [word for name in ("id", "stack", "status", "reason_code") for word in ("-c", name)]
        rows: list[dict[str, Any]] = json.loads(self.command("operation", "list", "-f", "json", *columns))
        return [row for row in rows if row["reason_code"] is not None]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self._log.close()


@pytest.fixture
def embedded(tmp_path: Path, served: ServedCloud, plug_in: None) -> Iterator[Embedded]:
    embedded = Embedded(tmp_path / "data", served)
    yield embedded
    embedded.stop()


def test_a_crash_loop_ends_and_the_work_beside_it_completes(embedded: Embedded, trigger: Path, held: Path) -> None:
    """A resource that kills the engine each time its operation is resumed, beside another tenant's long creation."""
    embedded.create("victim", poison.template("Slow", held), "admin")
    embedded.await_state("victim", "CREATE_IN_PROGRESS", "admin")
    embedded.create("poisoned", poison.template("Poison", trigger), disable_rollback=False)
    embedded.await_state("poisoned", "CREATE_FAILED")
    assert 2 <= embedded.deaths <= 3  # the first one may count as progress: a resource was completed before it
    [found] = embedded.set_aside()
    assert (found["stack"], found["status"], found["reason_code"]) == ("poisoned", "FAILED", "engine_deaths")
    shown = json.loads(embedded.command("operation", "show", found["id"], "-f", "json"))
    assert [death["verdict"] for death in shown["deaths"]].count("CHARGED") == 3
    assert embedded.state("victim", "admin") == "CREATE_IN_PROGRESS"
    held.unlink()
    embedded.await_state("victim", "CREATE_COMPLETE", "admin")
    deaths = embedded.deaths

    trigger.unlink()
    again = embedded.command("operation", "resume", found["id"]).strip()
    assert again != found["id"]
    embedded.await_state("poisoned", "CREATE_COMPLETE")
    assert embedded.set_aside() == [] and embedded.deaths == deaths


def test_the_innermost_operation_is_set_aside_and_the_ones_above_it_fail_for_it(
    embedded: Embedded, trigger: Path
) -> None:
    """A resource in a nested stack that kills the engine: the tree fails as a whole, and can be retried as a whole."""
    files = {"inner.yaml": poison.template("Poison", trigger)}
    embedded.create("tree", poison.NESTING, files=files, disable_rollback=False)
    embedded.await_state("tree", "CREATE_FAILED")
    rows = {row["stack"]: row for row in embedded.set_aside()}
    assert len(rows) == 2 and "tree" in rows
    _, answer = embedded.call("GET", "/stacks/tree")
    assert "resources.inner" in answer["stack"]["stack_status_reason"]
    inner = next(row for name, row in rows.items() if name != "tree")
    above, below = (
        json.loads(embedded.command("operation", "show", row["id"], "-f", "json")) for row in (rows["tree"], inner)
    )
    assert below["parent_operation"] == above["id"]
    assert "CHARGED" not in [death["verdict"] for death in above["deaths"]]

    trigger.unlink()
    stack = answer["stack"]
    assert embedded.call("POST", f"/stacks/tree/{stack['id']}/actions", {"retry": None})[0] == 200
    embedded.await_state("tree", "CREATE_COMPLETE")


def test_an_operation_that_makes_progress_survives_more_deaths_than_the_limit(embedded: Embedded, held: Path) -> None:
    """Killing the engine again and again, without any poison: nothing is set aside as long as there is progress."""
    names = [f"hold{number}" for number in range(5)]
    holds = [held.with_name(name) for name in names]
    for path in holds:
        path.touch()
    resources = "".join(
        f"  s{number}: {{type: 'Test::Slow', properties: {{file: '{path}'}}}}\n" for number, path in enumerate(holds)
    )
    embedded.create("long", f"heat_template_version: 2021-04-16\nresources:\n{resources}")
    identifier = embedded.call("GET", "/stacks/long")[1]["stack"]["id"]
    for number, path in enumerate(holds):
        path.unlink()

        def complete(name: str = f"s{number}") -> bool:
            status, answer = embedded.call("GET", f"/stacks/long/{identifier}/resources/{name}")
            return status == 200 and answer["resource"]["resource_status"] == "CREATE_COMPLETE"

        wait_until(complete, f"resource {number} is complete", SECONDS)
        embedded.process.kill()
        embedded.process.wait()
        embedded.start()
    embedded.await_state("long", "CREATE_COMPLETE")


@pytest.mark.xdist_group("cluster")
def test_an_operation_that_crashes_engines_is_set_aside_in_a_cluster(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgresql: Any,
    rabbitmq: Any,
    served: ServedCloud,
    plug_in: None,
    trigger: Path,
    held: Path,
) -> None:
    """A resource that kills one engine of a cluster after the other, beside another tenant's long creation."""
    assert os.environ["PYTHONPATH"]
    monkeypatch.setattr(Cluster, "deaths_limit", 3)
    cluster = Cluster(tmp_path, postgresql.new_database("poisoned"), rabbitmq.url, served, "poisoned", "")
    died: set[str] = set()

    def restart_if_dead() -> None:
        for engine in [engine for engine in cluster.running if not engine.alive]:
            assert engine.ended() == DIED, engine.output()[-3000:]
            died.add(engine.host)
            cluster.running.remove(engine)
            cluster.start_engine()

    def state(name: str, user: str) -> str:
        status, answer = cluster.call("GET", f"/stacks/{name}?resolve_outputs=false", user=user)
        return str(answer["stack"]["stack_status"]) if status == 200 else ""

    def reached(name: str, wanted: str, user: str) -> None:
        def there() -> bool:
            restart_if_dead()
            return state(name, user) == wanted

        wait_until(there, f"{name} is {wanted}", SECONDS)

    def create(name: str, template: str, user: str) -> None:
        body = {"stack_name": name, "template": template, "disable_rollback": True}
        assert cluster.call("POST", "/stacks", body, user)[0] == 201

    try:
        cluster.engines(2)
        create("victim", poison.template("Slow", held), "admin")
        reached("victim", "CREATE_IN_PROGRESS", "admin")
        create("poisoned", poison.template("Poison", trigger), "demo")
        reached("poisoned", "CREATE_FAILED", "demo")
        assert 2 <= len(died) <= 3  # the last death was that of an engine in a process of its own
        rows = json.loads(cluster.command("operation", "list", "-f", "json", "-c", "id", "-c", "reason_code"))
        [found] = [row["id"] for row in rows if row["reason_code"] == "engine_deaths"]
        held.unlink()
        reached("victim", "CREATE_COMPLETE", "admin")
        trigger.unlink()
        cluster.command("operation", "resume", found)
        reached("poisoned", "CREATE_COMPLETE", "demo")
    finally:
        cluster.stop()
