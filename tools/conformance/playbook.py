"""Run a playbook with Ansible's modules for stacks against an embedded Stoker.

    python -m tools.conformance.playbook

The exit status is the playbook's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.conformance.installed import HERE, installed
from tools.conformance.place import embedded


def main() -> int:
    programs = installed("ansible")
    with tempfile.TemporaryDirectory(prefix="stoker-conformance-") as directory:
        home = Path(directory).resolve()
        with embedded(home) as place:
            environment = {
                "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
                "HOME": str(home),
                "LANG": "C.UTF-8",
                "OS_CLIENT_CONFIG_FILE": str(place.clouds),
                "OS_CLOUD": "stoker",
            }
            interpreter = f"ansible_python_interpreter={programs / 'python'}"
            command = [str(programs / "ansible-playbook"), "-i", "localhost,", "-e", interpreter, "playbook.yaml"]
            return subprocess.run(command, check=False, cwd=HERE / "ansible", env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
