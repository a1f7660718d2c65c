"""Install vendors' plug-ins for Heat from PyPI, and take stacks with their resource types through their life.

    python -m tools.conformance.heat_plugins

The plug-ins are used as they are. What they talk to (an F5 BIG-IP, the extensions of Neutron) is imitated at the level
of HTTP; Venafi's library has a service for tests of its own. The exit status is that of the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys

from testing.environments import unpacked
from tools.conformance.installed import HERE, installed


def main() -> int:
    programs = installed("heat-plugins")
    folder = HERE / "heat_plugins"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "UNPACKED_PLUGINS": str(unpacked(programs))}
    options = ["-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "-v", "-p", "no:cacheprovider"]
    command = [str(programs / "python"), "-m", "pytest", *options, str(folder)]
    return subprocess.run(command, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
