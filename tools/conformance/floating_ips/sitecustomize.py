"""Let a process connect to floating IPs of the emulated cloud, as if this machine had a route to them.

Python imports this module when it starts with this directory in `PYTHONPATH`. It imports nothing of Stoker, since it
runs in the environments of other programs. The manual page "Run guests in the emulated cloud" says which loopback
addresses and ports floating IPs have on this machine.
"""

import socket
from ipaddress import IPv4Address, IPv4Network
from typing import Any

EXTERNAL = IPv4Network("172.24.4.0/24")
"""The addresses of the external network `public`."""
PRIVILEGED, RAISED = 1024, 10_000


def reached_at(address: Any) -> Any:
    """Return the address to connect to in place of one of a socket; of floating IPs, the one on this machine."""
    match address:
        case (str(host), int(port)) if _is_floating(host):
            return f"127.{host.partition('.')[2]}", port + RAISED if port < PRIVILEGED else port
    return address


def _is_floating(host: str) -> bool:
    try:
        return IPv4Address(host) in EXTERNAL
    except ValueError:
        return False


def _connect(self: socket.socket, address: Any, /) -> None:
    super(socket.socket, self).connect(reached_at(address))


def _connect_ex(self: socket.socket, address: Any, /) -> int:
    return super(socket.socket, self).connect_ex(reached_at(address))


socket.socket.connect = _connect  # type: ignore[method-assign, assignment]
socket.socket.connect_ex = _connect_ex  # type: ignore[method-assign, assignment]
