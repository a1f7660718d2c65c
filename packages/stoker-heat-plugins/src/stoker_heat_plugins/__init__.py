"""Plug-ins that were written for Heat, as plug-ins of Stoker.

`loading` finds the modules and entry points, `resource_type` turns a class of Heat's interface into a resource type,
`performance` runs its handlers on threads, and records what they set before they continue.
"""

from __future__ import annotations

from importlib import metadata

_HEAT = "openstack-heat"


def require_no_heat() -> None:
    """Raise ImportError if Heat is installed in the same environment, whose modules have the same names."""
    try:
        found = metadata.version(_HEAT)
    except metadata.PackageNotFoundError:
        return
    raise ImportError(
        f"{_HEAT} {found} is installed in the same environment, and its modules have the names of those of "
        "stoker-heat-plugins. Install Stoker and the plug-ins in an environment of their own"
    )


require_no_heat()
