"""Code in the directory in which Stoker is run, such as a clone of a stranger's repository."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from openstack_emulator.guests import agents
from openstack_emulator.guests.agents import DownloadFailed
from openstack_emulator.guests.ids import IdMaps
from openstack_emulator.guests.launching import task_command
from stoker.language_server.server import StokerServer
from stoker_foundation.interpreter import python_command, python_environment
from tests.cli.cli_shell import ANY_PORTS, Shell, clean_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODULES = (
    "aiohttp", "click", "email", "json", "keystoneauth1", "logging", "orjson", "oslo_config", "pip", "rich", "shutil",
    "sitecustomize", "socket", "ssl", "stoker", "stoker_heat_commands", "subprocess", "sqlite3", "tempfile",
    "usercustomize", "uvloop", "venv", "yaml",
)  # fmt: skip
"""Modules that children import: of Stoker, of its dependencies and of the standard library, as files and packages."""


class Hostile:
    """A directory with modules that write their names to a file when they run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "hostile"
        self._ran = folder / "ran"
        for number, name in enumerate(MODULES):
            path = self.folder / f"{name}.py" if number % 2 else self.folder / name / "__init__.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"open({str(self._ran)!r}, 'a').write({name + chr(10)!r})\n")

    def ran(self) -> list[str]:
        return self._ran.read_text().split() if self._ran.exists() else []


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    found = Hostile(tmp_path)
    done = subprocess.run([sys.executable, "-c", "import click"], cwd=found.folder, capture_output=True, check=False)
    assert done.returncode == 0 and found.ran(), "the modules do not work"
    (tmp_path / "ran").unlink()
    monkeypatch.chdir(found.folder)
    yield found
    assert found.ran() == []


def test_stoker_up_and_down(hostile: Hostile, tmp_path: Path) -> None:
    """Modules of the current directory run in the processes that `stoker up` starts."""
    data = tmp_path / "data"
    shell = Shell(hostile.folder / "data", clean_environment(tmp_path), imports=True)
    try:
        shell.ok("up", "--detach", "--data-dir", str(data), *ANY_PORTS, timeout=180)
        assert shell.ok("status", "--data-dir", str(data)).status == 0
    finally:
        shell.stoker("down", "--data-dir", str(data))


def test_the_language_server(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of a template's directory run when the editor asks for its plan."""
    template = hostile.folder / "web.yaml"
    template.write_text("heat_template_version: 2021-04-16\nresources: {v: {type: OS::Heat::Value}}\n")
    monkeypatch.setenv("PYTHONPATH", f".{os.pathsep}{ROOT / 'src'}")
    shown: list[str] = []

    class Quiet(StokerServer):
        def log(self, message: str) -> None:
            shown.append(message)

        def show(self, message: str, kind: object = None) -> None:
            pass

    asyncio.run(asyncio.wait_for(Quiet(0.1).plan(str(template)), 60))
    assert shown and "Traceback" not in shown[0]


def test_pip(hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of the current directory run in pip while an image of guests is built."""
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_CONFIG_FILE", os.devnull), ("PYTHONPATH", ":")):
        monkeypatch.setenv(name, value)
    with pytest.raises(DownloadFailed, match="heat-agents"):
        agents.pack(tmp_path / "agents.tar", 0)


def test_tasks_of_guests(hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules of the current directory run as the user who starts guests."""
    monkeypatch.setenv("PYTHONPATH", str(hostile.folder))
    command = task_command("delete", IdMaps(("0 0 1",), ("0 0 1",), helpers=False, base=0), tmp_path, names=[])
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert b"No module named" not in done.stderr
    assert hostile.ran() == []


def test_the_programs_of_heat(hostile: Hostile, tmp_path: Path) -> None:
    """Modules of the current directory run in the processes that `heat-all` starts."""
    (tmp_path / "heat.conf").write_text("[database]\nconnection = unknown://\n")
    code = f"import sys; sys.argv = ['heat-all', '--config-file', {str(tmp_path / 'heat.conf')!r}]\n"
    code += "from stoker_heat_commands.programs import everything; everything()"
    command = python_command("-c", code)
    environment = python_environment() | {"PYTHONPATH": str(ROOT / "packages/stoker-heat-commands/src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0 and "No module named" not in done.stderr


def test_the_actions_for_ci(hostile: Hostile, tmp_path: Path) -> None:
    """Modules of a pull request run when its templates are checked."""
    action = yaml.safe_load((ROOT / "contrib/github-action/action.yml").read_text())
    script = next(step["run"] for step in action["runs"]["steps"] if step["name"] == "Install")
    variables = {**clean_environment(tmp_path), "RUNNER_TEMP": str(tmp_path), "GITHUB_PATH": str(tmp_path / "path")}
    variables |= {"INSTALL": "pip", "PIP_NO_INDEX": "1", "PYTHONPATH": ""}
    done = subprocess.run(["bash", "-ec", script], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_extension_for_editors(hostile: Hostile) -> None:
    """A program of the folder that is open runs in place of the one in the search path."""
    program = hostile.folder / "stoker-program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    script = f"""
    const {{ located }} = require({str(ROOT / "contrib/vscode/client.js")!r});
    process.env.PATH = ".::relative:/usr/bin:/bin";
    console.log(located("stoker-program", process.cwd()), located("sh", process.cwd()));
    console.log(located("/opt/stoker", null), located("bin/stoker", "/home/user/project"));
    """
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    first, second = (line.split() for line in done.stdout.splitlines())
    assert first[0] == "/stoker-program" and first[1] in {"/usr/bin/sh", "/bin/sh"}
    assert second == ["/opt/stoker", "/home/user/project/bin/stoker"]
