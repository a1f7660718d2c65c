"""The program of chaos: what it prints, what it keeps, and its exit status. Its real cluster is not started here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ZEROS = dict.fromkeys(
    ("lost", "duplicated", "orphaned", "stuck", "fencing", "different", "unreported", "unreadable", "broken"), 0
)
WITH_REPORTS = """
import sys
import tools.chaos.__main__ as program
reports = [
    {"seed": 7, "violations": ["lost: a network", "stuck: alpha"], "counts": {"crashes": 2, "fault drop": 3}},
    {"seed": 8, "violations": [], "counts": {"crashes": 1}},
]
def part(minutes, seed, directory):
    yield from reports
    INTERRUPT
program.PARTS = {"simulator": part}
sys.exit(program.main())
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}  # otherwise the program restarts itself with it
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_run_without_violations_counts_operations_and_keeps_no_logs() -> None:
    done = run("-m", "tools.chaos", "--only", "simulator", "--minutes", "0.02", "--seed", "12", "-f", "json")

    assert done.returncode == 0, done.stderr
    simulator = json.loads(done.stdout)["simulator"]
    assert (simulator["wrong"], simulator["failed"]) == (ZEROS, [])
    assert simulator["counts"]["operations"] and simulator["counts"]["crashes"]
    logs = done.stderr.splitlines()[0].rpartition(" ")[2]
    assert not Path(logs).exists()


@pytest.mark.slow
def test_a_failing_seed_is_kept_and_reported_with_the_command_that_replays_it(tmp_path: Path) -> None:
    done = run("-c", WITH_REPORTS.replace("INTERRUPT", ""), "--keep", str(tmp_path), "-f", "json")

    assert done.returncode == 1, done.stderr
    simulator = json.loads(done.stdout)["simulator"]
    assert simulator["wrong"] == {**ZEROS, "lost": 1, "stuck": 1}
    assert simulator["counts"] == {"crashes": 3, "fault drop": 3}
    [failed] = simulator["failed"]
    assert (failed["seed"], failed["replay"]) == (7, "python -m testing.simulation.simulation 7 --readers --trace")
    assert (tmp_path / "failing-seeds.txt").read_text() == '    "7",  # lost: a network\n'


@pytest.mark.slow
def test_interrupted_run_reports_its_results(tmp_path: Path) -> None:
    done = run("-c", WITH_REPORTS.replace("INTERRUPT", "raise KeyboardInterrupt"), "--keep", str(tmp_path))

    assert done.returncode == 130, done.stderr
    words = " ".join(done.stdout.replace("│", " ").split())
    assert "seeds 2 crashes 3 fault drop 3" in words
    assert "lost 1 duplicated 0 orphaned 0 stuck 1" in words
    assert "seed 7: stuck: alpha again: python -m testing.simulation.simulation 7 --readers --trace" in words
