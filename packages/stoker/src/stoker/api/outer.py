"""OpenStack's common middleware around the WSGI applications: proxy headers, health check, CORS."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg
from oslo_middleware import cors, healthcheck, http_proxy_to_wsgi

from stoker.api.auth import WSGIApplication

REQUEST_HEADERS = (
    "X-Auth-Token", "X-Identity-Status", "X-Roles", "X-Service-Catalog", "X-User-Id", "X-Tenant-Id",
    "X-OpenStack-Request-ID",
)  # fmt: skip
"""Headers that a page from another origin can send, unless `[cors] allow_headers` is set."""

RESPONSE_HEADERS = ("X-Auth-Token", "X-Subject-Token", "X-Service-Token", "X-OpenStack-Request-ID")
"""Headers that such a page can read, unless `[cors] expose_headers` is set."""

METHODS = ("GET", "PUT", "POST", "DELETE", "PATCH")


HEALTH_PATH = "/healthcheck"


def with_outer_layers(application: WSGIApplication, config: cfg.ConfigOpts) -> WSGIApplication:
    """Return `application` wrapped in the layers that the configuration enables, outermost first.

    1. `[oslo_middleware] enable_proxy_headers_parsing`: the addresses of client and service from a proxy's headers
    2. `[healthcheck]`: responds before any other check, without a token
    3. `[cors] allowed_origin`: preflight requests of browsers for pages from other origins, without a token

    Requests that do not need a layer bypass it.
    """
    cors.set_defaults(
        allow_headers=list(REQUEST_HEADERS), expose_headers=list(RESPONSE_HEADERS), allow_methods=list(METHODS)
    )
    layered = application
    if config.cors.allowed_origin:
        layered = cors.CORS(layered, config)
    check = healthcheck.Healthcheck(None, config)

    def choose(environ: dict[str, Any], start_response: Any) -> Any:
        chosen = check if environ.get("PATH_INFO") == HEALTH_PATH else layered
        return chosen(environ, start_response)

    behind_proxy = http_proxy_to_wsgi.HTTPProxyToWSGI(choose, config)

    def begin(environ: dict[str, Any], start_response: Any) -> Any:
        chosen = behind_proxy if config.oslo_middleware.enable_proxy_headers_parsing else choose
        return chosen(environ, start_response)

    return begin
