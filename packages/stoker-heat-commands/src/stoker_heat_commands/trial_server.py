"""`heat-wsgi-api` and `heat-wsgi-api-cfn` as programs: the application on Stoker's own server, for a trial."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stoker.api.auth import WSGIApplication

ARGUMENTS: Sequence[tuple[Sequence[str], Mapping[str, Any]]] = [
    (["--host", "-b"], {"default": "127.0.0.1", "help": "address to listen on"}),
    (["--port", "-p"], {"type": int, "default": 8000, "help": "port to listen on"}),
]
"""The options, as names and arguments for argparse."""


def serve(application: WSGIApplication, name: str) -> None:
    """Serve until SIGTERM or SIGINT."""
    from stoker.api.server import Server

    parser = argparse.ArgumentParser(
        prog=name, description="Serve the WSGI application for a trial. WSGI servers load this file instead."
    )
    for names, keywords in ARGUMENTS:
        parser.add_argument(*names, **keywords)
    options = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    try:
        server = Server(application, options.host, options.port)
    except OSError as error:
        parser.error(f"cannot listen on {options.host}, port {options.port}: {error.strerror}")
    server.start()
    print(f"{name}: serving at {server.url}", flush=True)
    stopped.wait()
    server.stop()
