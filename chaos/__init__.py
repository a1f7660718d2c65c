"""Chaos: the simulator of crashes, and kills on a real cluster, one after the other (`python -m chaos`).

The parts that the tests have already are used as they are there: servers, the cluster's processes, the simulation's
user, templates and inspection. They are modules of the tests' folders, which are put on the path here.
"""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(folder) for folder in (_TESTS, _TESTS / "cluster", _TESTS / "simulation")]
