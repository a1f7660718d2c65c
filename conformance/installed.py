"""The suite in an environment of its own, installed anew when its requirements have changed."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
ENVIRONMENT = Path(__file__).parents[1] / ".venv-conformance"


def installed_suite() -> Path:
    """The directory of the environment's programs. Raises subprocess.CalledProcessError when installing fails."""
    programs = ENVIRONMENT / "bin"
    stamp = ENVIRONMENT / "installed.txt"
    wanted = REQUIREMENTS.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Installing the suite into {ENVIRONMENT} …", file=sys.stderr)
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS)]
        subprocess.run([programs / "python", *install], check=True)
        stamp.write_text(wanted)
    return programs
