"""The source of releases, from the repository's history, and the states that are kept of them."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
STATES = Path(__file__).parent / "states"
COMMITS = {"0.1.0": "2af86394a712038503fe1d524f1fa02cf6c4454a"}
"""The commits of releases: their tags are not in every clone."""


class ReleaseMissing(Exception):
    """The repository's history is not here, as in an archive of the sources."""


def extract(release: str, directory: Path) -> None:
    """Put the sources of a release into a directory. Raises ReleaseMissing."""
    command = [
        "git",
        "-C",
        str(REPOSITORY),
        "archive",
        "--format=tar",
        COMMITS[release],
        "pyproject.toml",
        "src",
        "tests",
    ]
    try:
        done = subprocess.run(command, capture_output=True)
    except OSError as error:
        raise ReleaseMissing(str(error)) from error
    if done.returncode:
        raise ReleaseMissing(done.stderr.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(directory, filter="data")


def environment(directory: Path) -> Mapping[str, str]:
    """Environment variables with which Python runs the packages of an extracted release.

    The release finds its own entry points: metadata of this name on the path hide those of the installed package.
    """
    _write_metadata(directory)
    # The tests of release 0.1.0 import each other's modules from the folders that they are in.
    paths = (directory / "src", directory, directory / "tests", directory / "tests" / "engine")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}


def _write_metadata(directory: Path) -> None:
    """Write the metadata of a distribution with the entry points of the release's pyproject.toml."""
    place = directory / "src" / "stoker-0.dist-info"
    if place.exists():
        return
    project = tomllib.loads((directory / "pyproject.toml").read_text())["project"]
    place.mkdir()
    version = directory.name if directory.name[:1].isdecimal() else "0"
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: stoker\nVersion: {version}\n")
    groups = project["entry-points"]
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in groups[group].items()) for group in groups
    ]
    (place / "entry_points.txt").write_text("\n".join(lines))


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with an extracted release to its end."""
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=directory, env=environment(directory), capture_output=True, text=True, timeout=300
    )
