"""The web console beside the REST API, as `[console]` configures it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from stoker.api.auth import WSGIApplication
from stoker.console.settings import PREFIX, ConsoleSettings
from stoker.processes.settings import TOKEN_CHECK, encryption_keys
from stoker_foundation.clock import Clock


def with_console(config: cfg.ConfigOpts, api: WSGIApplication, clock: Clock) -> WSGIApplication:
    """Return `api` with the console if it is enabled, otherwise `api` itself.

    The console is imported at its first request. Raises cfg.Error if an option is missing: the identity service, or the
    key for sessions.
    """
    if not config.console.enabled:
        return api
    settings = ConsoleSettings(
        auth_url=_auth_url(config),
        keys=encryption_keys(config),
        verify=_verify(config),
        session_seconds=float(config.console.session_seconds),
        login_attempts=config.console.login_attempts,
        login_window=float(config.console.login_window),
        largest_body=config.max_json_body_size,
        login_hint=config.console.login_hint,
        horizon_url=(config.console.horizon_url or "").rstrip("/"),
    )

    def console() -> WSGIApplication:
        from stoker.console.app import console_application

        return _behind_proxy(config, console_application(api, settings, clock))

    made = _MadeWhenUsed(console)

    def choose(environ: dict[str, Any], start_response: object) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        chosen = made if path == PREFIX or path.startswith(f"{PREFIX}/") else api
        answer: Iterable[bytes] = chosen(environ, start_response)
        return answer

    return choose


class _MadeWhenUsed:
    """A WSGI application that `make` returns at the first request."""

    def __init__(self, make: Callable[[], WSGIApplication]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: WSGIApplication | None = None

    def __call__(self, environ: dict[str, Any], start_response: object) -> Any:
        with self._lock:
            self._made = self._made or self._make()
        return self._made(environ, start_response)


def _behind_proxy(config: cfg.ConfigOpts, application: WSGIApplication) -> WSGIApplication:
    """Return `application`, which learns the addresses of client and service from a proxy's headers if configured."""
    if not config.oslo_middleware.enable_proxy_headers_parsing:
        return application
    wrapped: WSGIApplication = http_proxy_to_wsgi.HTTPProxyToWSGI(application, config)
    return wrapped


def _auth_url(config: cfg.ConfigOpts) -> str:
    places = [("console", "auth_url"), (TOKEN_CHECK, "www_authenticate_uri"), (TOKEN_CHECK, "auth_url")]
    known = (config[group][name] for group, name in places if group in config and name in config[group])
    url = next(filter(None, known), None)
    if url is None:
        raise cfg.Error("[console] auth_url: set the URL of the identity service, for example https://keystone:5000/v3")
    plain = str(url).rstrip("/")
    return plain if plain.endswith("/v3") else f"{plain}/v3"


def _verify(config: cfg.ConfigOpts) -> bool | str:
    keystone, shared = config.clients_keystone, config.clients
    insecure = shared.insecure if keystone.insecure is None else keystone.insecure
    return not insecure and (keystone.ca_file or shared.ca_file or True)
