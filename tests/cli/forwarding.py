"""Carries connections into a network namespace: run inside it as a program, it listens there and starts a command."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator

Address = tuple[str, int] | str
"""Host and port, or the path of a UNIX socket."""

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


@contextlib.contextmanager
def forwarding(address: Address, target: Address) -> Iterator[None]:
    """Carry connections made to `address` on to `target`."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(_family(target)) as other:
                other.connect(target)
                back = threading.Thread(target=_pump, args=(other, self.request), daemon=True)
                back.start()
                _pump(self.request, other)
                back.join()

    class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
        address_family = _family(address)
        daemon_threads = True

    with Server(address, Handler) as server:  # type: ignore[arg-type]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_UNIX if isinstance(address, str) else socket.AF_INET


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _main(path: str, ports: str, *command: str) -> int:
    """Forward `ports` of the loopback address to the UNIX socket at `path` while the command runs."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
    with contextlib.ExitStack() as stack:
        for port in ports.split(","):
            stack.enter_context(forwarding(("127.0.0.1", int(port)), path))
        return subprocess.run(command, env={**os.environ}).returncode


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
