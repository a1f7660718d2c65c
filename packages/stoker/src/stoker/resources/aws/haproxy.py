"""The configuration of HAProxy for a load balancer.

The directives are those of HAProxy's configuration manual, https://docs.haproxy.org/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_GLOBAL = """\
global
    daemon
    maxconn 256
    stats socket /tmp/.haproxy-stats

defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
"""


def configuration(properties: Mapping[str, Any], addresses: Sequence[str]) -> str:
    """Return the content of haproxy.cfg: a frontend and a backend with these addresses for each listener."""
    health = properties["HealthCheck"]
    sections = [_section(listener, health, addresses) for listener in properties["Listeners"]]
    return "\n".join([_GLOBAL, *("\n".join(section) + "\n" for section in sections)])


def target_problem(target: object) -> str | None:
    """Return what is wrong with the target of a health check: `TCP:port` or `HTTP:port/path`."""
    protocol, _, place = str(target).partition(":")
    port, slash, _ = place.partition("/")
    if protocol not in ("TCP", "HTTP") or not port.isdecimal() or not 0 < int(port) < 2**16:
        return f"HealthCheck.Target: {target!r} is not TCP:<port> or HTTP:<port>/<path>"
    if bool(slash) != (protocol == "HTTP") or any(character.isspace() for character in place):
        return f"HealthCheck.Target: {target!r} is not TCP:<port> or HTTP:<port>/<path>"
    return None


def _section(
    listener: Mapping[str, object], health: Mapping[str, Any] | None, addresses: Iterable[str]
) -> Iterator[str]:
    port, mode = listener["LoadBalancerPort"], str(listener["Protocol"]).lower()
    yield f"frontend listener-{port}"
    yield f"    bind *:{port}"
    yield f"    mode {mode}"
    yield f"    default_backend servers-{port}"
    yield ""
    yield f"backend servers-{port}"
    yield f"    mode {mode}"
    yield "    balance roundrobin"
    if mode == "http":
        yield "    option http-server-close"
        yield "    option forwardfor"
    check = ""
    if health is not None:
        protocol, _, place = health["Target"].partition(":")
        checked, _, path = place.partition("/")
        if protocol == "HTTP":
            yield f"    option httpchk GET /{path}"
        yield f"    timeout check {health['Timeout']}s"
        check = (
            f" check port {checked} inter {health['Interval']}s"
            f" fall {health['UnhealthyThreshold']} rise {health['HealthyThreshold']}"
        )
    for number, address in enumerate(addresses, 1):
        yield f"    server server{number} {address}:{listener['InstancePort']}{check}"
