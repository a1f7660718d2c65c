"""`heat-wsgi-api` and `heat-wsgi-api-cfn` as programs: the application on Stoker's own server, for a trial."""

from __future__ import annotations

import argparse
import signal
import threading

from stoker.api.auth import WSGIApplication
from stoker.api.server import Server


def serve(application: WSGIApplication, name: str) -> None:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(
        prog=name, description="Serve the WSGI application for a trial. WSGI servers load this file instead."
    )
    parser.add_argument("--host", "-b", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", "-p", type=int, default=8000, help="port to listen on")
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
