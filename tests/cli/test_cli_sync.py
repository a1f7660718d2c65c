"""`stoker sync`: stacks are kept as a directory or a Git repository says, against a running Stoker."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from stoker.cli.commands.sync import _pauses
from tests.cli.cli_shell import Result, Shell
from tests.cli.test_cli_approvals import as_manager

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

NET = "OS::Neutron::Net"
VOLUME = "OS::Cinder::Volume"


def template(**resources: dict[str, Any]) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def a_net(name: str) -> dict[str, Any]:
    return template(net={"type": NET, "properties": {"name": name}})


class Repository:
    """A Git repository with a project, and the working copies and stacks that a user keeps of it."""

    def __init__(self, shell: Shell, path: Path) -> None:
        self.shell = shell
        self.path = path / "shop"
        self.url = f"file://{self.path}"
        self.environment = {"XDG_CACHE_HOME": str(path / "cache")}
        self.path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        settings = ("-c", "user.email=author@example.com", "-c", "user.name=Author", "-c", "commit.gpgsign=false")
        command = ["git", *settings, "-C", str(self.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, **stacks: dict[str, Any]) -> str:
        """Make these templates the project, and return the commit."""
        for name, content in stacks.items():
            (self.path / f"{name}.yaml").write_text(yaml.safe_dump(content))
        return self.commit_project({name: {"template": f"{name}.yaml"} for name in stacks})

    def commit_project(self, stacks: dict[str, Any]) -> str:
        (self.path / "project.yaml").write_text(yaml.safe_dump({"stacks": stacks}))
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change")
        return self.git("rev-parse", "HEAD")

    def sync(self, *options: str) -> Result:
        return self.shell.stoker("sync", self.url, "--once", *options, variables=self.environment)

    def outcomes(self, *options: str, status: int = 0) -> dict[str, str]:
        """The outcomes by stack of one round."""
        done = self.sync("-f", "json", *options)
        assert done.status == status, done.out + done.err
        last = json.loads(done.out.splitlines()[-1])
        assert last["type"] == "round" and last["revision"] == self.git("rev-parse", "HEAD")
        return {row["stack"]: row["outcome"] for row in last["stacks"]}


@pytest.fixture
def repository(embedded: Shell, tmp_path: Path) -> Repository:
    return Repository(embedded, tmp_path)


def test_sync_follows_commits_and_removals(repository: Repository) -> None:
    shell = repository.shell
    repository.commit(blue=a_net("first"), data=template(volume={"type": VOLUME, "properties": {"size": 1}}))
    assert repository.outcomes("--dry-run", status=2) == {"blue": "different", "data": "different"}
    assert "blue" not in shell.ok("stack", "list").out
    assert repository.outcomes() == {"blue": "done", "data": "done"}
    assert repository.outcomes() == {"blue": "unchanged", "data": "unchanged"}
    assert "2 unchanged." in repository.sync().out

    repository.commit(blue=a_net("second"), data=template(other={"type": VOLUME, "properties": {"size": 1}}))
    assert repository.outcomes(status=1) == {"blue": "done", "data": "blocked"}
    assert "loses the data of volume" in repository.sync().err
    assert repository.outcomes("--allow-data-loss") == {"blue": "unchanged", "data": "done"}

    repository.commit(blue=a_net("second"))
    assert repository.outcomes(status=1) == {"blue": "unchanged", "data": "surplus"}
    assert repository.outcomes("--prune", status=1) == {"blue": "unchanged", "data": "blocked"}
    repository.commit(blue=template(net={"type": NET, "properties": {"nmae": "wrong"}}))
    assert "unknown property 'nmae'" in (refused := repository.sync("--prune", "--allow-data-loss")).err
    assert refused.status == 1 and "data" in shell.ok("stack", "list").out, "nothing is removed where anything fails"
    repository.commit(blue=a_net("second"))
    assert repository.outcomes("--prune", "--allow-data-loss") == {"blue": "unchanged", "data": "removed"}
    assert "data" not in shell.ok("stack", "list").out
    shell.ok("delete", "blue", "--yes")


def test_sync_reverts_drift_and_ignores_other_sources(repository: Repository) -> None:
    shell = repository.shell
    repository.commit(green=a_net("ours"))
    shell.ok("deploy", "green", "-t", str(repository.path / "green.yaml"), "--tag", "kept", "--yes")
    assert repository.outcomes() == {"green": "done"}
    assert shell.ok("stack", "show", "green", "-f", "json").json["tags"] == ["kept", "stoker:sync:shop"]
    [net] = shell.ok("stack", "resources", "green", "-f", "json").json
    shell.openstack("network", "set", "--name", "theirs", net["physical_resource_id"])
    assert repository.outcomes() == {"green": "done"}
    assert "No changes" in shell.ok("drift", "green").out
    reported = repository.sync("--name", "another")
    assert reported.status == 1 and "belongs to another source, by its tag stoker:sync:shop" in reported.err
    shell.ok("delete", "green", "--yes")


def test_operations_wait_for_users_who_lock_or_approve(repository: Repository, tmp_path: Path) -> None:
    shell, manager = repository.shell, as_manager(repository.shell)
    control = tmp_path / "control.yaml"
    control.write_text("approvals: [{number: 1}]\n")
    repository.commit(red=a_net("first"))
    assert repository.outcomes() == {"red": "done"}
    repository.commit(red=a_net("second"))
    shell.ok("stack", "lock", "red", "--reason", "audit")
    assert repository.outcomes(status=1) == {"red": "waiting"}
    shell.ok("stack", "unlock", "red")
    shell.ok("change-control", "red", "--set", str(control), variables=manager)
    for _ in range(2):
        assert repository.outcomes(status=1) == {"red": "waiting"}
    [request] = shell.ok("approvals", "-f", "json", variables=manager).json
    shell.ok("approve", request["id"], "--yes", variables=manager)
    assert repository.outcomes() == {"red": "done"}
    shell.ok("change-control", "red", "--remove", variables=manager)
    shell.ok("delete", "red", "--yes")


def test_sync_is_checked_by_policies(repository: Repository, tmp_path: Path) -> None:
    shell, manager, policies = repository.shell, as_manager(repository.shell), tmp_path / "policies.yaml"
    written = {"name": "no-second", "types": [NET], "expression": "step.properties.name != 'second'"}
    policies.write_text(yaml.safe_dump({"policies": [written]}))
    repository.commit(pink=a_net("first"))
    assert repository.outcomes() == {"pink": "done"}
    shell.ok("policies", "pink", "--set", str(policies), variables=manager)
    repository.commit(pink=a_net("second"))
    reported = repository.sync()
    assert reported.status == 1 and "no-second" in reported.out + reported.err
    assert "second" not in shell.openstack("network", "list", "-f", "value", "-c", "Name").out.split()
    shell.ok("policies", "pink", "--remove", variables=manager)
    assert repository.outcomes() == {"pink": "done"}
    shell.ok("delete", "pink", "--yes")


def test_sync_reads_only_the_repository_and_runs_nothing(
    repository: Repository, tmp_path: Path
) -> None:  # fmt: skip
    secret, ran = tmp_path / "secret.yaml", tmp_path / "ran"
    secret.write_text("heat_template_version: 2021-04-16\ndescription: secret words\n")
    (repository.path / "linked.yaml").symlink_to(secret)
    for path in ("../../../../secret.yaml", str(secret), "http://169.254.169.254/t.yaml", "linked.yaml"):
        repository.commit_project({"odd": {"template": path}})
        reported = repository.sync()
        assert reported.status == 1 and "secret words" not in reported.out + reported.err, path
    hooks = repository.path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (hooks / "post-checkout").chmod(0o755)
    repository.commit(odd=a_net("odd"))
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(hooks)}
    repository.environment.update(settings)
    assert repository.sync("--dry-run").status == 2
    assert not ran.exists()
    occupied = tmp_path / "occupied"
    occupied.mkdir()
    (occupied / "mine").write_text("")
    assert "has other files" in repository.sync("--checkout", str(occupied)).err
    assert (occupied / "mine").exists()


def test_sync_continues_after_errors_until_stopped(repository: Repository) -> None:
    shell = repository.shell
    repository.commit_project({"pink": {"template": "missing.yaml"}})
    arguments = ("sync", repository.url, "--interval", "1", "-f", "json")
    with shell.start(*arguments, variables=repository.environment, directory=repository.path) as process:
        first = json.loads(process.stdout.readline())
        assert first["type"] == "round" and "cannot be used" in first["error"] and not first["in_sync"]
        fixed = repository.commit(pink=a_net("pink"))
        lines = (json.loads(line) for line in process.stdout)
        last = next(line for line in lines if line["type"] == "round" and line["in_sync"])
        assert last["revision"] == fixed
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
    shell.ok("delete", "pink", "--yes")


def test_a_directory_is_a_source_too(embedded: Shell, tmp_path: Path) -> None:
    (tmp_path / "alone.yaml").write_text(yaml.safe_dump(a_net("alone")))
    (tmp_path / "project.yaml").write_text(yaml.safe_dump({"stacks": {"alone": {"template": "alone.yaml"}}}))
    command = ("sync", str(tmp_path), "--name", "folder", "--once")
    assert "1 done." in embedded.ok(*command).out
    assert "1 unchanged." in embedded.ok(*command).out
    assert embedded.stoker(*command, "--ref", "main").status == 2
    assert embedded.stoker(*command[:-1], "--name", "a,b", "--once").status == 2
    embedded.ok("delete", "alone", "--yes")


def test_sync_backs_off_after_failures_until_new_commit() -> None:
    assert len(list(_pauses(60, 0))) == 1
    whole = [sum(_pauses(60, failures)) for failures in range(12)]
    assert 54 <= whole[0] <= 66 and 108 <= whole[1] <= 132 and 800 <= whole[11] <= 1000
    assert max(_pauses(60, 11)) <= 66
