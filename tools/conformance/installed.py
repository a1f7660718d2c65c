"""The programs that this folder's requirements name, each kind in an environment of its own."""

from __future__ import annotations

from pathlib import Path

from testing import environments

HERE = Path(__file__).parent


def installed(name: str) -> Path:
    """The directory of the programs that `NAME.txt` here requires. Raises subprocess.CalledProcessError."""
    return environments.installed(name, HERE)
