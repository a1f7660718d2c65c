"""The programs of `testing.simulation`, as tests run them."""

from __future__ import annotations

import os
import subprocess

from testing import forked_program


def run(program: str, *arguments: str, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """What a program printed; raises TimeoutExpired when it has not ended in time.

    program: the name of its module in `testing.simulation`. Its sets have the same order each time, which it requires.
    """
    module, variables = f"testing.simulation.{program}", {**os.environ, "PYTHONHASHSEED": "0"}
    imports = [*forked_program.ENGINE_IMPORTS, "testing.cloud_modules", module]
    return forked_program.run(module, [module, *arguments], imports=imports, environment=variables, timeout=seconds)
