"""What stands around a WSGI application of ours: OpenStack's own middleware, as operators know it from all services."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg
from oslo_middleware import cors, healthcheck, http_proxy_to_wsgi

from stoker.api.auth import WSGIApplication

REQUEST_HEADERS = (
    "X-Auth-Token", "X-Identity-Status", "X-Roles", "X-Service-Catalog", "X-User-Id", "X-Tenant-Id",
    "X-OpenStack-Request-ID",
)  # fmt: skip
"""Headers that a page of another origin may send, unless `[cors] allow_headers` says otherwise."""

RESPONSE_HEADERS = ("X-Auth-Token", "X-Subject-Token", "X-Service-Token", "X-OpenStack-Request-ID")
"""Headers that such a page may read, unless `[cors] expose_headers` says otherwise."""

METHODS = ("GET", "PUT", "POST", "DELETE", "PATCH")


HEALTH_PATH = "/healthcheck"


def with_outer_layers(application: WSGIApplication, config: cfg.ConfigOpts) -> WSGIApplication:
    """`application` behind those layers that the configuration asks for, outermost first.

    1. `[oslo_middleware] enable_proxy_headers_parsing`: the client's address and ours as a proxy tells them
    2. `[healthcheck]`: answered before anything else is looked at; needs no token
    3. `[cors] allowed_origin`: browsers are told which other origins' pages may call, without a token

    Only requests that need a layer take the time that it takes.
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
