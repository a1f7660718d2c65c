"""Runs that can be repeated exactly: what a process would get at random comes from a seed."""

from __future__ import annotations

import os
import random


def make_deterministic(seed: int) -> None:
    """Have everything in this process that asks the machine for something random get it from the seed, for good.

    The order of sets is the same each time only in a process with `PYTHONHASHSEED=0` in its environment.
    """
    source = random.Random(f"machine {seed}")
    random.seed(seed)
    os.urandom = source.randbytes
    random._urandom = source.randbytes  # type: ignore[attr-defined]
