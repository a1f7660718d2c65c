"""The source of releases, from the repository's history, and the states that are kept of them."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
STATES = Path(__file__).parent / "states"


class ReleaseMissing(Exception):
    """The repository's history is not here, as in an archive of the sources."""


def extract(release: str, directory: Path) -> None:
    """Put the sources of a tagged release into a directory. Raises ReleaseMissing."""
    command = ["git", "-C", str(REPOSITORY), "archive", "--format=tar", f"refs/tags/{release}", "src", "tests"]
    try:
        done = subprocess.run(command, capture_output=True)
    except OSError as error:
        raise ReleaseMissing(str(error)) from error
    if done.returncode:
        raise ReleaseMissing(done.stderr.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(directory, filter="data")


def environment(directory: Path) -> Mapping[str, str]:
    """Environment variables with which Python runs the packages of an extracted release."""
    # The tests of release 0.1.0 import each other's modules from the folders that they are in.
    paths = (directory / "src", directory, directory / "tests", directory / "tests" / "engine")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with an extracted release to its end."""
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=directory, env=environment(directory), capture_output=True, text=True, timeout=300
    )
