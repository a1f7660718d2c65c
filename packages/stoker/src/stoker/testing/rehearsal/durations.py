"""How long objects usually take in a cloud, so that time limits and the critical path mean something."""

from __future__ import annotations

from functools import lru_cache

from stoker_foundation.patterns.linear import fits_shell

TYPICAL: tuple[tuple[str, str, float], ...] = (
    ("POST", "/compute/v2.1/servers", 30.0),
    ("POST", "/compute/v2.1/servers/*/action", 20.0),
    ("DELETE", "/compute/v2.1/servers/*", 10.0),
    ("POST", "/volume/v3/*/backups", 60.0),
    ("POST", "/volume/v3/*/volumes", 10.0),
    ("POST", "/network/v2.0/routers", 5.0),
    ("POST", "/network/v2.0/*", 1.0),
    ("POST", "/load-balancer/v2*/loadbalancers", 90.0),
    ("POST", "/load-balancer/v2*", 5.0),
    ("POST", "/database/v1.0/*/instances", 300.0),
    ("POST", "/container-infra/v1/clusters", 600.0),
    ("POST", "/share/v2/*/shares", 30.0),
    ("POST", "/dns/v2/zones*", 5.0),
    ("POST", "/baremetal/v1/nodes", 60.0),
)
"""Method and path of requests, and seconds until what they ask for is there; the first that fits counts."""


@lru_cache(4096)
def seconds_of(method: str, path: str) -> float:
    """Return how long a request takes, besides the time that the emulated service needs."""
    typical = (seconds for verb, pattern, seconds in TYPICAL if verb == method and fits_shell(pattern, path))
    return next(typical, 0.0)
