"""The environment that the programs are installed in."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution

_HEAT = "openstack-heat"


def require_no_heat() -> None:
    """End the program with a message if Heat itself is installed: its programs have the same names."""
    try:
        found = distribution(_HEAT)
    except PackageNotFoundError:
        return
    sys.exit(
        f"stoker-heat-commands: {_HEAT} {found.version} is installed in this environment ({sys.prefix}), and its "
        "programs have the same names. Install stoker-heat-commands in an environment of its own, then reinstall "
        f"{_HEAT} here."
    )
