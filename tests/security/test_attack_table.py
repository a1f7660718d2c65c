"""The table that `make attack` prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ATTACKS = '''
import pytest

def test_holds(record_property):
    """A wall that holds."""
    record_property("neighbour_p95_ms", 41.6)
    record_property("engine_memory_mb", 123)

@pytest.mark.parametrize("height", [7])
def test_breaks(height):
    """A wall that is too low.

    More about it."""
    assert height > 8
'''


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_attack_table_outcomes(tmp_path: Path, workers: int) -> None:
    """An attack that succeeds is listed as broken, and the command fails."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tmp_path / "test_walls.py").write_text(_ATTACKS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--attack-table", str(tmp_path)]
    command += ["-p", "no:schemathesis"]  # half of what the processes import
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in ran.stdout.splitlines() if "wall" in line]
    assert ["A wall that is too low. [7]", "broken", "", ""] in rows, ran.stdout + ran.stderr
    assert ["A wall that holds.", "held", "42", "123"] in rows
    assert ran.returncode == 1
