"""Virtual environments that have a wheel and nothing else but what it requires, made without a package index."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement


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
