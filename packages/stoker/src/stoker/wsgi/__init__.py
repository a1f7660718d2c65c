"""The two APIs of a cluster as WSGI applications, for servers such as uWSGI, gunicorn and Apache's mod_wsgi.

`stoker.wsgi.api:application` is the Orchestration API, `stoker.wsgi.cfn:application` the CloudFormation Query API.
`STOKER_CONFIG_FILES` in the environment names the configuration files, with colons between them; without it, heat.conf
is read from the usual places.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from oslo_config import cfg

from stoker.api.auth import WSGIApplication
from stoker.base.errors import StokerError
from stoker.processes.lifetime import begin_logging, cluster_config
from stoker.rpc.contract import EngineClient
from stoker.rpc.messaging import MessagingClient, open_transport

CONFIG_FILES = "STOKER_CONFIG_FILES"


class LazyApplication:
    """An application that is made with the first request.

    Servers load applications before they fork; connections to the broker, and threads, would not survive that. The
    configuration is read at once: an invalid one ends the server at its start, as SystemExit.
    """

    def __init__(self, make: Callable[[cfg.ConfigOpts, EngineClient], WSGIApplication]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: WSGIApplication | None = None
        files = [name for name in os.environ.get(CONFIG_FILES, "").split(":") if name]
        try:
            self._config = cluster_config(files)
            begin_logging(self._config)
        except (StokerError, cfg.Error, OSError) as error:
            raise SystemExit(f"stoker: {error}") from error

    def __call__(self, environ: dict[str, object], start_response: object) -> object:
        application = self._made
        if application is None:
            with self._lock:
                if self._made is None:
                    self._made = self._make(self._config, MessagingClient(open_transport(self._config)))
                application = self._made
        return application(environ, start_response)
