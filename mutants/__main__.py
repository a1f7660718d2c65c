"""`python -m mutants [NAME …]`: plant each bug in a copy of the sources, and run the suites until one notices it.

The status is 1 if a suite fails without a bug, or a bug goes unnoticed, and 2 if a bug cannot be planted any more.
`--all` runs every suite on every bug, and tells which of them notice it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutants.planted import MUTANTS, Mutant, Outdated
from stoker.base.interpreter import python_command, python_environment
from tests.simulation.test_simulation import FIXED

ROOT = Path(__file__).parents[1]
_COPIED = ("src", "tests", "pyproject.toml")
_LONGEST_SECONDS = 1800.0
_TESTS = ("-m", "pytest", "-q", "-x", "-n", "0", "-m", "not slow")

SUITES: Mapping[str, tuple[str, ...]] = {
    "simulation": ("-m", "tests.simulation.simulation", "--first", *FIXED),
    "store": (*_TESTS, "tests/store/test_claims.py", "tests/store/test_deaths.py"),
    "engine": (
        *_TESTS, "tests/engine/test_claimed_writes.py", "tests/engine/test_taking_over.py",
        "tests/engine/test_several_engines.py", "tests/engine/test_unattended_operations.py",
        "tests/engine/test_shared_objects.py",
    ),
}  # fmt: skip
"""The arguments of the interpreter for each suite, the one that finds most first."""


def copied(place: Path) -> Path:
    """Copy what the suites need to a new folder of `place`, and return it."""
    root = Path(tempfile.mkdtemp(dir=place))
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, root / name)
    return root


def passes(root: Path, arguments: Sequence[str]) -> bool:
    """Return whether a suite passes on the sources in `root`."""
    environment = python_environment({**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"})
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        done = subprocess.run(
            python_command(*arguments),
            check=False,
            cwd=root,
            env=environment,
            capture_output=True,
            timeout=_LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def seen_by(mutant: Mutant | None, place: Path, *, every: bool) -> list[str]:
    """Return the suites that notice a bug: the first one, or all with `every`. Raises Outdated."""
    root = copied(place)
    if mutant is not None:
        mutant.plant(root / "src")
    seen: list[str] = []
    for name, arguments in SUITES.items():
        if not passes(root, arguments):
            seen.append(name)
            if not every:
                break
    shutil.rmtree(root)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="bugs whose names contain one of these; all by default"
    )
    parser.add_argument("--all", action="store_true", help="run every suite on each bug")
    options = parser.parse_args()
    chosen = [each for each in MUTANTS if not options.names or any(name in each.name for name in options.names)]
    with tempfile.TemporaryDirectory(prefix="stoker-mutants-") as directory:
        place = Path(directory)
        try:
            for mutant in MUTANTS:
                mutant.plant(copied(place) / "src")
        except Outdated as error:
            print(error, file=sys.stderr)
            return 2
        if failing := seen_by(None, place, every=True):
            print(f"fails without any bug: {', '.join(failing)}", file=sys.stderr)
            return 1
        unseen = 0
        for mutant in chosen:
            seen = seen_by(mutant, place, every=options.all)
            unseen += not seen
            print(f"{', '.join(seen) or 'NOBODY':24} {mutant.name}", flush=True)
    print(f"{len(chosen)} bugs, {unseen} unseen")
    return int(unseen > 0)


if __name__ == "__main__":
    sys.exit(main())
