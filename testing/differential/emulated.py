"""The emulated cloud as a site: in this process, on a loopback port, with a clock that moves when a script waits."""

from __future__ import annotations

from openstack_emulator.testing import ServedCloud
from testing.differential.site import Site


def emulated(served: ServedCloud) -> Site:
    """Return the served cloud as a site. Its clock must be a ManualClock."""
    return Site(f"{served.url}/identity/v3", "admin", served.cloud.password_of("admin"), served.advance)
