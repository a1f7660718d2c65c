"""Other people's programs, each kind in an environment of its own, installed anew when requirements have changed."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent


def installed(name: str) -> Path:
    """The directory of the programs that `NAME.txt` here requires. Raises subprocess.CalledProcessError."""
    requirements = HERE / f"{name}.txt"
    environment = HERE.parent / ".venv-conformance" / name
    programs, stamp = environment / "bin", environment / "installed.txt"
    wanted = requirements.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Installing {name} into {environment} …", file=sys.stderr)
        venv.create(environment, clear=True, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--requirement", str(requirements)]
        subprocess.run([programs / "python", *install], check=True)
        stamp.write_text(wanted)
    return programs
