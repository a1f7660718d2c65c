"""Files that a stranger's template names: devices, pipes and huge files, read by commands and editors."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stoker.authoring.lint import lint as problems
from stoker.authoring.workspace import Workspace
from stoker.base.named_files import LARGEST, read_named
from stoker.cli.client.sources import collect
from stoker.cli.terminal.errors import CommandFailed
from stoker.language_server.project import Project
from stoker.plugins.registry import Registry

HOT = "heat_template_version: 2021-04-16\n"
VALUE = HOT + "resources: {a: {type: OS::Heat::Value, properties: {value: {get_file: FILE}}}}\n"
NESTED = HOT + "resources: {a: {type: FILE}}\n"
MAPPED = HOT + "resources: {a: {type: 'My::Type'}}\n"


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    """A pipe, links to devices, and a file that is too large, with names of templates."""
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("zero", "stdin", "tty", "random"):
        (tmp_path / f"{name}.yaml").symlink_to(f"/dev/{name}")
    with (tmp_path / "huge.yaml").open("wb") as file:
        file.truncate(8 * 1024**3)
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "folder.yaml").mkdir()
    return sorted(path.name for path in tmp_path.iterdir())


def lint(path: Path, *environments: str) -> list[str]:
    workspace = Workspace(Registry.on_demand(), environments)
    return [problem.message for problem in problems(workspace, [str(path)])]


def open_in_editor(path: Path) -> list[str]:
    project = Project()
    project.put(str(path), path.read_text())
    reports = project.report(str(path)).by_source
    return [found.message for listed in reports.values() for found in listed]


def deploy(path: Path) -> list[str]:
    try:
        collect(str(path))
    except CommandFailed as error:
        return [error.message]
    return []


@pytest.mark.parametrize("use", [lint, open_in_editor, deploy])
@pytest.mark.parametrize("template", [VALUE, NESTED])
def test_only_regular_files_are_read(
    tmp_path: Path, names: list[str], use: Callable[[Path], list[str]], template: str
) -> None:
    """A template names a device, a pipe or a huge file with `get_file` or as a type."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in names:
        path = tmp_path / "web.yaml"
        path.write_text(template.replace("FILE", name))
        output = " ".join(use(path))
        if use is deploy or template is NESTED:
            assert "cannot be read" in output or "there is no template" in output, (name, output)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "/proc/self/mem", "\0"])
def test_files_of_the_machine_cannot_be_read_without_end(name: str) -> None:
    """A template names files that the system makes."""
    with pytest.raises((OSError, ValueError)):
        read_named(name)


def test_a_named_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    """A template names a file that is one byte too large."""
    path = tmp_path / "large"
    path.write_bytes(b"x" * LARGEST)
    assert len(read_named(str(path))) == LARGEST
    with path.open("ab") as file:
        file.write(b"x")
    with pytest.raises(OSError, match="larger than 16 MiB"):
        read_named(str(path))


def test_an_environment_names_a_pipe(tmp_path: Path, names: list[str]) -> None:
    """An environment maps a type to a pipe or a device."""
    (tmp_path / "web.yaml").write_text(MAPPED)
    for name in names:
        environment = tmp_path / "env.yaml"
        environment.write_text(f"resource_registry: {{'My::Type': {name}}}\n")
        with pytest.raises(CommandFailed, match="cannot be read"):
            collect(str(tmp_path / "web.yaml"), [str(environment)])
        assert lint(tmp_path / "web.yaml", str(environment))


@pytest.mark.slow
def test_users_may_name_pipes(tmp_path: Path) -> None:
    """No attack: the user names a pipe, as `<(command)` in a shell does."""
    template = HOT + "resources: {a: {type: OS::Heat::Value, properties: {value: 1}}}\n"
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as file:
        file.write(template)
    command = [sys.executable, "-c", "from stoker.cli.main import main; main()", "lint", f"/dev/fd/{reader}"]
    done = subprocess.run(command, pass_fds=[reader], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    os.close(reader)
    assert done.returncode == 0, done.stdout + done.stderr
