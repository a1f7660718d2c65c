"""The check of how child processes run Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks.child_processes import problems, report
from tools.checks.source_tree import SourceTree

BAD = (
    "import sys, subprocess\nsubprocess.run([sys.executable, '-m', 'pip'])",
    "from sys import executable",
    "import subprocess\nsubprocess.run(['python3', '-m', 'pip'])",
    "import subprocess\nsubprocess.run(('/usr/bin/python3.11', 'x.py'))",
    "import multiprocessing",
    "from multiprocessing import Pool",
    "from concurrent.futures import ProcessPoolExecutor",
    "from stoker_foundation.interpreter import python_command\nrun(python_command('-m', 'pip'))",
)
GOOD = (
    "import sys\nsys.exit(0)",
    "run(python_command('-m', 'pip'), env=python_environment())",
    "run(bare_python_command('-c', 'pass'))",
    "run(['pythonic', 'x'])",
    "from concurrent.futures import ThreadPoolExecutor",
)


@pytest.mark.parametrize("source", BAD)
def test_other_ways_to_run_python_are_found(source: str) -> None:
    assert len(list(problems(source))) >= 1


@pytest.mark.parametrize("source", GOOD)
def test_the_pattern_helper_and_other_programs_are_accepted(source: str) -> None:
    assert list(problems(source)) == []


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("python3 -m venv x", 1),
        ("python3.12 -c 'pass'", 1),
        ('"${PYTHON:-python3}" - x', 1),
        ("python3 -I -m venv x", 0),
    ],
)
def test_scripts_isolate_the_interpreter(tmp_path: Path, command: str, lines: int) -> None:
    (tmp_path / "contrib").mkdir()
    (tmp_path / "contrib" / "try.sh").write_text(f"#!/bin/sh\n{command}\n")
    assert len(report(SourceTree(tmp_path))) == lines


def test_the_check_passes_on_the_project() -> None:
    assert report(SourceTree()) == []
