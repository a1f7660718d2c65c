"""Virtual environments that have a wheel and nothing else but what it requires, made without a package index."""

from __future__ import annotations

import subprocess
import sys
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


def make(directory: Path, wheel: Path, *extras: str) -> Path:
    """Make an environment with the wheel and links to the packages that it requires; return its `bin`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    (site,) = directory.glob("lib/python*/site-packages")
    python = directory / "bin" / "python"
    # The requirements are those of the wheel, not of the sources that are installed here.
    options: list[str | Path] = [
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-compile",
        "--disable-pip-version-check",
    ]
    subprocess.run([sys.executable, "-m", "pip", *options, wheel], check=True, stdin=subprocess.DEVNULL)
    (description,) = site.glob("stoker-*.dist-info")
    lines = [Requirement(line) for line in metadata.Distribution.at(description).requires or ()]
    chosen = [
        each for each in lines if each.marker is None or any(each.marker.evaluate({"extra": x}) for x in ("", *extras))
    ]
    for name in required(each for each in chosen if each.name != "stoker"):
        for file in metadata.files(name) or ():
            top = site / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not top.exists():
                top.symlink_to(Path(str(file.locate())).parents[len(file.parts) - 1] / file.parts[0])
    return directory / "bin"
