"""OpenStack's middleware around the applications, and what is done before routing each request, and with each error."""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from typing import Any

import falcon
from oslo_config import cfg
from oslo_middleware import cors, healthcheck, http_proxy_to_wsgi

from stoker.api.auth import Policy, WSGIApplication, credentials, identified, request_context
from stoker.api.faults import (
    BadRequest,
    MethodNotAllowed,
    NoSuchPath,
    as_stoker_error,
    fault_body,
    status_of,
)
from stoker.api.requests import VersionDocument, negotiate, version_document
from stoker.api.serving.limits import RETRY_AFTER
from stoker.api.v1 import openapi
from stoker.base.errors import forget_frames
from stoker.base.ids import new_request_id
from stoker.base.logging import request_scope
from stoker.rpc.contract import json_text

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

    def choose(environ: dict[str, object], start_response: object) -> Any:
        chosen = check if environ.get("PATH_INFO") == HEALTH_PATH else layered
        return chosen(environ, start_response)

    behind_proxy = http_proxy_to_wsgi.HTTPProxyToWSGI(choose, config)

    def begin(environ: dict[str, object], start_response: object) -> Any:
        chosen = behind_proxy if config.oslo_middleware.enable_proxy_headers_parsing else choose
        return chosen(environ, start_response)

    return begin


REQUEST_ID_HEADER = "X-Openstack-Request-Id"

_access_log = logging.getLogger("stoker.api.access")


class RequestLog:
    """Gives each request its ID and writes a log line when it has been answered."""

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        request.context.request_id = new_request_id()
        request.context.started = time.perf_counter()
        request.context.caller = None
        response.set_header(REQUEST_ID_HEADER, request.context.request_id)

    def process_response(
        self, request: falcon.Request, response: falcon.Response, resource: object, succeeded: bool
    ) -> None:
        _access_log.info(
            "%s %s %s -> %s in %.0f ms",
            request.context.request_id,
            request.method,
            request.path,
            response.status_code,
            (time.perf_counter() - request.context.started) * 1000,
        )


class Negotiation:
    """Answers requests that need no token, and rewrites paths to those that are routed."""

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        if request.path == openapi.PATH:
            write_json(response, openapi.document(request.prefix))
            response.complete = True
            return
        path = negotiate(request.path, request.get_header("Accept", default=""))
        if isinstance(path, VersionDocument):
            response.status = HTTPStatus.MULTIPLE_CHOICES
            write_json(response, version_document(request.prefix))
            response.complete = True
        else:
            request.path = path


class Authentication:
    """Refuses requests of unknown callers, and records who the caller is."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        caller = credentials(request.env)
        identified(request.env, caller.project_id, caller.user_id)
        request.context.credentials = caller
        request.context.caller = request_context(request.context.request_id, request.env, caller, self._policy)


class Faults:
    """Converts every error to an error response. `challenge` is the header of a 401."""

    def __init__(self, challenge: str) -> None:
        self._challenge = challenge

    def handle(self, request: falcon.Request, response: falcon.Response, error: Exception, _path: object) -> None:
        with request_scope(request.context.caller):
            fault = as_stoker_error(from_falcon(request, response, error))
        response.status = HTTPStatus(status_of(fault))
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            response.set_header("WWW-Authenticate", self._challenge)
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            response.set_header("Retry-After", str(RETRY_AFTER))
        write_json(response, fault_body(fault))
        forget_frames(error)


def from_falcon(request: falcon.Request, response: falcon.Response, error: Exception) -> Exception:
    """Return our error for one of falcon's; other errors unchanged."""
    match error:
        case falcon.HTTPRouteNotFound():
            return NoSuchPath(f"The path {request.path} does not exist.")
        case falcon.HTTPMethodNotAllowed():
            headers = dict(error.headers or {})
            response.set_header("Allow", headers.get("Allow", ""))
            return MethodNotAllowed(f"{request.path} does not support {request.method}, only {headers.get('Allow')}.")
        case falcon.HTTPError(status_code=status) if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return BadRequest(error.description or error.title or "The request is malformed.")
        case _:
            return error


def write_json(response: falcon.Response, body: object) -> None:
    """Respond with `body`."""
    write_json_text(response, json_text(body))


def write_json_text(response: falcon.Response, body: bytes) -> None:
    """Respond with `body`, which is JSON."""
    response.content_type = "application/json"
    response.data = body
