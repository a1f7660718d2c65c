"""`python -m tools.mutants [NAME …]`: plant each bug in a copy of the sources, and run the suites until one notices it.

The suite that is expected to notice a bug runs first, then the others. The status is 1 if a suite fails without a bug,
or a bug goes unnoticed, and 2 if a bug cannot be planted any more. `--all` runs every suite on every bug, and tells
which of them notice it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from stoker_foundation.interpreter import python_command, python_environment
from testing.simulation.simulation import FIXED
from tools.checks.source_tree import PACKAGES
from tools.mutants.planted import MUTANTS, Mutant, Outdated

ROOT = Path(__file__).parents[2]
_COPIED = ("packages", "examples", "testing", "tests", "conftest.py", "pyproject.toml")
_LONGEST_SECONDS = 1800.0
_TESTS = ("-m", "pytest", "-q", "-x", "-n", "0", "-m", "not slow")

SUITES = {
    "store": (*_TESTS, "tests/store/test_claims.py", "tests/store/test_deaths.py", "tests/store/test_offered.py"),
    "engine": (
        *_TESTS, "tests/engine/test_claimed_writes.py", "tests/engine/test_taking_over.py",
        "tests/engine/test_several_engines.py", "tests/engine/test_unattended_operations.py",
        "tests/engine/test_shared_objects.py", "tests/engine/test_late_requests.py",
    ),
    "simulation": ("-m", "testing.simulation.simulation", "--first", *FIXED),
}  # fmt: skip
"""The arguments of the interpreter for each suite, the shortest first."""


def arguments_of(suite: str, mutant: Mutant | None) -> Sequence[str]:
    """Return the interpreter's arguments for a suite; the seed that is expected to notice the bug comes first."""
    arguments = SUITES[suite]
    if suite == "simulation" and mutant is not None and mutant.seed:
        others = [seed for seed in FIXED if seed != mutant.seed]
        return *arguments[: -len(FIXED)], mutant.seed, *others
    return arguments


def suites_for(mutant: Mutant | None) -> list[str]:
    """Return the names of all suites, in the order in which they run for a bug."""
    return sorted(SUITES, key=lambda name: mutant is not None and name != mutant.expected_in)


def copied(place: Path) -> Path:
    """Copy what the suites need to `place`, with what is compiled, and return it."""
    for name in _COPIED:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, place / name)
    return place


def passes(root: Path, arguments: Sequence[str]) -> bool:
    """Return whether a suite passes on the sources in `root`."""
    paths = (*sorted(root.glob(PACKAGES)), root)
    environment = python_environment({**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))})
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


def failing_suites(mutant: Mutant | None, root: Path, *, every: bool) -> list[str]:
    """Return the suites that fail on the sources in `root`: the first one, or all with `every`."""
    seen: list[str] = []
    for name in suites_for(mutant):
        if not passes(root, arguments_of(name, mutant)):
            seen.append(name)
            if not every:
                break
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="bugs whose names contain one of these; all by default"
    )
    parser.add_argument("--all", action="store_true", help="run every suite on each bug")
    options = parser.parse_args()
    chosen = [each for each in MUTANTS if not options.names or any(name in each.name for name in options.names)]
    began = time.monotonic()
    try:
        for mutant in MUTANTS:
            mutant.changed(ROOT)
    except Outdated as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="stoker-mutants-") as directory:
        root = copied(Path(directory))
        if failing := failing_suites(None, root, every=True):
            print(f"fails without any bug: {', '.join(failing)}", file=sys.stderr)
            return 1
        unseen = 0
        for mutant in chosen:
            with mutant.planted(root):
                seen = failing_suites(mutant, root, every=options.all)
            unseen += not seen
            print(f"{', '.join(seen) or 'NOBODY':24} {mutant.name}", flush=True)
    print(f"{len(chosen)} bugs, {unseen} unseen, {(time.monotonic() - began) / 60:.0f} minutes")
    return int(unseen > 0)


if __name__ == "__main__":
    sys.exit(main())
