"""The measurement of how engines share one tree, on small trees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_engines_share_the_creation_of_a_tree() -> None:
    command = [sys.executable, "-m", "tools.scale.sharing", "--engines", "1", "2", "--members", "6"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, one, *more = done.stdout.splitlines()
    assert head.split() == ["engines", "create", "change", "delete"]
    assert one.split()[0] == "1" and one.count("1.0 x") == 3
    [creation] = [line for line in more[4:] if "create:" in line]
    assert all(int(part.strip(" ,%")) > 0 for part in creation.split("used ")[1].split(", "))
