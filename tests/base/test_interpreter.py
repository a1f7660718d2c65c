"""Command lines and environments of child processes that run Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stoker_foundation.interpreter import bare_python_command, python_command, python_environment


@pytest.mark.parametrize(
    ("path", "kept"),
    [("", None), (":", None), (".", None), ("src:/opt/plug-ins:", "/opt/plug-ins"), ("/a::/b", "/a:/b")],
)
def test_only_absolute_entries_of_the_module_path_remain(path: str, kept: str | None) -> None:
    assert python_environment({"PYTHONPATH": path, "HOME": "/root"}).get("PYTHONPATH") == kept
    assert python_environment({"HOME": "/root"}) == {"HOME": "/root"}


@pytest.mark.slow
def test_children_import_installed_packages_and_not_the_current_directory(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('from the current directory')")
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('from the current directory')")
    environment = python_environment({"PYTHONPATH": ":."})
    for program in ("import click, stoker; print(stoker.__name__)", "import sys; print(*sys.path, sep='\\n')"):
        command = python_command("-c", program)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert str(tmp_path) not in done.stdout and "" not in done.stdout.splitlines()
    command = bare_python_command("-c", "import json, sys; print(sys.path)")
    given = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=True)
    assert str(tmp_path) not in done.stdout
