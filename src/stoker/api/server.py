"""Serves a WSGI application from threads of this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from typing import Any

from waitress import create_server, wasyncore

from stoker.api.auth import WSGIApplication

_STOP_SECONDS = 10.0

_BACKLOG = 1024

_STOPPING = "stoker.stopping"
_DISCONNECTED = "waitress.client_disconnected"


def leaving(environ: Mapping[str, Any]) -> bool:
    """Whether the client of a request has left, or the server is about to end; what other servers do not tell is no."""
    return any(environ.get(key, lambda: False)() for key in (_STOPPING, _DISCONNECTED))


class Server:
    """An application on a port of its own.

    `port` 0 chooses a free one; the attribute `port` is the real one from the start. `threads` is how many requests
    are served at a time. Raises OSError when the port cannot be had.
    """

    def __init__(self, application: WSGIApplication, host: str, port: int, threads: int = 8) -> None:
        listener = _listen(host, port)
        self._stopping = threading.Event()
        self.host = host
        self.port = int(listener.getsockname()[1])
        self._server: Any = create_server(
            self._told(application),
            sockets=[listener],
            threads=threads,
            ident="stoker",
            channel_request_lookahead=1,  # the connection is read during an answer, so that its end is noticed
            clear_untrusted_proxy_headers=False,  # the application decides, by [oslo_middleware]
        )
        self._thread = threading.Thread(target=self._server.run, name="stoker-api", daemon=True)

    def _told(self, application: WSGIApplication) -> WSGIApplication:
        """The application, told with each request how to find out that the server is about to end."""

        def told(environ: dict[str, Any], start_response: Any) -> Any:
            return application({**environ, _STOPPING: self._stopping.is_set}, start_response)

        return told

    @property
    def url(self) -> str:
        """Where it listens."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def start(self) -> int:
        """Begin to serve, on a thread; gives the port."""
        self._thread.start()
        return self.port

    def stop(self) -> None:
        """Take no more connections, let the requests that are being served end, and give the port back.

        The server's own thread is asked to close what it watches: closing under its feet would be a race.
        """
        self._stopping.set()
        self._server.trigger.pull_trigger(self._stop_listening)
        self._server.task_dispatcher.shutdown(timeout=_STOP_SECONDS)
        self._server.trigger.pull_trigger(self._close_connections)
        self._thread.join(_STOP_SECONDS)
        if not self._thread.is_alive():
            self._server.trigger.close()

    def _stop_listening(self) -> None:
        wasyncore.dispatcher.close(self._server)

    def _close_connections(self) -> None:
        for channel in self._server.active_channels.values():
            channel.close_when_flushed = True
        # Watched no more, so that the loop ends with its last connection; it is closed only after the loop, because
        # this may run before the thread that asked for it has pulled the trigger.
        self._server.trigger.del_channel()


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
