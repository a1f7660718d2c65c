"""Other people's programs, each kind in an environment of its own, installed again when requirements have changed.

The pip of the tests installs them: an environment needs none of its own, and only modules that run are compiled.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ENVIRONMENTS = Path(__file__).parents[1] / ".venv-conformance"


def installed(name: str, folder: Path) -> Path:
    """The directory of the programs that `NAME.txt` in `folder` requires. Raises subprocess.CalledProcessError."""
    environment = _ENVIRONMENTS / name
    programs, stamp = environment / "bin", environment / "installed.txt"
    requirements, sources = folder / f"{name}.txt", folder / f"{name}-sources.txt"
    requirements_text = requirements.read_text() + (sources.read_text() if sources.exists() else "")
    with _alone(environment):
        if not stamp.exists() or stamp.read_text() != requirements_text:
            print(f"Installing {name} into {environment} …", file=sys.stderr)
            venv.create(environment, clear=True)
            _pip("--python", programs / "python", "install", "--no-compile", "--requirement", requirements)
            if sources.exists():
                _unpack(sources, unpacked(programs))
            stamp.write_text(requirements_text)
    return programs


def unpacked(programs: Path) -> Path:
    """The directory with a directory for each package of `NAME-sources.txt`, beside the programs of that name."""
    return programs.parent / "sources"


@contextmanager
def _alone(environment: Path) -> Iterator[None]:
    """Wait until no other process installs into `environment`, and keep the others out meanwhile."""
    environment.parent.mkdir(parents=True, exist_ok=True)
    with environment.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(sources: Path, target: Path) -> None:
    """Unpack packages that have files which no installation puts anywhere."""
    with tempfile.TemporaryDirectory() as directory:
        # pip asks a source distribution for its metadata only: nothing is to be built, nor to be installed for that.
        options = ("--no-deps", "--no-binary=:all:", "--no-build-isolation")
        _pip("download", *options, f"--dest={directory}", f"--requirement={sources}")
        for archive in Path(directory).glob("*.tar.gz"):
            with tarfile.open(archive) as packed:
                packed.extractall(target, filter="data")


def _pip(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)
