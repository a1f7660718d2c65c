"""Command lines of child processes that run Python.

`python -m NAME` and `python -c CODE` import modules from the current directory first, and an empty or relative entry of
`PYTHONPATH` names the current directory too. Users run Stoker in directories that others wrote, such as a clone of a
repository: a file `click.py` there must not run. So every child process has a command line and an environment from
this module, which `make check` enforces.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_PATH = "PYTHONPATH"


def python_command(*arguments: str) -> list[str]:
    """Return the command line that runs this interpreter with the same installed packages.

    `arguments` are those of the interpreter, such as `-m` and a module of Stoker. Run it in `python_environment()`.
    """
    return [sys.executable, "-P", *arguments]


def bare_python_command(*arguments: str) -> list[str]:
    """Return the command line that runs this interpreter with the standard library only, and whatever the environment.

    Its `arguments` are a file, or `-c` and code that extends `sys.path` itself.
    """
    return [sys.executable, "-I", "-S", *arguments]


def python_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return environment variables for `python_command`: `PYTHONPATH` keeps its absolute entries only."""
    kept = dict(environment)
    entries = [entry for entry in kept.pop(_PATH, "").split(os.pathsep) if Path(entry).is_absolute()]
    if entries:
        kept[_PATH] = os.pathsep.join(entries)
    return kept
