"""Wheels, and virtual environments that have one and nothing else but what it requires; no package index is asked."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from build import ProjectBuilder
from packaging.requirements import Requirement

from testing import forked_program

_HOOK = "pyproject_hooks._in_process._in_process"
"""The program that calls one function of a build backend."""

_BACKEND = (
    "setuptools.build_meta",
    "setuptools.command.bdist_wheel",
    "setuptools.command.install",
    "setuptools.command.install_egg_info",
    "setuptools.command.install_scripts",
    "setuptools.command.sdist",
    "setuptools.config._validate_pyproject",
    "setuptools.config.pyprojecttoml",
)
"""Most of what that imports."""


def build(source: Path, target: Path, directory: Path) -> Path:
    """Build a source distribution of the folder `source` into `target`, and a wheel from it, whose path is returned.

    It is unpacked in `directory`. What builds require must be installed here.
    """
    archive = Path(ProjectBuilder(source, runner=_call_backend).build("sdist", target))
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    unpacked = directory / archive.name.removesuffix(".tar.gz")
    return Path(ProjectBuilder(unpacked, runner=_call_backend).build("wheel", target))


def _call_backend(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
    """Run the program of `cmd` in a forked process; the rest is as ProjectBuilder has it."""
    done = forked_program.run(
        _HOOK,
        cmd[1:],
        imports=_BACKEND,
        environment={**os.environ, **(extra_environ or {})},
        directory=Path(cwd or "."),
        distribution="setuptools",
        timeout=300,
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)


def required(requirements: Iterable[Requirement]) -> set[str]:
    """Return the names of the distributions that these need, each of which is installed here."""
    found: set[str] = set()
    todo = [(each.name, frozenset(each.extras)) for each in requirements]
    seen = set(todo)
    while todo:
        name, extras = todo.pop()
        found.add(name)
        for line in metadata.requires(name) or ():
            each = Requirement(line)
            chosen = each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
            key = (each.name, frozenset(each.extras))
            if chosen and key not in seen:
                seen.add(key)
                todo.append(key)
    return found


def make(directory: Path, wheels: Path, name: str, *extras: str) -> Path:
    """Make an environment with a distribution of the folder `wheels`, and what it requires; return its `bin`.

    What it requires comes from that folder too, or is linked from here, so that no index is asked.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    (site,) = directory.glob("lib/python*/site-packages")
    built = {wheel.name.partition("-")[0].replace("_", "-"): wheel for wheel in wheels.glob("*.whl")}
    here: list[Requirement] = []
    todo = [(name, frozenset(extras))]
    seen = set(todo)
    while todo:
        name, requirements = todo.pop()
        for line in _requires(built[name]):
            each = Requirement(line)
            if each.marker is not None and not any(each.marker.evaluate({"extra": x}) for x in ("", *requirements)):
                continue
            key = (each.name, frozenset(each.extras))
            if each.name not in built:
                here.append(each)
            elif key not in seen:
                seen.add(key)
                todo.append(key)
    _install(directory / "bin" / "python", *(built[name] for name in {name for name, _ in seen}))
    for linked in required(here) - built.keys():
        for file in metadata.files(linked) or ():
            top = site / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not top.exists():
                top.symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0])
    return directory / "bin"


def _requires(wheel: Path) -> Iterable[str]:
    """The requirements of a wheel, which may differ from those of the sources that are installed here."""
    (description,) = (each for each in zipfile.Path(wheel).iterdir() if each.name.endswith(".dist-info"))
    return metadata.PathDistribution(description).requires or ()


def _install(python: Path, *wheels: Path) -> None:
    """Install wheels alone."""
    options = ("--no-deps", "--no-compile", "--disable-pip-version-check")
    command: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "-q", *options, *wheels]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
